package dataset

import (
	"path/filepath"
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
