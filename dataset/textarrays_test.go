package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

// TestTextArrays reads folders of texts: an edge list, and files that are named as arrays are.
func TestTextArrays(t *testing.T) {
	ring := &chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 3}, Dst: []uint32{1, 2, 3, 0}}
	const edges = "0,1\n1,2\n2,3\n3,0\n"
	want := &Data{Edges: ring, Features: []float32{1, 2, 3, 4, 5, 6, 7, 8}, FeatureCols: 2, Labels: []int32{1, 0, -1, 1}, Classes: 2,
		Train: []uint32{0, 1}, Test: []uint32{3}}
	for what, files := range map[string]map[string]string{
		"plain": {"edges.csv": edges, "features.csv": "1,2\n3,4\n5,6\n7,8\n", "labels.csv": "1\n0\n-1\n1\n", "train.csv": "1\n0\n", "test.txt": "3\n"},
		"headings, blanks, masks, gzip": {"list.edges": "# a ring\n0 1\n1 2\n2 3\n3 0\n", "x.txt.gz": gz("a   b\n1   2\n3   4\n5   6\n7   8\n"), "y.tsv": "y\n1\n0\nnan\n1\n",
			"train_mask.csv": "1\n1\n0\n0\n", "test_mask.csv": "False\nFalse\nFalse\nTrue\n"},
		"numbers of rows": {"edges.txt": edges, "features.csv": "id,a,b\n0,1,2\n1,3,4\n2,5,6\n3,7,8\n", "labels.csv": "0,1\n1,0\n2,\n3,1\n", "train.csv": "node\n0\n1\n", "test.csv": "3\n"},
	} {
		d, err := Load(writeFiles(t, files), Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		changes := 0
		if what == "numbers of rows" {
			changes = 2
		}
		if len(d.Report.Changes) != changes || len(d.Report.Warnings) > 0 {
			t.Errorf("%s: %+v", what, d.Report)
		}
		d.Name, d.Report = "", Report{}
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}

	dir := writeFiles(t, map[string]string{"edges.csv": edges, "x.csv": "1,2\n2,1\n2,0\n3,0\n"})
	for name, warnings := range map[string]int{"edges.csv": 1, "x.csv": 0, "": 0} {
		d, err := Load(filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := d.Report.Warnings
		if len(w) != warnings || warnings > 0 && !strings.Contains(w[0], "x.csv beside it are not read; name the folder") {
			t.Errorf("%s: %q", name, w)
		}
		if name == "" && !slices.Equal(d.Features, []float32{1, 2, 2, 1, 2, 0, 3, 0}) {
			t.Errorf("%v", d.Features)
		}
	}
}

func TestTextArraysRefused(t *testing.T) {
	const edges, convert = "0,1\n1,2\n2,3\n3,0\n", "saga data convert --edges"
	for what, c := range map[string]struct {
		files map[string]string
		words string
	}{
		"ids that are no rows":  {map[string]string{"features.csv": "id,a\n7,1\n1,3\n2,5\n3,7\n"}, convert},
		"rows counted from 1":   {map[string]string{"features.csv": "1,1\n2,3\n3,5\n4,7\n"}, "vertex 0 is not among the ids in the first column of the arrays beside it, 1 to 4"},
		"names":                 {map[string]string{"features.csv": "name,a\nx,1\ny,3\n"}, `features.csv:2: column 1: "x" is not a number`},
		"a blank line":          {map[string]string{"labels.csv": "1\n\n1\n0\n"}, "labels.csv:3: a blank line before"},
		"a blank first line":    {map[string]string{"labels.csv": "\n1\n1\n0\n"}, "labels.csv:2: a blank line before"},
		"a short row":           {map[string]string{"features.csv": "1,2\n3\n"}, "features.csv:2: 1 fields, want 2"},
		"nothing":               {map[string]string{"features.csv": "a,b\n"}, "features.csv: no rows"},
		"a feature is missing":  {map[string]string{"features.csv": "1,2\n3,4\n5,\n6,7\n"}, "features.csv: element 5: row 2, column 1 is NaN"},
		"other rows":            {map[string]string{"features.csv": "1\n2\n3\n4\n", "labels.csv": "0\n1\n0\n"}, "3 labels for 4 vertices"},
		"twins":                 {map[string]string{"features.csv": "1\n2\n3\n4\n", "x.tsv": "1\n2\n3\n4\n"}, "both hold features"},
		"weights twice":         {map[string]string{"edges.csv": "0,1,5\n", "edge_weight.csv": "1\n"}, "the edge list has edge_weight"},
		"a table of vertices":   {map[string]string{"nodes.csv": "id,a\n0,1\n"}, convert},
		"an edge past the rows": {map[string]string{"features.csv": "1\n2\n3\n"}, "vertex 3: ids must be below 3, the rows of"},
	} {
		if c.files["edges.csv"] == "" {
			c.files["edges.csv"] = edges
		}
		_, err := Load(writeFiles(t, c.files), Options{})
		refused(t, what, err, c.words)
	}
}
