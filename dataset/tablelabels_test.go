package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLabelsAsNumbers: in a column of numbers -1 is a number and a word for a missing one is none; in a column of classes -1 is no
// label and such a word is a class.
func TestLabelsAsNumbers(t *testing.T) {
	for labels, want := range map[[5]string]Data{
		{"0.5", "-1", "1.5", "-2.5", "2"}:   {Targets: Targets{Vertex: []float32{.5, -1, 1.5, -2.5, 2}, Cols: 1}},
		{"0.5", "NA", "-1", "", "n/a"}:      {Targets: Targets{Vertex: []float32{.5, nan32, -1, nan32, nan32}, Cols: 1}},
		{"0", "-1", "2", "-1", "1"}:         {Labels: []int32{0, -1, 2, -1, 1}, Classes: 3},
		{"red", "-1", "NA", "", "blue"}:     {Labels: []int32{2, -1, 0, -1, 1}, Classes: 3},
		{"1", "NA", "0", "-1", "nan"}:       {Labels: []int32{1, 2, 0, -1, -1}, Classes: 3},
		{"1.5", "NA", "few", "-1", "1.5"}:   {Labels: []int32{0, 1, 2, -1, 0}, Classes: 3},
		{"null", "-1", "null", "NA", "-1"}:  {Labels: []int32{1, -1, 1, 0, -1}, Classes: 2},
		{"-1", "none", "-1.5", "?", "-1.0"}: {Targets: Targets{Vertex: []float32{-1, nan32, -1.5, nan32, -1}, Cols: 1}},
	} {
		text := "id,y\n"
		for v, y := range labels {
			text += string(rune('0'+v)) + "," + y + "\n"
		}
		dir := writeFiles(t, map[string]string{"e.csv": "a,b\n0,1\n1,2\n", "v.csv": text})
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv"), Label: []string{"y"}}, Options{})
		if err != nil {
			t.Errorf("%q: %v", labels, err)
			continue
		}
		checkParts(t, text, &want, d)
	}
}

// TestTypesWithoutLabels: a column with the usual name of labels that has none is warned of where another type may have the labels, or a
// run is applied to the data. A column that is asked for must have some.
func TestTypesWithoutLabels(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	edges, labelled, bare := at("e.csv", "source,target\n1,1\n2,2\n"), at("p.csv", "id,f,label\n1,0.1,a\n2,0.2,b\n"), at("q.csv", "id,f,label\n1,0.1,\n2,0.2,nan\n")
	tables := func(asked ...string) HeteroTables {
		return HeteroTables{Types: []TypeTable{{Name: "p", Table: Tables{Vertices: labelled}}, {Name: "q", Table: Tables{Vertices: bare, Label: asked}}},
			Relations: []RelationTable{{Source: "q", Name: "r", Target: "p", Table: Tables{Edges: edges}}}}
	}
	h, err := LoadHeteroTables(tables(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range h.Types {
		if has := x.Rows.Labels != nil; has != (x.Name == "p") || x.Rows.Classes > 0 != has {
			t.Errorf("type %s: labels %v of %d classes", x.Name, x.Rows.Labels, x.Rows.Classes)
		}
		if warned := strings.Contains(strings.Join(x.Rows.Report.Warnings, "\n"), "column label: no vertex has a label"); warned != (x.Name == "q") {
			t.Errorf("type %s: warnings %q", x.Name, x.Rows.Report.Warnings)
		}
	}
	_, err = LoadHeteroTables(tables("label"), Options{})
	refused(t, "asked", err, "q.csv: column label: no vertex has a label")
	train := at("g.saga", "")
	if _, _, err := Convert(Conversion{Tables: &Tables{Edges: edges, Vertices: labelled, Features: []string{"f"}}, Out: train}); err != nil {
		t.Fatal(err)
	}
	d, err := LoadTables(Tables{Edges: edges, Vertices: bare, Prepare: Preparation{Like: train}}, Options{})
	if err != nil || d.Labels != nil || d.FeatureCols != 1 {
		t.Errorf("like a store: %v, %v", d, err)
	}
	_, err = LoadTables(Tables{Edges: edges, Vertices: bare}, Options{})
	refused(t, "one type", err, "q.csv: column label: no vertex has a label")
}
