package chunk

import (
	"bufio"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestStoreLarge has several blocks a cell, several sequence blocks, and many
// spilled runs.
func TestStoreLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("5 M edges")
	}
	e := skewed(100_000, 5_000_000, 2)
	path := filepath.Join(t.TempDir(), "g")
	c := &content{Edges: e, Meta: Meta{V: e.V, Base: 2, KeepOrder: true, Memory: 8 << 20}}
	start := time.Now()
	if err := c.write(path, 100_000); err != nil {
		t.Fatal(err)
	}
	wrote := time.Since(start)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start = time.Now()
	got, err := s.ReadEdges()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("5 M edges: written in %v, read in %v, %d blocks, %d bytes", wrote, time.Since(start), len(s.blocks), s.Bytes())
	if !slices.Equal(got.Src, e.Src) || !slices.Equal(got.Dst, e.Dst) {
		t.Error("edges differ")
	}
	if n := s.cells[0][1] - s.cells[0][0]; n < 2 || len(s.sequence) < 2 {
		t.Errorf("%d blocks of cell (0,0), %d of the sequence: the test wants several", n, len(s.sequence))
	}
	if err := s.Verify(); err != nil {
		t.Error(err)
	}
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g")
	nan := float32(math.NaN())
	base := Meta{V: 3, FeatureCols: 2, Classes: 2}
	for _, tc := range []struct {
		name string
		f    func(w *Writer) error
		want string
	}{
		{"other V", func(w *Writer) error { return w.AppendEdges(&Edges{V: 4}) }, "4 vertices"},
		{"id", func(w *Writer) error { return w.AppendEdges(&Edges{V: 3, Src: []uint32{3}, Dst: []uint32{0}}) }, "edge 0"},
		{"weights", func(w *Writer) error {
			return w.AppendEdges(&Edges{V: 3, Src: []uint32{0}, Dst: []uint32{0}, Weight: []float32{1}})
		}, "weights: true"},
		{"types", func(w *Writer) error {
			return w.AppendEdges(&Edges{V: 3, Src: []uint32{0}, Dst: []uint32{0}, Type: []uint32{0}, Types: 1})
		}, "1 types"},
		{"feature width", func(w *Writer) error { return w.AppendFeatures(make([]float32, 3)) }, "do not make rows of 2"},
		{"feature rows", func(w *Writer) error { return w.AppendFeatures(make([]float32, 8)) }, "4 feature rows"},
		{"too few rows", func(w *Writer) error { return w.AppendFeatures(make([]float32, 4)) }, "2 feature rows for 3"},
		{"NaN", func(w *Writer) error { return w.AppendFeatures([]float32{0, 0, 0, nan, 0, 0}) }, "vertex 1 has feature 1"},
		{"label count", func(w *Writer) error { return w.SetLabels([]int32{0}) }, "1 labels"},
		{"label", func(w *Writer) error { return w.SetLabels([]int32{0, -1, 2}) }, "vertex 2 has class 2"},
		{"multi-labels of graphs", func(w *Writer) error { return w.SetSets(KindGraphSets, []float32{0, 1, 1, 2}, 2) }, "graph 1 has label 2 for class 1"},
		{"multi-labels of edges", func(w *Writer) error { return w.SetSets(KindEdgeSets, []float32{0, 1}, 2) }, "rows of 2 do not fit a graph of 0 edges"},
		{"multi-label", func(w *Writer) error { return w.SetMultiLabels([]float32{0, 1, 0.5, 0, 0, 0}) }, "vertex 1 has label 0.5"},
		{"split", func(w *Writer) error { return w.SetSplits(KindTrain, nil, []uint32{3}, nil) }, "val split names number 3 of 3"},
		{"split of edges", func(w *Writer) error { return w.SetSplits(KindEdgeTrain, []uint32{0}, nil, nil) }, "edge train split names number 0 of 0"},
		{"split of graphs", func(w *Writer) error {
			w.SetGraphs([]uint32{0, 1, 1}, []int32{0, 0})
			return w.SetSplits(KindGraphTrain, []uint32{1}, nil, []uint32{2})
		}, "graph test split names number 2 of 2"},
		{"pairs", func(w *Writer) error { return w.SetPairs(KindLinkVal, []uint32{0, 1}, []uint32{2, 3}) }, "link val: pair 1 is (1, 3) of 3 vertices"},
		{"ends of pairs", func(w *Writer) error { return w.SetPairs(KindLinkVal, []uint32{0, 1}, []uint32{2}) }, "2 first and 1 second"},
		{"edge label count", func(w *Writer) error { return w.SetEdgeLabels([]int32{0}) }, "1 labels for 0 edges"},
		{"edge label", func(w *Writer) error {
			w.AppendEdges(&Edges{V: 3, Src: []uint32{1}, Dst: []uint32{0}})
			return w.SetEdgeLabels([]int32{-2})
		}, "edge 0 has class -2"},
		{"edge targets", func(w *Writer) error { return w.SetTargets(KindEdgeTargets, []float32{1, 2}, 2) }, "rows of 2 do not fit a graph of 3 vertices and 0 edges"},
		{"twice", func(w *Writer) error { w.SetLabels(make([]int32, 3)); return w.SetLabels(make([]int32, 3)) }, "twice"},
		{"graph", func(w *Writer) error { return w.SetGraphs([]uint32{0, 1, 2}, []int32{0, 0}) }, "graph 2 of 2"},
		{"names", func(w *Writer) error { return w.SetVertexNames([]string{"a"}) }, "1 names"},
	} {
		w, err := Create(path, base)
		if err != nil {
			t.Fatal(err)
		}
		err = tc.f(w)
		last := w.Close()
		if last == nil || !strings.Contains(last.Error(), tc.want) || err != nil && err.Error() != last.Error() {
			t.Errorf("%s: error %v, at Close %v, want %q", tc.name, err, last, tc.want)
		}
		if w.AppendFeatures(nil) == nil || w.AppendEdges(&Edges{V: 3}) == nil {
			t.Errorf("%s: the error does not stick", tc.name)
		}
	}
	for _, m := range []Meta{{V: -1}, {V: 1, Base: -1}, {V: 1, Base: MaxBase + 1}, {V: 1, Types: -1}, {V: 1, DataCols: -2}, {V: 1, DataCols: 1 << 40},
		{V: 1, FeatureCols: -1}, {V: 1, FeatureCols: 1 << 50}, {V: 1, FeatureCols: 1000, BlockRows: 1 << 29}, {V: 1, Classes: -1}, {V: 2, Order: Identity(1)}} {
		if w, err := Create(path, m); err == nil {
			w.Abort()
			t.Errorf("Create accepts %+v", m)
		}
	}
	if w, err := Create(filepath.Join(dir, "no", "folder"), base); err == nil {
		w.Abort()
		t.Error("Create works without a folder")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}

// TestStoreEmpty: no edges, no vertices, nothing set.
func TestStoreEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	for _, m := range []Meta{{}, {V: 5, Base: 4, KeepOrder: true}, {V: 0, FeatureCols: 3, Types: 2, Weighted: true, Order: Identity(0)}} {
		c := &content{Edges: &Edges{V: m.V, DataCols: m.DataCols}, Meta: m, Train: []uint32{}}
		if err := c.write(path, 1); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(s)
		if err != nil || got.Edges.E() != 0 || got.Edges.V != m.V || got.Train == nil || got.Val != nil {
			t.Errorf("%+v: read %+v, %v", m, got, err)
		}
		if err := s.Verify(); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}

// TestStoreKilled kills a process that writes stores to one path over and over,
// at many moments: the target is absent or a whole store.
func TestStoreKilled(t *testing.T) {
	if path := os.Getenv("CHUNK_TEST_WRITE_STORE"); path != "" {
		os.Stdout.WriteString("ready\n")
		for start := time.Now(); time.Since(start) < 10*time.Second; {
			if err := full().write(path, 50); err != nil {
				t.Fatal(err)
			}
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	absent, whole, left := 0, 0, 0
	for i := range 12 {
		dir := t.TempDir()
		path := filepath.Join(dir, "g")
		cmd := exec.Command(exe, "-test.run=^TestStoreKilled$")
		cmd.Env = append(os.Environ(), "CHUNK_TEST_WRITE_STORE="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		bufio.NewReader(out).ReadString('\n')
		time.Sleep(time.Duration(i*i) * 300 * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			if strings.HasPrefix(f.Name(), ".g.tmp-") {
				left++
			}
		}
		s, err := Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			absent++
			continue
		}
		if err != nil {
			t.Fatalf("after a kill the store does not open: %v", err)
		}
		if err := s.Verify(); err != nil {
			t.Fatalf("after a kill the store is damaged: %v", err)
		}
		s.Close()
		whole++
	}
	t.Logf("target absent %d times, whole %d times, temporary left %d times", absent, whole, left)
}

// TestStoreUnsealed: the temporary file of a writer that never came to Close is
// no store, and the target is as before.
func TestStoreUnsealed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g")
	c := full()
	if err := c.write(path, 100); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	w, err := Create(path, c.Meta)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.AppendEdges(c.Edges), w.AppendFeatures(c.Features)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(w.f.Name()); err == nil {
		t.Error("an unsealed file opens")
	}
	w.Abort()
	if after, _ := os.ReadFile(path); !slices.Equal(after, before) {
		t.Error("a store that was given up changed the target")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files left: %v", files)
	}
}
