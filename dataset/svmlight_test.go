package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files by scikit-learn give the graph's rows: with classes, with numbers and with several labels, also as sparse rows,
// and from a store.
func TestSVMlight(t *testing.T) {
	for _, name := range []string{"classes.svm", "numbers.svmlight", "sets.libsvm"} {
		want := madeGraph()
		want.Train, want.Val, want.Test = nil, nil, nil
		switch name {
		case "numbers.svmlight":
			want.Targets.Cols, want.Labels, want.Classes = 1, nil, 0
			for v := range want.Edges.V {
				want.Targets.Vertex = append(want.Targets.Vertex, 3*want.Features[3*v+1]-0.25)
			}
		case "sets.libsvm":
			for _, k := range want.Labels {
				want.MultiLabels = append(want.MultiLabels, map[int32][]float32{0: {1, 1}, 1: {0, 0}, 2: {0, 1}}[k]...)
			}
			want.Labels, want.Classes = nil, 2
		}
		s := Tables{Edges: filepath.Join(made, "numbers_edges.csv"), Vertices: filepath.Join(made, name)}
		check := func(what string, d *Data, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			d.Name, d.Report, d.Late = "", Report{}, LateFeatures{}
			if diff := cmp.Diff(want, d); diff != "" {
				t.Errorf("%s, %s: %s", name, what, diff)
			}
		}
		d, err := LoadTables(s, Options{})
		check("dense", d, err)
		if d, err = LoadTables(s, Options{SparseFrom: 1}); err == nil {
			if d.Features != nil || d.Late.Sparse == nil {
				t.Fatalf("%s: features are dense", name)
			}
			d.HoldFeatures()
		}
		check("sparse", d, err)
		path := filepath.Join(t.TempDir(), "g.saga")
		if _, _, err := Convert(Conversion{Tables: &s, Out: path}); err != nil {
			t.Fatal(err)
		}
		if d, err = Load(path, Options{}); err == nil { // convert makes a split
			d.Train, d.Val, d.Test = nil, nil, nil
		}
		check("a store", d, err)
	}
}

func TestSVMlightRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "no lines",
		"# nothing\n\n":         "no lines",
		"1\n2\n":                "no entries",
		"1 3:1 2:1\n":           "v.svm:1: column 2 stands behind column 3",
		"1 2:1 2:1\n":           "v.svm:1: column 2 stands behind column 2",
		"1 2:1\n1 x:2\n":        "v.svm:2|column:value",
		"1 2\n":                 "column:value",
		"1 -1:2\n":              "column:value",
		"1 99999999999:2\n":     "column:value",
		"1 2:inf\n":             "v.svm:1: column 2",
		"1 2:1e99\n":            "v.svm:1: column 2",
		"a 2:1\n":               `v.svm:1: label "a"`,
		"0.5 2:1\n1,2 2:1\n":    "several labels",
		"1,-2 2:1\n":            "several labels",
		"1 2147483000:1\n0 1:1": "",
	} {
		dir := writeFiles(t, map[string]string{"e.csv": "a,b\n0,1\n", "v.svm": text})
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.svm")}, Options{SparseFrom: 1})
		if want == "" {
			if err != nil || d.FeatureCols != 2147483000 {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, want %q", text, err, part)
			}
		}
	}
	dir := writeFiles(t, map[string]string{"e.csv": "a,b\n0,1\n", "v.svm": "+1 1:2\n-1 2:1\n", "big.svm": "1 2147483000:1\n0 1:1\n", "far.csv": "a,b\n0,2\n"})
	d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.svm")}, Options{})
	if err != nil || !slices.Equal(d.Labels, []int32{1, 0}) || d.Classes != 2 || !slices.Equal(d.Schema.Vertex.Classes, []string{"-1", "+1"}) {
		t.Errorf("labels of signs: %+v, %v", d, err)
	}
	_, err = LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "big.svm")}, Options{})
	refused(t, "dense rows of 2 billion columns", err, "too sparse to be spread out")
	_, err = LoadTables(Tables{Edges: filepath.Join(dir, "far.csv"), Vertices: filepath.Join(dir, "v.svm")}, Options{})
	refused(t, "an edge to a line that is not there", err, "far.csv")
}
