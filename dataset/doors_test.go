package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

// made is where the files lie that bench/formats/make.py writes, each by the format's
// own library.
const made = "testdata/formats"

// madeGraph is the graph in them: a ring of 24 with chords, in 3 classes.
func madeGraph() *Data {
	const v = 24
	e := &chunk.Edges{V: v}
	d := &Data{Edges: e, FeatureCols: 3, Classes: 3}
	for i := range uint32(v) {
		e.Src, e.Dst = append(e.Src, i, (i+1)%v), append(e.Dst, (i+1)%v, i)
		if i%3 == 0 {
			e.Src, e.Dst = append(e.Src, i, (i+7)%v), append(e.Dst, (i+7)%v, i)
		}
		d.Features = append(d.Features, float32(i%5)/4, float32(i*i%7)/8, 0)
		if i%3 == 1 {
			d.Features[3*i+2] = 1
		}
		d.Labels = append(d.Labels, int32(i%3))
		switch i % 4 {
		case 2:
			d.Val = append(d.Val, i)
		case 3:
			d.Test = append(d.Test, i)
		default:
			d.Train = append(d.Train, i)
		}
	}
	order := make([]uint32, e.E())
	for i := range order {
		order[i] = uint32(i)
	}
	d.Edges = permute(e, countingSort(countingSort(order, e.Dst, v), e.Src, v))
	return d
}

// doors are the files that hold the graph with all its parts.
var doors = []string{"pyg.npz", "orders.npz", "half.npz", "gnnbench.npz", "pickled.npz", "pickled_csc.npz", "pickled_coo.npz",
	"data.pt", "dict.pt", "pair.pt", "processed.pt", "strides.pt", "half.pt", "bfloat16.pt", "ogb", "papers",
	"object.npz", "coo.pt", "csr.pt", "adj.pt", "root"}

// TestDoors reads the same graph through every door.
func TestDoors(t *testing.T) {
	want := madeGraph()
	for _, name := range doors {
		d, err := Load(filepath.Join(made, name), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(d.Report.Changes) > 0 || d.Report.Form == "" {
			t.Errorf("%s: %+v", name, d.Report)
		}
		d.Name, d.Report = "", Report{}
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	want.Schema.Features.NameColumns([]string{"f0", "f1", "f2"})
	for _, name := range []string{"numbers", "names"} {
		s := Tables{Edges: filepath.Join(made, name+"_edges.csv"), Vertices: filepath.Join(made, name+"_vertices.csv"), Features: []string{"f*"}}
		if name == "names" {
			s.Vertices = filepath.Join(made, "names_vertices.tsv")
			want.Vertices.Names = []string{}
			for i := range 24 {
				want.Vertices.Names = append(want.Vertices.Names, strings.ReplaceAll(strings.ReplaceAll("vertex I, “J”", "I", itoa(i)), "J", itoa(i%7)))
			}
		}
		d, err := LoadTables(s, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(d.Report.Warnings) > 0 {
			t.Errorf("%s: %q", name, d.Report.Warnings)
		}
		d.Name, d.Report = "", Report{}
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// TestGraphsOfPyG reads two graphs, of 9 and 24 vertices, that PyG has joined.
func TestGraphsOfPyG(t *testing.T) {
	for _, name := range []string{"graphs.pt", "list.pt", "batch.pt"} {
		graphsOfPyG(t, name)
	}
}

func graphsOfPyG(t *testing.T, name string) {
	d := mustLoad(t, filepath.Join(made, name), Options{})
	if d.Edges.V != 33 || len(d.GraphOf) != 33 || d.GraphOf[8] != 0 || d.GraphOf[9] != 1 || !slices.Equal(d.GraphLabels, []int32{0, 1}) || d.Labels != nil {
		t.Errorf("%s: %+v", name, d)
	}
	first := 0
	for i, s := range d.Edges.Src {
		if d.GraphOf[s] != d.GraphOf[d.Edges.Dst[i]] {
			t.Errorf("%s: edge %d joins two graphs", name, i)
		}
		if s < 9 {
			first++
		}
	}
	if n := madeGraph().Edges.E(); d.Edges.E()-first != n {
		t.Errorf("%s: %d edges in the second graph, want %d", name, d.Edges.E()-first, n)
	}
}

// TestCountedGraphsOfPyG reads graphs without features, of whose vertices there are numbers.
func TestCountedGraphsOfPyG(t *testing.T) {
	path := filepath.Join(writeFiles(t, map[string]string{"g.pt": ofCounts(t, "](K\x00K\x01K\x02e", "](K\x01K\x02e")}), "g.pt")
	d := mustLoad(t, path, Options{})
	if d.Edges.V != 3 || !slices.Equal(d.GraphOf, []uint32{0, 1, 1}) || !slices.Equal(d.Edges.Src, []uint32{0, 1}) || !slices.Equal(d.Edges.Dst, []uint32{0, 2}) {
		t.Errorf("%+v of graphs %v", d.Edges, d.GraphOf)
	}
}

// TestParametersOfTorch: a saved parameter is the tensor in it.
func TestParametersOfTorch(t *testing.T) {
	edges := tensorText("LongStorage", "0", 4, 0, []int{2, 2}, []int{2, 1})
	text := pickled("edge_index") + "ctorch._utils\n_rebuild_parameter\n(" + edges + "\x89ccollections\nOrderedDict\n)RtR" +
		pickled("num_nodes") + "K\x05"
	path := filepath.Join(writeFiles(t, map[string]string{"g.pt": saved(t, text, member{"a/data/0", longs(0, 1, 1, 2)})}), "g.pt")
	d := mustLoad(t, path, Options{})
	if d.Edges.V != 5 || !slices.Equal(d.Edges.Src, []uint32{0, 1}) || !slices.Equal(d.Edges.Dst, []uint32{1, 2}) {
		t.Errorf("%+v", d.Edges)
	}
}

// TestNearMisses warns of files that nothing reads.
func TestNearMisses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	if err := WriteNpyFolder(dir, Karate()); err != nil {
		t.Fatal(err)
	}
	writeArray(t, filepath.Join(dir, "trian.npy"), []int{1}, []int32{0})
	writeArray(t, filepath.Join(dir, "edge_attr.npy"), []int{156}, make([]float32, 156))
	writeArray(t, filepath.Join(dir, "years.npy"), []int{1}, []int32{0})
	removeFile(t, filepath.Join(dir, "train.npy"))
	d, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(d.Report.Warnings, "\n")
	for _, want := range []string{"trian.npy; did you mean train.npy?", "nothing reads years.npy\n"} {
		if !strings.Contains(all+"\n", want) {
			t.Errorf("%q lacks %q", all, want)
		}
	}
	if len(d.Report.Warnings) != 2 || d.Edges.DataCols != 1 {
		t.Errorf("%d warnings", len(d.Report.Warnings))
	}
	d = Karate()
	d.Features[35] = 3e38
	if d.warnScale(d.Features, 0); len(d.Report.Warnings) != 1 || !strings.Contains(d.Report.Warnings[0], "feature 1 of vertex 1 is 3e+38") {
		t.Errorf("%q", d.Report.Warnings)
	}
}

// TestSparseDoors: features of a sparse matrix stay sparse through every reader that meets one, in memory and for the
// store, also where edges are rearranged.
func TestSparseDoors(t *testing.T) {
	want := madeGraph()
	rows := SparseOf(want.Features, want.FeatureCols)
	for name, tables := range map[string]bool{"gnnbench.npz": false, "pickled.npz": false, "pickled_csc.npz": false, "pickled_coo.npz": false, "object.npz": false,
		"coo.pt": false, "csr.pt": false, "sparse.mat": false, "classes.svm": true} {
		for _, simple := range []bool{false, true} {
			c := Conversion{From: filepath.Join(made, name), Options: Options{SparseFrom: 2, Simple: simple, Undirected: simple}}
			load := func() (*Data, error) { return Load(c.From, c.Options) }
			if tables {
				c.Tables = &Tables{Edges: filepath.Join(made, "numbers_edges.csv"), Vertices: c.From}
				load = func() (*Data, error) { return LoadTables(*c.Tables, c.Options) }
			}
			d, err := load()
			if err != nil {
				t.Error(err)
				continue
			}
			if diff := cmp.Diff(rows, d.Late.Sparse); diff != "" || d.Features != nil || d.FeatureCols != 3 || !slices.Equal(d.Labels, want.Labels) {
				t.Errorf("%s: features of %d columns, labels %v: %s", name, d.FeatureCols, d.Labels, diff)
			}
			c.SparseFrom = 0
			s, err := c.open() // what a store is made of
			if err != nil {
				t.Error(err)
				continue
			}
			if diff := cmp.Diff(rows, s.kept); diff != "" {
				t.Errorf("%s: sparse rows for the store: %s", name, diff)
			}
		}
	}
}

// TestSparseParts: sparse features of three files for the splits are joined as sparse rows, or as dense ones where those of one file are.
func TestSparseParts(t *testing.T) {
	one := madeGraph()
	want := slices.Concat(one.Features, one.Features, one.Features)
	text, err := os.ReadFile(filepath.Join(made, "coo.pt"))
	if err != nil {
		t.Fatal(err)
	}
	dir := writeFiles(t, map[string]string{"train.pt": string(text), "val.pt": string(text), "test.pt": string(text)})
	for _, sparse := range []bool{true, false} {
		d := mustLoad(t, dir, Options{SparseFrom: map[bool]int64{true: 2, false: 0}[sparse]})
		if rows := SparseOf(want, 3); sparse && !cmp.Equal(rows, d.Late.Sparse) || !sparse && d.Late.Sparse != nil || (d.Features == nil) != sparse {
			t.Errorf("sparse %t: %+v, %v", sparse, d.Late.Sparse, d.Features)
		}
		out := filepath.Join(t.TempDir(), "arrays")
		if err := WriteNpyFolder(out, d); err != nil {
			t.Error(err)
		}
		for what, d := range map[string]*Data{"joined": d, "arrays of it": mustLoad(t, out, Options{})} {
			if d.HoldFeatures(); !slices.Equal(d.Features, want) {
				t.Errorf("sparse %t, %s: %v, want %v", sparse, what, d.Features, want)
			}
		}
	}
	a, b := mustLoad(t, filepath.Join(made, "coo.pt"), Options{SparseFrom: 2}), mustLoad(t, filepath.Join(made, "coo.pt"), Options{})
	if err := a.join(b); err != nil || !slices.Equal(a.Features, want[:2*len(one.Features)]) || a.Late.Sparse != nil {
		t.Errorf("sparse rows before dense ones: %v, %+v, %v", a.Features, a.Late, err)
	}
}

// TestSciPyDoors reads the edges alone, as SciPy saves a matrix of them.
func TestSciPyDoors(t *testing.T) {
	want := madeGraph().Edges
	for _, kind := range []string{"csr", "csc", "coo"} {
		d := mustLoad(t, filepath.Join(made, "scipy_"+kind+".npz"), Options{Simple: true})
		if diff := cmp.Diff(want, d.Edges); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	d, err := Load(filepath.Join(made, "sparse.mat"), Options{})
	if err != nil || !slices.Equal(d.Report.Warnings, []string{filepath.Join(made, "sparse.mat") + ": nothing reads notes"}) || !slices.Equal(d.Schema.Vertex.Classes, []string{"1", "2", "3"}) {
		t.Errorf("%+v, %v", d, err)
	}
}
