package chunk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeParts writes a store of two parts: a type of three vertices, and edges of five.
func writeParts(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "p.saga")
	w, err := Create(path, Meta{Name: "types"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	rows, err := w.Part(Meta{Name: "paper", V: 3, FeatureCols: 2, Classes: 2})
	if err != nil {
		t.Fatal(err)
	}
	rows.AppendFeatures([]float32{1, 2, 3, 4, 5, 6})
	rows.SetLabels([]int32{0, 1, -1})
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	links, err := w.Part(Meta{Name: "writes", V: 5, Base: 2, KeepOrder: true, Weighted: true})
	if err != nil {
		t.Fatal(err)
	}
	links.AppendEdges(&Edges{V: 5, Src: []uint32{4, 0, 2}, Dst: []uint32{0, 1, 2}, Weight: []float32{1, 2, 3}})
	if err := links.Close(); err != nil {
		t.Fatal(err)
	}
	w.SetSchema("{}")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParts(t *testing.T) {
	path := writeParts(t)
	if _, err := Open(path); !errors.Is(err, ErrParts) || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("%v", err)
	}
	s, err := OpenParts(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Verify(); err != nil || s.Len() != 2 {
		t.Fatal(err, s.Len())
	}
	rows, err := s.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := rows.ReadFeatures(0, 3)
	if err != nil || !slices.Equal(x, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%v %v", x, err)
	}
	links, err := s.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := links.ReadEdges()
	if err != nil || !slices.Equal(e.Src, []uint32{4, 0, 2}) || !slices.Equal(e.Weight, []float32{1, 2, 3}) {
		t.Errorf("%+v %v", e, err)
	}
	if name, err := links.Name(); err != nil || name != "writes" {
		t.Errorf("%q %v", name, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left)+len(hidden) != 1 {
		t.Errorf("%v %v %v", left, hidden, err)
	}
}

// TestDamagedParts: no byte of a store of parts can be changed, and no end cut off, without an error.
func TestDamagedParts(t *testing.T) {
	path := writeParts(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const bad = "bad.saga"
	good := func(text []byte) bool {
		s, err := newOuter(bytes.NewReader(text), int64(len(text)), bad)
		if err == nil {
			err = (&Parts{s}).Verify()
		}
		if err != nil && !strings.Contains(err.Error(), bad) {
			t.Fatalf("%v", err)
		}
		return err == nil
	}
	for at := 0; at < len(text); at += 1 + at%7 {
		damaged := slices.Clone(text)
		damaged[at] ^= 1 << (at % 8)
		if good(damaged) {
			t.Fatalf("byte %d may be changed", at)
		}
	}
	for _, n := range []int{0, 1, 4096, len(text) / 2, len(text) - 1} {
		if good(text[:n]) {
			t.Fatalf("the first %d bytes are a store", n)
		}
	}
}

// TestPartsInParts: a part has no parts, and one ends before the next begins.
func TestPartsInParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.saga")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	p, err := w.Part(Meta{V: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Part(Meta{V: 1}); err == nil {
		t.Error("a part in a part")
	}
	p.Abort()
	if err := w.Close(); err == nil {
		t.Error("the store of a part that failed")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
