package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHeadings of edge lists: columns have their places, and what says otherwise is refused.
func TestHeadings(t *testing.T) {
	for text, want := range map[string]string{
		"source,target\n0,1\n":                 "",
		"from;to;weight\n0;1;2\n":              "",
		"user item rating\n0 1 2\n":            "",
		"FromNodeId\tToNodeId\n0\t1\n":         "",
		"\"src\",\"dst\",\"w\"\n0,1,2\n":       "",
		"id,friend\n0,1\n":                     "",
		"# edge_id,src,dst\n0,1,2\n":           "", // a comment
		"edge_id,src,dst\n0,1,2\n":             `e.csv:1: the heading has "src" as column 2; in an edge list columns 1 and 2 are source and target`,
		"target,source\n0,1\n":                 `e.csv:1: the heading has "target" as column 1`,
		"# made\n\nid,Source,Target\n0,1,2\n":  `e.csv:3: the heading has "source" as column 2`,
		"weight,from,to\n1,0,1\n":              "e.csv --out graph.saga",
		"mass,who,whom\n1,0,1\n":               "e.csv --source COL --target COL --out graph.saga",
		"edge_id,user,item\n0,1,2\n":           `"edge_id" as column 1`,
		"source,target,time\n0,1,9\n":          `"time" as column 3, which in an edge list is the weight of the edge. As what its name says, or with --weight time or --edge-type time: saga data convert --edges`,
		"source,target,\"Type\"\n0,1,9\n":      `"type" as column 3`,
		"src,dst,weight,time\n0,1,2,9\n":       "e.csv:1: an edge list has at most three columns (source, target, weight), and the heading has src, dst, weight, time: saga data convert --edges",
		"src,dst,day\n0,1,2020-01-01\n":        `"day" as column 3`,
		"src,dst,when\n0,1,2020-01-01\n":       `"when" as column 3`,
		"src,dst,w\n0,1,2020-01-01\n":          "is not a number; a table of other columns: saga data convert --edges",
		"0,1,2,9\n":                            "e.csv:1: more than three fields (source, destination, weight); a table of more columns: saga data convert --edges",
		"src,dst\nalice,bob\n":                 `e.csv:2: source: "alice" is not a whole number; ids that are text: saga data convert --edges`,
		",src,dst\n0,0,1\n":                    `e.csv:1: the heading has "src" as column 2; in an edge list columns 1 and 2 are source and target. By names: saga data convert --edges`,
		"\"source\",\"target\"\n\"0\",\"1\"\n": "",
		"0 -> 1\n":                             `e.csv:1: destination: "->" has neither a letter nor a digit`,
		"0 1 2 3\n1 2\n2 3 4\n":                "rows of different lengths: ",
		"0 1\n1 2 3\n":                         "e.csv:2: 3 fields, the lines before have 2",
		"0,alice\n":                            `e.csv:1: destination: "alice" is not a whole number; ids that are text`,
	} {
		path := filepath.Join(writeFiles(t, map[string]string{"e.csv": text}), "e.csv")
		_, err := Load(path, Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		c := Conversion{From: path, Out: filepath.Join(t.TempDir(), "g.saga")}
		if _, _, other := Convert(c); (err == nil) != (other == nil) || err != nil && other.Error() != err.Error() {
			t.Errorf("%q: converted: %v, want %v", text, other, err)
		}
	}
}

// TestTextTables: the command that errors name reads ids that are text, and columns by name.
func TestTextTables(t *testing.T) {
	dir := writeFiles(t, map[string]string{"names.txt": "alice bob\nbob carol\n", "e.csv": "edge_id,src,dst\n7,0,1\n8,1,2\n"})
	d, err := LoadTables(Tables{Edges: filepath.Join(dir, "names.txt"), Heading: "no"}, Options{})
	if err != nil || !slices.Equal(d.Vertices.Names, []string{"alice", "bob", "carol"}) {
		t.Errorf("%v %+v", err, d)
	}
	d, err = LoadTables(Tables{Edges: filepath.Join(dir, "e.csv")}, Options{})
	if err != nil || d.Edges.V != 3 || !slices.Equal(d.Edges.Dst, []uint32{1, 2}) {
		t.Errorf("%v %+v", err, d)
	}
}

// TestHeadingByVertices: where all is text a first line without a vertex in it is a heading.
func TestHeadingByVertices(t *testing.T) {
	for first, edges := range map[string]int{"follower,followed\n": 2, "carol,alice\n": 3, "": 2} {
		dir := writeFiles(t, map[string]string{"e.csv": first + "alice,bob\nbob,carol\n", "v.csv": "user,age\nalice,1\nbob,2\ncarol,3\n"})
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv"), ID: "user"}, Options{})
		if err != nil || d.Edges.E() != edges {
			t.Errorf("%q: %v %+v", first, err, d)
		}
	}
	dir := writeFiles(t, map[string]string{"e.csv": "follower,followed\nalice,bob\n"})
	_, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv")}, Options{})
	refused(t, "without vertices", err, "may be a heading or a row")
}

// TestCommentsInTables: a line that an edge list would skip is no edge of a table, but ids may begin with #.
func TestCommentsInTables(t *testing.T) {
	for text, want := range map[string]string{
		"# two edges\n% more\nalice bob\nbob carol\n": "",
		"alice bob\n% made by hand\nbob carol\n":      "t.txt:2: ",
		"alice\tbob\n# made by hand\tx\nbob\tcarol\n": "t.txt:2: a comment",
		"#go,#rust\n%,#go\n":                          "t.txt:2: a comment",
		"#go,#rust\n%a,#go\n":                         "",
	} {
		dir := writeFiles(t, map[string]string{"t.txt": text})
		_, err := LoadTables(Tables{Edges: filepath.Join(dir, "t.txt"), Heading: "no"}, Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestListWithArrays reads an edge list and the arrays beside it, whose rows its ids are.
func TestListWithArrays(t *testing.T) {
	dir := writeFiles(t, map[string]string{"edges.csv": "source,target,weight\n0,1,2\n1,3,1\n", "names.csv": "name\na\nb\nc\nd\ne\n"})
	writeArray(t, filepath.Join(dir, "features.npy"), []int{5, 2}, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	writeArray(t, filepath.Join(dir, "y.npy"), []int{5}, []int32{0, 1, 0, -1, 1})
	writeArray(t, filepath.Join(dir, "years.npy"), []int{1}, []int32{0})
	d, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Edges.V != 5 || !slices.Equal(d.Edges.Src, []uint32{0, 1}) || !slices.Equal(d.Edges.Dst, []uint32{1, 3}) || !slices.Equal(d.Edges.Weight, []float32{2, 1}) {
		t.Errorf("edges %+v", d.Edges)
	}
	if d.FeatureCols != 2 || d.Features[9] != 10 || !slices.Equal(d.Labels, []int32{0, 1, 0, -1, 1}) || d.ID(4) != "e" {
		t.Errorf("%+v", d)
	}
	if w := d.Report.Warnings; len(w) != 1 || !strings.Contains(w[0], "nothing reads years.npy") {
		t.Errorf("%q", w)
	}
	out := filepath.Join(t.TempDir(), "g.saga")
	if _, edges, err := Convert(Conversion{From: dir, Out: out}); err != nil || edges != 2 {
		t.Errorf("%d edges: %v", edges, err)
	}
	if s := mustLoad(t, out, Options{}); !slices.Equal(s.Features, d.Features) || !slices.Equal(s.Labels, d.Labels) || !slices.Equal(s.Edges.Weight, d.Edges.Weight) {
		t.Errorf("%+v", s)
	}

	list := filepath.Join(dir, "edges.csv")
	// The list itself: the arrays are not read, and that is said.
	if d, err := Load(list, Options{}); err != nil || d.FeatureCols != 0 || len(d.Report.Warnings) != 1 || !strings.Contains(d.Report.Warnings[0], "features.npy, y.npy beside it are not read; name the folder, "+dir) {
		t.Errorf("%+v", d.Report)
	}
	if s, _, err := Convert(Conversion{From: list, Out: filepath.Join(t.TempDir(), "g.saga")}); err != nil || len(s.Report.Warnings) != 1 {
		t.Errorf("%v %+v", err, s)
	}

	for text, want := range map[string]string{
		"0 1\n1 5\n":          "edges.csv: element 3: vertex 5: ids must be below 5, the rows of ",
		"0 4000000000\n":      "ids must be below 5",
		"0 8000000000\n":      "count from 0",
		"0 -1\n":              "count from 0",
		"alice bob\nbob al\n": "ids are rows of the arrays beside the list, such as features.npy, and count from 0",
	} {
		if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Load(dir, Options{Relabel: RelabelAlways}); err == nil || !strings.Contains(err.Error(), "--relabel always") {
		t.Errorf("numbered anew: %v", err)
	}
	writeArray(t, filepath.Join(dir, "edge_weight.npy"), []int{1}, []float32{1})
	if err := os.WriteFile(list, []byte("0 1 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, Options{}); err == nil || !strings.Contains(err.Error(), "and so has edge_weight.npy") {
		t.Errorf("two weights: %v", err)
	}
}
