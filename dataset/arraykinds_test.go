package dataset

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// named arrays of a graph, by PyG's names.
type namedArray struct {
	name  string
	shape []int
	data  any
}

// arrayDoors write the arrays for each reader of arrays, and return the path.
var arrayDoors = map[string]func(t testing.TB, list []namedArray) string{
	"npz": func(t testing.TB, list []namedArray) string {
		var members []member
		for _, a := range list {
			members = append(members, member{a.name + ".npy", npyOf(t, a)})
		}
		return filepath.Join(writeFiles(t, map[string]string{"g.npz": archived(t, members...)}), "g.npz")
	},
	"folder": func(t testing.TB, list []namedArray) string {
		files := map[string]string{}
		for _, a := range list {
			files[a.name+".npy"] = npyOf(t, a)
		}
		return writeFiles(t, files)
	},
	"folder by our name of the edges": func(t testing.TB, list []namedArray) string {
		files := map[string]string{}
		for _, a := range list {
			if a.name == "edge_index" {
				a.name = "edges"
			}
			files[a.name+".npy"] = npyOf(t, a)
		}
		return writeFiles(t, files)
	},
	"pt": func(t testing.TB, list []namedArray) string {
		text, members := "", []member{}
		for i, a := range list {
			step, stride := 1, make([]int, len(a.shape))
			for k := len(a.shape) - 1; k >= 0; k-- {
				stride[k] = step
				step *= a.shape[k]
			}
			storage, bytes := storageOf(t, a.data)
			text += pickled(a.name) + tensorText(storage, strconv.Itoa(i), step, 0, a.shape, stride)
			members = append(members, member{"a/data/" + strconv.Itoa(i), bytes})
		}
		return filepath.Join(writeFiles(t, map[string]string{"g.pt": saved(t, text, members...)}), "g.pt")
	},
}

func npyOf(t testing.TB, a namedArray) string {
	switch x := a.data.(type) {
	case []bool:
		return encoded(t, a.shape, x...)
	case []uint8:
		return encoded(t, a.shape, x...)
	case []int64:
		return encoded(t, a.shape, x...)
	case []float32:
		return encoded(t, a.shape, x...)
	}
	t.Fatalf("%T", a.data)
	return ""
}

// storageOf is torch's name of the type of x, and the bytes of x.
func storageOf(t testing.TB, x any) (storage, bytes string) {
	storage = map[string]string{"[]bool": "BoolStorage", "[]uint8": "ByteStorage", "[]int64": "LongStorage", "[]float32": "FloatStorage"}[typeName(x)]
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		t.Fatal(err)
	}
	return storage, string(b)
}

func typeName(x any) string {
	switch x.(type) {
	case []bool:
		return "[]bool"
	case []uint8:
		return "[]uint8"
	case []int64:
		return "[]int64"
	}
	return "[]float32"
}

// arrayCase is a graph of six vertices, and what must become of its labels and splits.
type arrayCase struct {
	arrays   []namedArray
	opt      Options
	want     Data     // labels, targets, splits
	said     []string // in changes or warnings
	unlikely []string // must not be said
}

var (
	nan32  = float32(math.NaN())
	six    = []int64{0, 1, 2, 0, 1, 2}
	ofSix  = namedArray{"y", []int{6}, six}
	labels = Data{Labels: []int32{0, 1, 2, 0, 1, 2}, Classes: 3}
)

func labelsWith(s Split) Data {
	d := labels
	d.Train, d.Val, d.Test = s.Train, s.Val, s.Test
	return d
}

// splitCases are the forms of splits.
var splitCases = map[string]arrayCase{
	"masks of bytes": {[]namedArray{ofSix, {"train_mask", []int{6}, []uint8{1, 0, 0, 1, 0, 0}}, {"val_mask", []int{6}, []uint8{0, 1, 0, 0, 0, 0}}, {"test_mask", []int{6}, []uint8{0, 0, 1, 0, 1, 1}}},
		Options{}, labelsWith(Split{[]uint32{0, 3}, []uint32{1}, []uint32{2, 4, 5}}), nil, nil},
	"masks of int64, float and bool [6 1]": {[]namedArray{ofSix, {"train_mask", []int{6}, []int64{1, 0, 0, 1, 0, 0}}, {"val_mask", []int{6}, []float32{0, 1, 0, 0, 0, 0}}, {"test_mask", []int{6, 1}, []bool{false, false, true, false, true, true}}},
		Options{}, labelsWith(Split{[]uint32{0, 3}, []uint32{1}, []uint32{2, 4, 5}}), nil, nil},
	"masks that hold ids": {[]namedArray{ofSix, {"train_mask", []int{2}, []int64{0, 1}}, {"val_mask", []int{1}, []int64{5}}, {"test_mask", []int{6, 1}, []int64{1, 0, 2, 3, 4, 5}}},
		Options{}, labelsWith(Split{[]uint32{0, 1}, []uint32{5}, []uint32{2, 3, 4}}), []string{"train_mask holds 2 numbers of vertices, not a truth value for each: they are taken as members", "val_mask holds 1 number of a vertex"}, nil},
	"idx before the part": {[]namedArray{ofSix, {"idx_train", []int{2}, []int64{1, 0}}, {"idx_val", []int{1}, []int64{4}}, {"idx_test", []int{1}, []int64{1}}},
		Options{}, labelsWith(Split{[]uint32{0, 1}, []uint32{4}, nil}), []string{"1 vertex is in the training and in the test split"}, []string{"not a truth value"}},
	"columns of masks": {[]namedArray{ofSix, {"train_mask", []int{6, 2}, []bool{true, false, true, false, false, true, false, true, false, false, false, false}}, {"val_mask", []int{6, 2}, []uint8{0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0}}, {"test_mask", []int{6}, []bool{false, false, false, false, true, true}}},
		Options{}, labelsWith(Split{[]uint32{0, 1}, []uint32{2}, []uint32{4, 5}}), []string{"of the file's 2 splits number 0 was taken"}, nil},
	"columns of masks, the second": {[]namedArray{ofSix, {"train_mask", []int{6, 2}, []bool{true, false, true, false, false, true, false, true, false, false, false, false}}, {"val_mask", []int{6, 2}, []uint8{0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0}}, {"test_mask", []int{6}, []bool{false, false, false, false, true, true}}},
		Options{Mask: 1}, labelsWith(Split{[]uint32{2, 3}, []uint32{0, 1}, []uint32{4, 5}}), []string{"of the file's 2 splits number 1 was taken"}, nil},
	"rows of masks": {[]namedArray{ofSix, {"train_mask", []int{2, 6}, []bool{true, false, true, false, false, true, false, true, false, false, false, false}}},
		Options{}, labelsWith(Split{[]uint32{0, 2, 5}, nil, nil}), []string{"of the file's 2 splits number 0 was taken"}, nil},
	"ids in any order, a column": {[]namedArray{ofSix, {"train_idx", []int{3, 1}, []int64{4, 0, 2}}, {"valid_idx", []int{1}, []int64{1}}},
		Options{}, labelsWith(Split{[]uint32{0, 2, 4}, []uint32{1}, nil}), nil, nil},
	"no validation": {[]namedArray{ofSix, {"train_mask", []int{6}, []bool{true, true, true, false, false, false}}, {"val_mask", []int{6}, make([]bool, 6)}, {"test_mask", []int{6}, []bool{false, false, false, true, true, true}}},
		Options{}, labelsWith(Split{[]uint32{0, 1, 2}, nil, []uint32{3, 4, 5}}), []string{"the validation split is empty"}, nil},
	"hidden labels of the test split": {[]namedArray{{"y", []int{6}, []int64{0, 1, 2, 0, -1, -1}}, {"train_mask", []int{6}, []bool{true, true, true, false, false, false}}, {"val_mask", []int{6}, []bool{false, false, false, true, false, false}}, {"test_mask", []int{6}, []bool{false, false, false, false, true, true}}},
		Options{}, Data{Labels: []int32{0, 1, 2, 0, -1, -1}, Classes: 3, Train: []uint32{0, 1, 2}, Val: []uint32{3}}, []string{"2 vertices of the test split have no label"}, nil},
	"an unlabelled member of training": {[]namedArray{{"y", []int{6}, []float32{0, 1, nan32, 0, 1, 1}}, {"train_mask", []int{6}, []bool{true, true, true, false, false, false}}},
		Options{}, Data{Labels: []int32{0, 1, -1, 0, 1, 1}, Classes: 2, Train: []uint32{0, 1}}, []string{"1 vertex of the training split has no label"}, nil},
	"splits that overlap": {[]namedArray{ofSix, {"train_idx", []int{3}, []int64{0, 1, 2}}, {"val_idx", []int{3}, []int64{2, 3, 3}}, {"test_idx", []int{4}, []int64{1, 3, 4, 5}}},
		Options{}, labelsWith(Split{[]uint32{0, 1, 2}, []uint32{3}, []uint32{4, 5}}),
		[]string{"1 vertex is in the training and in the validation split: it stays in the training split alone", "1 repeated vertex of the validation split", "1 vertex is in the training and in the test split", "1 vertex is in the validation and in the test split"}, nil},
}

// labelCases are the forms of labels.
var labelCases = map[string]arrayCase{
	"floats that are whole": {[]namedArray{{"y", []int{6, 1}, []float32{0, 1, 2, nan32, 1, 2}}}, Options{}, Data{Labels: []int32{0, 1, 2, -1, 1, 2}, Classes: 3}, nil, []string{"numbers"}},
	"labels of the parts of a split": {[]namedArray{{"x", []int{6, 1}, make([]float32, 6)}, {"train_idx", []int{3}, []int64{4, 0, 2}}, {"train_y", []int{3}, []int64{2, 0, 1}}, {"test_idx", []int{2}, []int64{5, 1}}, {"test_y", []int{2}, []float32{1, 2}}},
		Options{}, Data{Labels: []int32{0, 2, 1, -1, 2, 1}, Classes: 3, Train: []uint32{0, 2, 4}, Test: []uint32{1, 5}}, nil, []string{"nothing reads"}},
	"floats with fractions": {[]namedArray{{"y", []int{6}, []float32{0.5, 1, 2, nan32, -7, 2}}}, Options{},
		Data{Targets: Targets{Vertex: []float32{0.5, 1, 2, nan32, -7, 2}, Cols: 1}}, []string{"0.5 is no class: the labels of vertices are numbers to predict"}, nil},
	"two floats a vertex": {[]namedArray{{"y", []int{6, 2}, []float32{0.5, 1, 2, 0, -7, 2, 0, 1, 1, 1, 0, 0}}}, Options{},
		Data{Targets: Targets{Vertex: []float32{0.5, 1, 2, 0, -7, 2, 0, 1, 1, 1, 0, 0}, Cols: 2}}, []string{"numbers to predict"}, nil},
	"whole floats below -1": {[]namedArray{{"y", []int{6}, []float32{3, -2, 8, 1, 1, 1}}}, Options{}, Data{Targets: Targets{Vertex: []float32{3, -2, 8, 1, 1, 1}, Cols: 1}}, []string{"-2 is no class"}, nil},
	"several labels": {[]namedArray{{"y", []int{6, 2}, []float32{0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1}}}, Options{},
		Data{MultiLabels: []float32{0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1}, Classes: 2}, nil, []string{"single 1"}},
	"rows with a single 1": {[]namedArray{{"y", []int{6, 2}, []uint8{0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1}}}, Options{},
		Data{MultiLabels: []float32{0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1}, Classes: 2}, []string{"each row of labels has a single 1 among 2 columns"}, nil},
	"several labels, some not known": {[]namedArray{{"y", []int{6, 2}, []float32{0, nan32, 1, 1, nan32, nan32, 1, 0, nan32, 0, 0, 1}}, {"train_mask", []int{6}, []bool{true, true, true, false, false, false}}}, Options{},
		Data{MultiLabels: []float32{0, -1, 1, 1, -1, -1, 1, 0, -1, 0, 0, 1}, Classes: 2, Train: []uint32{0, 1}}, []string{"4 of 12 labels of vertices are not known", "1 vertex of the training split has no label"}, []string{"single 1"}},
	"several labels of graphs, some not known": {[]namedArray{{"batch", []int{6}, []int64{0, 0, 1, 1, 2, 2}}, {"y", []int{3, 2}, []float32{0, nan32, 1, 1, nan32, nan32}}, {"train_mask", []int{3}, []bool{true, true, false}}, {"test_mask", []int{3}, []bool{false, false, true}}}, Options{},
		Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2}, Targets: Targets{GraphSets: Numbers{[]float32{0, -1, 1, 1, -1, -1}, 2}}, GraphSplit: Split{Train: []uint32{0, 1}}}, []string{"3 of 6 labels of graphs are not known", "1 graph of the graph test split has no label"}, nil},
	"several labels of graphs": {[]namedArray{{"batch", []int{6}, []int64{0, 0, 1, 1, 2, 2}}, {"y", []int{3, 2}, []int64{0, 1, 1, 1, 0, 0}}}, Options{},
		Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2}, Targets: Targets{GraphSets: Numbers{[]float32{0, 1, 1, 1, 0, 0}, 2}}}, nil, []string{"not known"}},
	"several labels of edges, some not known": {[]namedArray{{"edge_labels", []int{6, 3}, []float32{0, 1, 1, nan32, 0, 0, 1, 1, 1, 0, 0, nan32, nan32, nan32, nan32, 1, 0, 1}}}, Options{},
		Data{Targets: Targets{EdgeSets: Numbers{[]float32{0, 1, 1, -1, 0, 0, 1, 1, 1, 0, 0, -1, -1, -1, -1, 1, 0, 1}, 3}}}, []string{"5 of 18 labels of edges are not known"}, nil},
	"a split of graphs by plain names": {[]namedArray{{"batch", []int{6}, []int64{0, 0, 1, 1, 2, 2}}, {"graph_labels", []int{3}, []int64{1, 0, 1}}, {"train", []int{1}, []int64{2}}, {"val", []int{1}, []int64{0}}, {"test", []int{1}, []int64{1}}}, Options{},
		Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2}, GraphLabels: []int32{1, 0, 1}, GraphSplit: Split{[]uint32{2}, []uint32{0}, []uint32{1}}}, nil, nil},
	"splits of vertices and graphs": {[]namedArray{ofSix, {"batch", []int{6}, []int64{0, 0, 1, 1, 2, 2}}, {"graph_labels", []int{3}, []int64{1, 0, 1}}, {"train", []int{2}, []int64{2, 5}}, {"graph_train", []int{1}, []int64{0}}}, Options{},
		Data{Labels: labels.Labels, Classes: 3, Train: []uint32{2, 5}, GraphOf: []uint32{0, 0, 1, 1, 2, 2}, GraphLabels: []int32{1, 0, 1}, GraphSplit: Split{Train: []uint32{0}}}, nil, nil},
	"many whole floats": {[]namedArray{{"edge_labels", []int{6}, []float32{0, 1, 2, 3, 4, 5}}, {"y", []int{6, 2}, []float32{0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0}}}, Options{},
		Data{EdgeLabels: []int32{0, 1, 2, 3, 4, 5}, MultiLabels: []float32{0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0}, Classes: 2}, nil, []string{"all of them whole"}},
	"numbers of which few are classes": {[]namedArray{{"y", []int{6}, []int64{7, 1000, 7, -1, 1000, 7}}}, Options{},
		Data{Labels: []int32{7, 1000, 7, -1, 1000, 7}, Classes: 1001}, []string{"labels of vertices count up to 1000, and only 2 numbers occur"}, nil},
	"a class of each graph": {[]namedArray{{"batch", []int{6}, []int64{0, 0, 1, 1, 1, 1}}, {"y", []int{2}, []int64{1, 0}}, {"train_mask", []int{2}, []bool{true, false}}, {"test_mask", []int{2}, []bool{false, true}}}, Options{},
		Data{GraphOf: []uint32{0, 0, 1, 1, 1, 1}, GraphLabels: []int32{1, 0}, GraphSplit: Split{Train: []uint32{0}, Test: []uint32{1}}}, nil, nil},
	"a number of each graph": {[]namedArray{{"batch", []int{6}, []int64{0, 0, 1, 1, 1, 1}}, {"y", []int{2, 1}, []float32{12.43, -3}}}, Options{},
		Data{GraphOf: []uint32{0, 0, 1, 1, 1, 1}, Targets: Targets{Graph: Numbers{[]float32{12.43, -3}, 1}}}, []string{"12.43 is no class: the labels of graphs are numbers to predict"}, nil},
	"two numbers of each graph, one graph without": {[]namedArray{{"batch", []int{6}, []int64{0, 0, 1, 1, 2, 2}}, {"y", []int{3, 2}, []float32{12.43, -3, nan32, nan32, 0, 1}}}, Options{},
		Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2}, Targets: Targets{Graph: Numbers{[]float32{12.43, -3, nan32, nan32, 0, 1}, 2}}}, []string{"numbers to predict"}, nil},
	"labels of vertices of graphs": {[]namedArray{{"batch", []int{6}, []int64{0, 0, 1, 1, 2, 2}}, ofSix}, Options{},
		Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2}, Labels: labels.Labels, Classes: 3}, nil, nil},
	"a number of each edge": {[]namedArray{{"edge_labels", []int{6}, []float32{0.5, 1, 2, 3, 4, 5}}}, Options{},
		Data{Targets: Targets{Edge: Numbers{[]float32{0.5, 1, 2, 3, 4, 5}, 1}}}, []string{"the labels of edges are numbers to predict"}, nil},
}

// TestArrayKinds reads every form of labels and splits through every reader of arrays, and from a store made of it.
func TestArrayKinds(t *testing.T) {
	for _, cases := range []map[string]arrayCase{splitCases, labelCases} {
		for what, c := range cases {
			for door, write := range arrayDoors {
				path := write(t, append(c.arrays, namedArray{"edge_index", []int{2, 6}, []int64{0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 0}}))
				d, err := Load(path, c.opt)
				if err != nil {
					t.Errorf("%s, %s: %v", what, door, err)
					continue
				}
				checkParts(t, what+", "+door, &c.want, d)
				said := strings.Join(append(d.Report.Changes, d.Report.Warnings...), "\n")
				for _, words := range c.said {
					if !strings.Contains(said, words) {
						t.Errorf("%s, %s: %q is not said in %q", what, door, words, said)
					}
				}
				for _, words := range c.unlikely {
					if strings.Contains(said, words) {
						t.Errorf("%s, %s: %q", what, door, said)
					}
				}
				out := filepath.Join(t.TempDir(), "g.saga")
				if _, _, err := Convert(Conversion{From: path, Options: c.opt, Out: out}); err != nil {
					t.Errorf("%s, %s: %v", what, door, err)
					continue
				}
				d = mustLoad(t, out, Options{})
				if c.want.Train == nil && c.want.Labelled(VertexLabels) { // the store has one at random
					d.Train, d.Val, d.Test = nil, nil, nil
				}
				checkParts(t, what+", the store of "+door, &c.want, d)
				if err := os.Remove(out); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// checkParts compares the labels, targets and splits.
func checkParts(t *testing.T, what string, want, got *Data) {
	t.Helper()
	parts := func(d *Data) []any {
		return []any{d.Labels, d.MultiLabels, d.Classes, d.Targets, d.GraphOf, d.GraphLabels, d.GraphSplit, d.EdgeLabels, d.Train, d.Val, d.Test}
	}
	if diff := cmp.Diff(parts(want), parts(got), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// TestMaskWithoutSeveral: a number of a split is refused of a file that has one.
func TestMaskWithoutSeveral(t *testing.T) {
	for door, write := range arrayDoors {
		_, err := Load(write(t, append(splitCases["masks of bytes"].arrays, namedArray{"edge_index", []int{2, 1}, []int64{0, 1}})), Options{Mask: 1})
		refused(t, door, err, "split number 1 is asked for (--mask), and the file does not have several")
	}
	dir := t.TempDir()
	list, store, typed := filepath.Join(dir, "e.csv"), filepath.Join(dir, "g.saga"), filepath.Join(dir, "typed.saga")
	if err := os.WriteFile(list, []byte("source,target\n0,1\n1,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	table := Tables{Edges: list}
	tables := HeteroTables{Relations: []RelationTable{{Source: "a", Name: "r", Target: "b", Table: table}}}
	var err error
	keep := func(_ any, _ int, e error) { err = e }
	keep(Convert(Conversion{From: list, Out: store}))
	if err != nil {
		t.Fatal(err)
	}
	if keep(ConvertHetero(Conversion{Out: typed}, &tables, nil)); err != nil {
		t.Fatal(err)
	}
	second := Options{Mask: 1}
	for what, open := range map[string]func(){
		"store":            func() { _, err = Load(store, second) },
		"store of types":   func() { _, err = LoadHetero(typed, second) },
		"built-in graph":   func() { _, err = Open("karate", second) },
		"table":            func() { _, err = LoadTables(table, second) },
		"tables of types":  func() { _, err = LoadHeteroTables(tables, second) },
		"converted store":  func() { keep(Convert(Conversion{From: store, Out: store + "2", Options: second})) },
		"converted types":  func() { keep(ConvertHetero(Conversion{From: typed, Out: store + "2", Options: second}, nil, nil)) },
		"converted list":   func() { keep(Convert(Conversion{From: list, Out: store + "2", Options: second})) },
		"converted table":  func() { keep(Convert(Conversion{Tables: &table, Out: store + "2", Options: second})) },
		"converted tables": func() { keep(ConvertHetero(Conversion{Out: store + "2", Options: second}, &tables, nil)) },
	} {
		open()
		refused(t, what, err, "split number 1 is asked for (--mask), and the file does not have several")
	}
}

// TestPartFiles: train.pt, val.pt and test.pt of a data set become one graph with these splits: of graphs, if they have labels, else of
// vertices. Labels are numbers if they are in one of the files.
func TestPartFiles(t *testing.T) {
	one := func(graphs int, y ...float32) []namedArray {
		v := 2 * graphs
		list := []namedArray{{"batch", []int{v}, make([]int64, v)}, {"y", []int{len(y)}, y}, {"edge_index", []int{2, 1}, []int64{int64(v - 1), 0}}, {"x", []int{v, 1}, make([]float32, v)}}
		for u := range v {
			list[0].data.([]int64)[u], list[3].data.([]float32)[u] = int64(u/2), float32(u)
		}
		return list
	}
	for what, c := range map[string]struct {
		files [3][]namedArray
		val   string
		want  Data
	}{
		"numbers of graphs": {[3][]namedArray{one(2, 1, 2), one(1, .5), one(1, 4)}, "val.pt", Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2, 3, 3}, Targets: Targets{Graph: Numbers{[]float32{1, 2, .5, 4}, 1}},
			GraphSplit: Split{[]uint32{0, 1}, []uint32{2}, []uint32{3}}}},
		"classes of graphs": {[3][]namedArray{one(1, 0), one(2, 2, 1), one(1, 0)}, "valid.pt", Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2, 3, 3}, GraphLabels: []int32{0, 2, 1, 0},
			GraphSplit: Split{[]uint32{0}, []uint32{1, 2}, []uint32{3}}}},
		"classes of vertices": {[3][]namedArray{one(2, 0, 1, nan32, 1), one(1, 2, 1), one(1, 0, 0)}, "val.pt", Data{GraphOf: []uint32{0, 0, 1, 1, 2, 2, 3, 3}, Labels: []int32{0, 1, -1, 1, 2, 1, 0, 0}, Classes: 3,
			Train: []uint32{0, 1, 3}, Val: []uint32{4, 5}, Test: []uint32{6, 7}}},
	} {
		for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "processed")} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for i, name := range []string{"train.pt", c.val, "test.pt"} {
				if err := os.Rename(arrayDoors["pt"](t, c.files[i]), filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			if filepath.Base(dir) == "processed" { // of a root folder
				dir = filepath.Dir(dir)
			}
			d := mustLoad(t, dir, Options{})
			checkParts(t, what, &c.want, d)
			v := len(c.want.GraphOf)
			first := 2 * len(c.files[0][1].data.([]float32))
			if len(d.Labels) > 0 {
				first /= 2
			}
			if d.Edges.V != v || d.Edges.E() != 3 || d.Edges.Src[0] != uint32(first-1) || d.Edges.Dst[1] != uint32(first) || d.FeatureCols != 1 || len(d.Features) != v {
				t.Errorf("%s: %+v, %d rows of features", what, d.Edges, len(d.Features))
			}
		}
	}
	dir := t.TempDir()
	for i, y := range []float32{0, 1, 2} {
		x := one(1, y)
		if i == 2 {
			x[3] = namedArray{"x", []int{2, 3}, make([]float32, 6)}
		}
		if err := os.Rename(arrayDoors["pt"](t, x), filepath.Join(dir, []string{"train.pt", "val.pt", "test.pt"}[i])); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(dir, Options{})
	refused(t, "other features", err, "test.pt: 3 features", "unlike the files before")
}

// TestIdleRelabel: numbers that no edge list has are not numbered anew, and that is said.
func TestIdleRelabel(t *testing.T) {
	arrays := []namedArray{{"edge_index", []int{2, 2}, []int64{0, 1, 1, 4}}}
	for door, write := range arrayDoors {
		for _, how := range []Relabel{RelabelNever, RelabelAlways} {
			d, err := Load(write(t, arrays), Options{Relabel: how})
			if err != nil {
				t.Fatal(err)
			}
			if w := strings.Join(d.Report.Warnings, "\n"); !strings.Contains(w, "no effect on this data: --relabel") {
				t.Errorf("%s: %q", door, w)
			}
		}
	}
	dir := writeFiles(t, map[string]string{"e.txt": "0 1\n1 4\n", "e.csv": "source,target\n0,1\n1,4\n", "v.csv": "id,x\n0,1\n1,1\n4,1\n"})
	d, err := Load(filepath.Join(dir, "e.txt"), Options{Relabel: RelabelNever})
	if err != nil || d.Edges.V != 5 || strings.Contains(strings.Join(d.Report.Warnings, ""), "no effect on this data: --relabel") {
		t.Errorf("a list: %v, %+v", err, d)
	}
	for _, vertices := range []string{"", filepath.Join(dir, "v.csv")} {
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: vertices}, Options{Relabel: RelabelNever})
		if err != nil || strings.Contains(strings.Join(d.Report.Warnings, ""), "no effect on this data: --relabel") != (vertices != "") {
			t.Errorf("tables with vertices %q: %v, %q", vertices, err, d.Report.Warnings)
		}
	}
}

// TestLabelsMeantOtherwise: what may be meant otherwise is said, or refused with what would work.
func TestLabelsMeantOtherwise(t *testing.T) {
	edges, batch := namedArray{"edge_index", []int{2, 1}, []int64{0, 11}}, namedArray{"batch", []int{12}, []int64{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}}
	whole := namedArray{"y", []int{12}, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}
	for door, write := range arrayDoors {
		d, err := Load(write(t, []namedArray{edges, whole}), Options{})
		if err != nil || d.Classes != 12 || !strings.Contains(strings.Join(d.Report.Changes, ""), "floats, all of them whole, of 12 values: classes of vertices; --loss mse takes them as numbers") {
			t.Errorf("%s: %+v, %v", door, d, err)
		}
		_, err = Load(write(t, []namedArray{edges, batch, {"x", []int{12, 1}, whole.data}, {"y", []int{6}, []float32{0, 1, 1, 1, 0, 0}}}), Options{})
		refused(t, door, err, "y.reshape(1, -1) of a graph is a row, here of 2")
		_, err = Load(write(t, []namedArray{edges, batch, {"y", []int{3, 2}, []int64{0, 1, 1, -1, 0, 0}}}), Options{})
		refused(t, door, err, "label -1 of graph 1, class 1: must be 0 or 1, or NaN where it is not known")
	}
	dir := writeFiles(t, map[string]string{"e.csv": "source,target\n0,1\nsource,target\n1,2\n", "f.csv": "a,b\n0,1\n1,2\n", "v.csv": "id,p,q\n0,True,false\n1,,0\n2,1,TRUE\n"})
	_, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv")}, Options{})
	refused(t, "a heading twice", err, "e.csv:3: the heading stands here again")
	d, err := LoadTables(Tables{Edges: filepath.Join(dir, "f.csv"), Vertices: filepath.Join(dir, "v.csv"), Label: []string{"p", "q"}}, Options{})
	if err != nil || !cmp.Equal(d.MultiLabels, []float32{1, 0, -1, 0, 1, 1}) {
		t.Errorf("words for 0 and 1: %+v, %v", d, err)
	}
	// Numbers that are no classes are numbers to predict, from a table, too; a name of a class among them makes classes of all.
	for text, want := range map[string]Data{
		"id,price\n0,1.5\n1,\n2,-7\n":   {Targets: Targets{Vertex: []float32{1.5, nan32, -7}, Cols: 1}},
		"id,price\n0,1.5\n1,2\n2,few\n": {Labels: []int32{0, 1, 2}, Classes: 3},
		"id,price\n0,1\n1,2.0\n2,-1\n":  {Labels: []int32{1, 2, -1}, Classes: 3},
	} {
		dir := writeFiles(t, map[string]string{"e.csv": "a,b\n0,1\n1,2\n", "v.csv": text})
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv"), Label: []string{"price"}}, Options{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		checkParts(t, text, &want, d)
		if said := strings.Contains(strings.Join(d.Report.Changes, ""), "column price has numbers that are no classes"); said != (want.Labels == nil) {
			t.Errorf("%q: %q", text, d.Report.Changes)
		}
	}
	_, err = Load(filepath.Join(writeFiles(t, map[string]string{"g.csv": "source,target,weight\n1,2,0.5\n2,3,\n"}), "g.csv"), Options{})
	refused(t, "an empty weight", err, "g.csv:3: the last of 3 fields is empty")
}
