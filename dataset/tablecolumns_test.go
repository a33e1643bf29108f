package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTableColumns: what stands between columns, which lines are headings, and names that columns go without.
func TestTableColumns(t *testing.T) {
	for what, edges := range map[string]string{
		"pandas":       ",source,target\n0,a,b\n1,b,c\n",
		"quoted":       "\"source\",\"target\"\n\"a\",\"b\"\n\"b\",\"c\"\n",
		"commas":       "source, target\na,b\nb,c\n",
		"semicolons":   "source;target\na;b\nb;c\n",
		"tabs":         "source\ttarget\na\tb\nb\tc\n",
		"many spaces":  "\"the source of it\",target\na,b\nb,c\n",
		"other names":  "from here,to there,weight\na,b,1\nb,c,2\n",
		"another line": "source,target\r\na,b\r\nb,c\r\n",
	} {
		x := Tables{Edges: filepath.Join(writeFiles(t, map[string]string{"e.csv": edges}), "e.csv")}
		switch what {
		case "many spaces":
			x.Source, x.Target = "the source of it", "target"
		case "other names":
			x.Source, x.Target = "from here", "to there"
		}
		d, err := LoadTables(x, Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if d.Edges.V != 3 || !slices.Equal(d.Edges.Src, []uint32{0, 1}) || !slices.Equal(d.Edges.Dst, []uint32{1, 2}) {
			t.Errorf("%s: %+v", what, d.Edges)
		}
	}
}

func TestTableColumnsRefused(t *testing.T) {
	var wide []string
	for i := range 30 {
		wide = append(wide, fmt.Sprint("c", i))
	}
	heads := strings.Join(wide, ",")
	for _, tc := range []struct {
		want     string
		vertices string
		change   func(x *Tables)
	}{
		{`v.csv:1: no column "name"; there are id, label`, "id,label\na,1\nb,2\n", func(x *Tables) { x.ID = "name" }},
		{`e.csv:1: no column "from"; there are source, target`, "id,label\na,1\nb,2\n", func(x *Tables) { x.Source = "from" }},
		{`v.csv:1: no column fits "f*"; there are id, label`, "id,label\na,1\nb,2\n", func(x *Tables) { x.Features = []string{"f*"} }},
		{`c18 and 11 more`, "id," + heads + "\n", func(x *Tables) { x.Features = []string{"f*"} }},
		{`the pattern "[" of columns: syntax error in pattern`, "id,label\na,1\nb,2\n", func(x *Tables) { x.Features = []string{"["} }},
	} {
		dir := writeFiles(t, map[string]string{"e.csv": "source,target\na,b\nb,a\n", "v.csv": tc.vertices})
		x := Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv")}
		tc.change(&x)
		_, err := LoadTables(x, Options{})
		refused(t, tc.want, err, tc.want)
	}
}

// TestSkipUnknown: edges to vertices that the table does not have are refused, or left out and counted.
func TestSkipUnknown(t *testing.T) {
	dir := writeFiles(t, map[string]string{"e.csv": "source,target\na,b\nx,a\nb,c\nc,y\nx,y\n", "v.csv": "id\na\nb\nc\n"})
	s := Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv")}
	_, err := LoadTables(s, Options{})
	refused(t, "an unknown vertex", err, `e.csv:3: column source: "x" is not a vertex`, "--skip-unknown leaves such edges out")
	s.SkipUnknown = true
	d, err := LoadTables(s, Options{})
	if err != nil || !slices.Equal(d.Edges.Src, []uint32{0, 1}) || !slices.Equal(d.Edges.Dst, []uint32{1, 2}) || len(d.Report.Warnings) != 1 || !strings.Contains(d.Report.Warnings[0], "3 edges were left out") {
		t.Errorf("%+v, %v", d, err)
	}
	out := filepath.Join(t.TempDir(), "g.saga")
	if _, edges, err := Convert(Conversion{Tables: &s, Out: out}); err != nil || edges != 2 {
		t.Errorf("%d edges, %v", edges, err)
	}
}

// TestGuessedID: a first column that is taken for the ids of vertices without a name that says so is told, and never one that is asked for as
// something else.
func TestGuessedID(t *testing.T) {
	for text, want := range map[string]string{
		"who,label\n0,a\n1,b\n":    "the first column, who, is taken as the ids of vertices (--id names another)",
		"label,who\n0,1\n1,0\n":    "refused",
		"age,who\n0,1\n1,0\n":      "refused",
		"id,label\n0,a\n1,b\n":     "",
		"user_id,age\n0,a\n1,b\n":  "",
		",label\n0,a\n1,b\n":       "the first column, 1, is taken",
		"id,label\n0,True\n1,TRUE": `"TRUE" and "True" are two classes, which differ in blanks or capital letters alone`,
	} {
		dir := writeFiles(t, map[string]string{"e.csv": "source,target\n0,1\n1,0\n", "v.csv": text})
		features := []string(nil)
		if text[:3] == "age" {
			features = []string{"age"}
		}
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv"), Features: features}, Options{})
		if want == "refused" {
			refused(t, text, err, "is asked for as something else: --id COL")
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		said := strings.Join(append(d.Report.Changes, d.Report.Warnings...), "\n")
		if want != "" && !strings.Contains(said, want) || want == "" && strings.Contains(said, "is taken as") {
			t.Errorf("%q: %q, want %q", text, said, want)
		}
	}
}

// TestHeadingOfPandas: a heading 0,1 behind an empty name has columns that positions choose.
func TestHeadingOfPandas(t *testing.T) {
	dir := writeFiles(t, map[string]string{"e.csv": ",0,1\n0,7,8\n1,8,9\n", "n.txt": "3\n0 1\n1 2\n"})
	path := filepath.Join(dir, "e.csv")
	_, err := Load(path, Options{})
	refused(t, "as an edge list", err, "a heading that pandas wrote, behind a column of row numbers", "--heading yes --source 2 --target 3")
	d, err := LoadTables(Tables{Edges: path, Heading: "yes", Source: "2", Target: "3"}, Options{})
	if err != nil || d.Edges.V != 3 || d.ID(int(d.Edges.Src[0])) != "7" || d.ID(int(d.Edges.Dst[1])) != "9" {
		t.Errorf("%v %+v", err, d)
	}
	_, err = Load(filepath.Join(dir, "n.txt"), Options{})
	refused(t, "a count", err, "a count before the edges is no edge")
}
