package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// TestTypedStores: through a store, from memory or piece by piece, every graph of several types is the same.
func TestTypedStores(t *testing.T) {
	dir := t.TempDir()
	for i, name := range typedDoors {
		from := filepath.Join(madeTypes, name)
		out := filepath.Join(dir, "c"+itoa(i)+".saga")
		h, edges, err := ConvertHetero(Conversion{From: from, Out: out, Base: 1 + 2*(i%2), Seed: 1}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if edges != 67 || h.V() != 27 {
			t.Errorf("%s: %d edges, %d vertices", name, edges, h.V())
		}
		checkTypedStore(t, out, madeIn(t, name))
	}
	h := madeHetero(t)
	h.Types[0].Rows.Vertices.Names = strings.Fields("a b c d e f 7")
	h.Relations[0].Links.EdgeLabels = []int32{1, 0, -1}
	h.Relations[0].Links.EdgeSplit.Train = []uint32{1}
	h.Relations[0].Links.Edges.Types, h.Relations[0].Links.Edges.Type = 2, []uint32{1, 0, 1}
	h.Name = "made"
	out := filepath.Join(dir, "m.saga")
	if err := WriteHeteroStore(out, h, 2); err != nil {
		t.Fatal(err)
	}
	checkTypedStore(t, out, h)
	for i, opt := range []Options{{Undirected: true}, {Simple: true}} {
		out := filepath.Join(dir, "u"+itoa(i)+".saga")
		if _, _, err := ConvertHetero(Conversion{From: filepath.Join(madeTypes, "data.pt"), Options: opt, Out: out}, nil, nil); err != nil {
			t.Fatal(err)
		}
		want, err := LoadHetero(filepath.Join(madeTypes, "data.pt"), opt)
		if err != nil {
			t.Fatal(err)
		}
		checkTypedStore(t, out, want)
	}
	h.Relations[0].Links.Edges.Src[0] = 7
	if err := WriteHeteroStore(filepath.Join(dir, "bad.saga"), h, 1); err == nil {
		t.Error("a bad graph was written")
	}
}

// checkTypedStore reads a store, and its heads alone.
func checkTypedStore(t *testing.T, path string, want *Hetero) {
	t.Helper()
	if _, err := Load(path, Options{}); !errors.Is(err, ErrSeveralTypes) {
		t.Errorf("%v", err)
	}
	got, err := LoadHetero(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	heads, edges, weighted, err := HeteroHeads(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range want.Relations {
		if edges[i] != r.Links.Edges.E() || weighted[i] != (r.Links.Edges.Weight != nil) || heads.FullName(i) != want.FullName(i) {
			t.Errorf("%s: %d edges, weights %v", heads.FullName(i), edges[i], weighted[i])
		}
	}
	store, err := chunk.OpenParts(path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if text, err := store.Schema(); err != nil || text != got.Record().Text() {
		t.Errorf("%v: %s, want %s", err, got.Record().Text(), text)
	}
	sameHetero(t, path, want, got)
}

// TestUnread: features of a store that are left unread are zeros of the same width, and all else is the same.
func TestUnread(t *testing.T) {
	dir, h := t.TempDir(), madeHetero(t)
	if err := WriteHeteroStore(filepath.Join(dir, "types.saga"), h, 2); err != nil {
		t.Fatal(err)
	}
	if err := WriteStore(filepath.Join(dir, "rows.saga"), h.Types[0].Rows, 1); err != nil {
		t.Fatal(err)
	}
	read := func(opt Options) []*Data {
		h, err := LoadHetero(filepath.Join(dir, "types.saga"), opt)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Load(filepath.Join(dir, "rows.saga"), opt)
		if err != nil {
			t.Fatal(err)
		}
		return append(h.parts(), d)
	}
	left := 0
	for i, d := range read(Options{Unread: true}) {
		want := read(Options{})[i]
		if want.Features != nil {
			left++
			if d.Features != nil {
				t.Errorf("part %d: features were read", i)
			}
			if d.HoldFeatures(); len(d.Features) != len(want.Features) || slices.ContainsFunc(d.Features, func(x float32) bool { return x != 0 }) {
				t.Errorf("part %d: features %v", i, d.Features)
			}
			d.Features = want.Features
		}
		if d.Late.Make != nil {
			t.Errorf("part %d: features are made late", i)
		}
		if !reflect.DeepEqual(d, want) {
			t.Errorf("part %d differs", i)
		}
	}
	if left < 2 {
		t.Errorf("%d parts have features", left)
	}
	for i, d := range read(Options{Unread: true, SparseFrom: 1}) {
		if want := read(Options{SparseFrom: 1})[i]; !reflect.DeepEqual(d.Late.Sparse, want.Late.Sparse) {
			t.Errorf("part %d: sparse features differ", i)
		}
	}
}

// The parsers of the doors for several types: what one does not refuse has passed ValidateHetero, and is the same when
// it is read from a store.

func FuzzHeteroTorch(f *testing.F) {
	for _, name := range []string{"data.pt", "dict.pt", "sparse.pt", "adj.pt"} {
		text, err := os.ReadFile(filepath.Join(madeTypes, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) { checkTypedDoor(t, "g.pt", text) })
}

func FuzzHeteroNpz(f *testing.F) {
	f.Add("a__r__b", "a", encoded(f, []int{2, 2}, int64(0), 1, 1, 2), encoded(f, []int{2, 1}, float32(1), 2), encoded(f, []int{2}, int32(0), -1))
	f.Add("a___r_s___b__c", "b__c", encoded(f, []int{2, 3}, uint8(0), 1, 1, 0, 2, 2), encoded(f, []int{3, 2}, 1.5, 2, 3, 4, 5, 6), encoded(f, []int{3}, 0.5, 2, 1))
	f.Fuzz(func(t *testing.T, relation, kind, edges, x, y string) {
		checkTypedDoor(t, "g.npz", archived(t, member{relation + ".edge_index.npy", edges}, member{relation + ".edge_attr.npy", x}, member{kind + ".x.npy", x}, member{kind + "/y.npy", y}))
	})
}

func FuzzHeteroStore(f *testing.F) {
	path := filepath.Join(f.TempDir(), "g.saga")
	if err := WriteHeteroStore(path, madeHetero(f), 1); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) { checkTypedDoor(t, "g.saga", text) })
}

func checkTypedDoor(t *testing.T, name, text string) {
	path := filepath.Join(writeFiles(t, map[string]string{name: text}), name)
	checkTypedPath(t, path)
}

func checkTypedPath(t *testing.T, path string) {
	h, err := LoadHetero(path, Options{})
	if err != nil {
		if !strings.Contains(err.Error(), filepath.Base(path)) || len(err.Error()) > 3000 {
			t.Fatalf("%d bytes: %v", len(err.Error()), err)
		}
		return
	}
	if err := ValidateHetero(h); err != nil {
		t.Fatal(err)
	}
	if h.V() > 1<<16 {
		return
	}
	out := filepath.Join(t.TempDir(), "c.saga")
	if _, _, err := ConvertHetero(Conversion{From: path, Out: out}, nil, nil); err != nil {
		t.Fatal(err)
	}
	again, err := LoadHetero(out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Hetero{h, again} { // Convert divides labels without a split
		for _, t := range g.Types {
			t.Rows.Train, t.Rows.Val, t.Rows.Test = nil, nil, nil
		}
	}
	sameHetero(t, path, h, again)
}
