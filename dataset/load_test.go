package dataset

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
	"sagann/dataset/npy"
)

// full has every part that data can have.
func full(t testing.TB) *Data {
	d := mustSynthetic(t, "vertices=60,edges=300,features=3,classes=4")
	d.Labels[d.Train[0]] = 3
	e := d.Edges
	for i := range e.Src {
		e.Weight, e.Type = append(e.Weight, float32(i)/4), append(e.Type, uint32(i%3))
		e.Data = append(e.Data, float32(i), 1)
	}
	e.Types, e.DataCols = 3, 2
	for v := range e.V {
		d.GraphOf = append(d.GraphOf, uint32(v/20))
	}
	d.GraphLabels = []int32{1, 0, 2}
	return d
}

func TestWriteAndLoad(t *testing.T) {
	multi := mustSynthetic(t, "vertices=30,edges=100,features=2,classes=2")
	multi.Labels, multi.MultiLabels = nil, make([]float32, 60)
	multi.MultiLabels[7] = 1
	for name, d := range map[string]*Data{"full": full(t), "multi": multi, "karate": Karate(),
		"edges": {Name: "edges", Edges: &chunk.Edges{V: 9, Src: []uint32{1}, Dst: []uint32{2}}}} {
		dir := filepath.Join(t.TempDir(), "made", name)
		if err := WriteNpyFolder(dir, d); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, mustLoad(t, dir, Options{})); diff != "" {
			t.Errorf("%s: folder: %s", name, diff)
		}
		refused(t, "a second time", WriteNpyFolder(dir, d), "already")
		for _, base := range []int{1, 3} {
			path := filepath.Join(t.TempDir(), "graph.saga")
			if err := WriteStore(path, d, base); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(d, mustLoad(t, path, Options{})); diff != "" {
				t.Errorf("%s: store of base %d: %s", name, base, diff)
			}
		}
	}
}

func TestNothingIsWrittenOfBadData(t *testing.T) {
	d := Karate()
	d.Features[35] = float32(math.NaN())
	dir := filepath.Join(t.TempDir(), "x")
	refused(t, "folder", WriteNpyFolder(dir, d), "row 1, column 1 is NaN")
	refused(t, "store", WriteStore(dir+".saga", d, 1), "row 1, column 1 is NaN")
	if exists(dir) || exists(dir+".saga") {
		t.Error("something was written")
	}
}

func TestDamagedStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.saga")
	if err := WriteStore(path, full(t), 2); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := append([]byte(nil), good...)
	bad[4096+5] ^= 1
	for what, file := range map[string][]byte{"a flipped bit": bad, "half of it": good[:len(good)/2]} {
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path, Options{})
		refused(t, what, err, "g.saga")
	}
}

func TestFolderForms(t *testing.T) {
	const list = "0 1\n1 0\n"
	for _, c := range []struct {
		files map[string]string
		name  string // "" is an error
		words []string
	}{
		{map[string]string{"g.txt": list}, "g", nil},
		{map[string]string{"g.txt": list, "README.txt": "hello", "notes.md": ""}, "g", nil},
		{map[string]string{"g.txt": list, "g.saga": "", "pre_filter.pt": "", "pre_transform.pt": ""}, "g", nil},
		{map[string]string{"raw/g.csv.gz": gz(list)}, "g (raw/g.csv.gz)", nil},
		{map[string]string{"a.txt": list, "b.mtx": ""}, "", []string{"a.txt, b.mtx"}},
		{map[string]string{"raw/a.txt": list, "raw/b.tsv": list}, "", []string{"a.txt, b.tsv"}},
		{map[string]string{"ind.x.graph": "", "ind.y.graph": ""}, "", []string{"ind.x.*, ind.y.*"}},
		{map[string]string{"ind.x.graph": "", "X_A.txt": ""}, "", []string{"X_A.txt, ind.x.*"}},
		{map[string]string{"ind.x.graph": ""}, "", []string{"ind.x.y, ind.x.tx", "ind.x.test.index missing"}},
		{map[string]string{"X_A.txt": "1, 2\n"}, "", []string{"X_graph_indicator.txt"}},
		{map[string]string{"edge.csv": "0,1\n"}, "", []string{"num-node-list.csv"}},
		{map[string]string{"notes.md": ""}, "", []string{"no graph that is known"}},
		{map[string]string{"edges.npy": "x"}, "", []string{"edges.npy: byte 0"}},
		{map[string]string{"g.npz": "x"}, "", []string{"g.npz"}},
		{map[string]string{"g.mat": "x"}, "", []string{"g.mat: byte 0"}},
	} {
		d, err := Load(writeFiles(t, c.files), Options{})
		if c.name == "" {
			refused(t, strings.Join(c.words, " "), err, c.words...)
		} else if err != nil || d.Name != c.name || d.Edges.E() != 2 {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
	}
	dir := writeFiles(t, map[string]string{"g.doc": "a text\n"})
	_, err := Load(filepath.Join(dir, "g.doc"), Options{})
	refused(t, "an unknown ending", err, "g.doc", ".saga, .npz, .pt, .mat, .mtx", "--edges")
	_, err = Load(filepath.Join(dir, "none"), Options{})
	refused(t, "no file", err, "none")
}

func TestOpen(t *testing.T) {
	for name, v := range map[string]int{"karate": 34, "synthetic": 20000, "synthetic:vertices=50,edges=90": 50} {
		d, err := Open(name, Options{})
		if err != nil || d.Edges.V != v {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []Options{{Undirected: true}, {Simple: true}, {Undirected: true, Simple: true}} {
		for _, name := range []string{"synthetic:vertices=50,edges=90,kind=rmat", "karate"} {
			plain, err := Open(name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := plain.Edges
			if o.Undirected {
				want = want.Symmetric()
			}
			if o.Simple {
				want = Simplify(want)
			}
			if d, err := Open(name, o); err != nil || !reflect.DeepEqual(d.Edges, want) || len(d.Report.Changes) == 0 {
				t.Errorf("%s with %+v: %v, %q", name, o, err, d.Report.Changes)
			}
		}
	}
	_, err := Open("synthetic:nodes=5", Options{})
	refused(t, "a wrong key", err, "vertices")
	_, err = Open("karat", Options{})
	refused(t, "a wrong name", err, "karat")
}

func TestNpz(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.npz")
	err := npy.WriteZip(path, map[string]*npy.Array{
		"edges":                {Shape: []int{3, 2}, Data: []int64{0, 1, 1, 2, 2, 0}},
		"features_csr_data":    {Shape: []int{2}, Data: []float64{0.5, 2}},
		"features_csr_indices": {Shape: []int{2}, Data: []int32{1, 0}},
		"features_csr_indptr":  {Shape: []int{4}, Data: []int32{0, 1, 1, 2}},
		"train":                {Shape: []int{3}, Data: []bool{true, false, true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := mustLoad(t, path, Options{})
	want := &Data{Name: "g", Edges: &chunk.Edges{V: 3, Src: []uint32{0, 1, 2}, Dst: []uint32{1, 2, 0}},
		Features: []float32{0, 0.5, 0, 0, 2, 0}, FeatureCols: 2, Train: []uint32{0, 2}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}
