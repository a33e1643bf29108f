package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sagann/chunk"
)

// madeTypes is where the files lie that bench/formats/hetero.py writes.
const madeTypes = made + "/hetero"

// madeHetero is the graph in them.
func madeHetero(t testing.TB) *Hetero {
	h := &Hetero{Types: []VertexType{vertices("paper", 12), vertices("author", 7), vertices("venue", 3), vertices("field", 5)}}
	rows := func(d *Data, cols int, x func(i, j int) float32) {
		d.FeatureCols = cols
		for i := range d.Edges.V {
			for j := range cols {
				d.Features = append(d.Features, x(i, j))
			}
		}
	}
	paper := h.Types[0].Rows
	rows(paper, 3, func(i, j int) float32 { return float32(i*(j+2)%5) / 4 })
	rows(h.Types[1].Rows, 2, func(i, j int) float32 { return float32(i*(j+3)%7) / 8 })
	rows(h.Types[3].Rows, 4, func(i, j int) float32 {
		if i%4 == j {
			return 1
		}
		return 0
	})
	paper.Classes = 3
	for i := range 12 {
		paper.Labels = append(paper.Labels, int32(i%3))
	}
	paper.Labels[5] = -1
	paper.Train, paper.Val, paper.Test = []uint32{0, 1, 4, 8, 9}, []uint32{2, 6, 10}, []uint32{3, 7, 11}
	link := func(from int, name string, to, n int, src, dst func(k int) int) *Data {
		e := &chunk.Edges{V: max(h.Types[from].Rows.Edges.V, h.Types[to].Rows.Edges.V)}
		for k := range n {
			e.Src, e.Dst = append(e.Src, uint32(src(k))), append(e.Dst, uint32(dst(k)))
		}
		d := &Data{Edges: e}
		h.Relations = append(h.Relations, Relation{from, name, to, d})
		return d
	}
	same := func(k int) int { return k }
	link(1, "writes", 0, 12, func(k int) int { return k * 2 % 6 }, func(k int) int { return (k*5 + 1) % 12 })
	link(1, "reviews", 0, 4, same, func(k int) int { return 11 - k }).Edges.Weight = []float32{0.25, 0.5, 0.75, 1}
	link(1, "knows", 1, 3, same, func(k int) int { return []int{1, 0, 2}[k] })
	cites := link(0, "cites", 0, 12, same, func(k int) int { return (k*7 + 3) % 12 }).Edges
	for k := range 12 {
		cites.DataCols, cites.Data = 2, append(cites.Data, float32(k)/8, -float32(k)/4)
	}
	link(0, "in", 2, 12, same, func(k int) int { return k % 3 })
	link(0, "about", 3, 12, same, func(k int) int { return k % 5 })
	link(3, "rev_about", 0, 12, func(k int) int { return k % 5 }, same)
	if err := h.sorted(); err != nil {
		t.Fatal(err)
	}
	if err := ValidateHetero(h); err != nil {
		t.Fatal(err)
	}
	return h
}

// bare is h without names, reports and what readers add of their own.
func bare(h *Hetero) *Hetero {
	h.Name, h.Report = "", Report{}
	for _, d := range h.parts() {
		d.Name, d.Report = "", Report{}
		if d.Late.Sparse != nil {
			d.HoldFeatures()
		}
		d.Late = LateFeatures{}
	}
	return h
}

// sameHetero compares two graphs.
func sameHetero(t testing.TB, what string, want, got *Hetero) {
	t.Helper()
	if diff := cmp.Diff(bare(want), bare(got), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// typedDoors are the files that hold the graph with all its parts.
var typedDoors = []string{"data.pt", "processed.pt", "list.pt", "dict.pt", "sparse.pt", "names.npz", "csr.npz", "folders", "ogb"}

// madeIn is the graph as a file has it: OGB's folders have no weights of edges.
func madeIn(t testing.TB, name string) *Hetero {
	h := madeHetero(t)
	if name == "ogb" {
		for _, r := range h.Relations {
			r.Links.Edges.Weight = nil
		}
	}
	return h
}

// TestTypedDoors reads the same graph through every door.
func TestTypedDoors(t *testing.T) {
	for _, name := range typedDoors {
		path, want := filepath.Join(madeTypes, name), madeIn(t, name)
		h, err := LoadHetero(path, Options{SparseFrom: 2})
		if err != nil {
			t.Error(err)
			continue
		}
		if r := h.Whole(); (len(r.Warnings) > 0) != (name == "ogb") || len(r.Changes) > 1 || r.Form == "" {
			t.Errorf("%s: %+v", name, r)
		}
		sameHetero(t, name, want, h)
		if _, err := Load(path, Options{}); !errors.Is(err, ErrSeveralTypes) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%v", err)
		}
	}
	if _, err := LoadHetero(filepath.Join(madeTypes, "two.pt"), Options{}); err == nil || !strings.Contains(err.Error(), "only one such graph is read") {
		t.Errorf("%v", err)
	}
}

// TestSparseAdjacency: PyG's ToSparseTensor turns edges into a matrix with a row for each target.
func TestSparseAdjacency(t *testing.T) {
	h, err := LoadHetero(filepath.Join(madeTypes, "adj.pt"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := madeHetero(t)
	at, err := want.Relation("in")
	if err != nil || len(h.Relations) != 1 {
		t.Fatal(err, h.Relations)
	}
	ends := func(e *chunk.Edges) (list []uint32) {
		for i := range e.Src {
			list = append(list, e.Src[i]<<16|e.Dst[i])
		}
		slices.Sort(list)
		return list
	}
	if a, b := ends(h.Relations[0].Links.Edges), ends(want.Relations[at].Links.Edges); !slices.Equal(a, b) {
		t.Errorf("%x, want %x", a, b)
	}
}

// TestUndirectedTypes: relations between two types get a reverse, those within a type the reverse of each edge.
func TestUndirectedTypes(t *testing.T) {
	h, err := LoadHetero(filepath.Join(madeTypes, "data.pt"), Options{Undirected: true, Simple: true})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, r := range h.Relations {
		names = append(names, h.FullName(i))
		if r.Source == r.Target && r.Links.Edges.Symmetric().E() != r.Links.Edges.E() {
			t.Errorf("%s is not symmetric", h.FullName(i))
		}
	}
	want := []string{"author:knows:author", "author:reviews:paper", "author:writes:paper", "field:rev_about:paper", "paper:about:field", "paper:cites:paper",
		"paper:in:venue", "paper:rev_reviews:author", "paper:rev_writes:author", "venue:rev_in:paper"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if e := h.Relations[7].Links.Edges; !slices.Equal(e.Src, []uint32{8, 9, 10, 11}) || !slices.Equal(e.Dst, []uint32{3, 2, 1, 0}) || !slices.Equal(e.Weight, []float32{1, 0.75, 0.5, 0.25}) {
		t.Errorf("%+v", e)
	}
}

// TestTypedOGBRefused spoils one file of a good folder.
func TestTypedOGBRefused(t *testing.T) {
	files := map[string]string{"mag/raw/num-node-dict.csv": "a,b\n3,2\n", "mag/raw/triplet-type-list.csv": "a,to,b\nb,back,a\n",
		"mag/raw/relations/a___to___b/edge.csv": "2,1\n0,0\n", "mag/raw/relations/b___back___a/edge.csv": "1,2\n", "mag/raw/relations/b___back___a/num-edge-list.csv": "1\n",
		"mag/raw/node-label/b/node-label.csv": "1\n0\n", "mag/raw/nodetype-has-label.csv": "a,b\nFalse,True\n", "mag/split/s/b/train.csv": "1\n", "mag/split/s/b/valid.csv": "0\n", "mag/split/s/b/test.csv": "\n"}
	h, err := LoadHetero(filepath.Join(writeFiles(t, files), "mag"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b := h.Types[1].Rows; h.Name != "mag" || !slices.Equal(b.Labels, []int32{1, 0}) || !slices.Equal(b.Train, []uint32{1}) || h.E() != 3 {
		t.Errorf("%+v", b)
	}
	for _, c := range []struct{ name, text, word string }{
		{"raw/num-node-dict.csv", "a,b\n3,x\n", `num-node-dict.csv:2: "x" vertices of type "b"`},
		{"raw/num-node-dict.csv", "a,b\n3,2\n3,2\n", "num-node-dict.csv:3: a second graph"},
		{"raw/num-node-dict.csv", "a,b\n", "no numbers of vertices"},
		{"raw/num-node-dict.csv", "a,../b\n3,2\n", `num-node-dict.csv:1: "../b" is the name of a type or relation, and of no folder`},
		{"raw/num-node-dict.csv", "a,b\n3,4000000000\n", `type "b": 4000000000 vertices with 3 edges`},
		{"raw/triplet-type-list.csv", "a,to,c\n", `triplet-type-list.csv:1: there is no vertex type "c"; there are a, b`},
		{"raw/triplet-type-list.csv", "a,to,b\na,to,b\n", `triplet-type-list.csv:2: relation "a:to:b" stands twice`},
		{"raw/triplet-type-list.csv", "a,to\n", "2 columns, want 3"},
		{"raw/triplet-type-list.csv", "a,else,b\n", "a___else___b"},
		{"raw/relations/a___to___b/edge.csv", "2,1\n3,0\n", "edge.csv:2: edge 3,0: vertex ids must be below 3 and 2"},
		{"raw/relations/a___to___b/edge.csv", "2,2\n", "edge.csv:1: edge 2,2: vertex ids must be below 3 and 2"},
		{"raw/relations/a___to___b/edge-feat.csv", "1\n", "1 rows for 2 edges"},
		{"raw/relations/b___back___a/num-edge-list.csv", "2\n", "num-edge-list.csv: 1 graphs, of 2 edges the first; edge.csv has 1 edges"},
		{"raw/node-feat/a/node-feat.csv", "1\n2\n", "2 rows"},
		{"raw/node-label/b/node-label.csv", "1\n0\n1\n", "3 rows for 2 vertices"},
		{"raw/nodetype-has-label.csv", "a,b\nTrue,True\n", `column "a" is "True", and no file has them`},
		{"split/s/b/train.csv", "2\n", "train.csv:1: vertex 2"},
		{"split/t/b/train.csv", "1\n", "2 split schemes"},
	} {
		_, err := LoadHetero(filepath.Join(writeFiles(t, with(files, "mag/"+c.name, c.text)), "mag"), Options{})
		refused(t, c.name, err, c.word)
	}
}

// madeTables are the tables of the graph. They are not in the order of names.
func madeTables() HeteroTables {
	file := func(name string) string { return filepath.Join(madeTypes, "tables", name+".csv") }
	var t HeteroTables
	for _, name := range []string{"paper", "field", "author"} {
		t.Types = append(t.Types, TypeTable{name, Tables{Vertices: file(name), Features: []string{"f*"}}})
	}
	for _, x := range [][3]string{{"field", "rev_about", "paper"}, {"paper", "in", "venue"}, {"paper", "about", "field"}, {"author", "writes", "paper"},
		{"paper", "cites", "paper"}, {"author", "reviews", "paper"}, {"author", "knows", "author"}} {
		r := RelationTable{x[0], x[1], x[2], Tables{Edges: file(x[1]), Source: x[0] + "_id", Target: x[2] + "_id"}}
		if x[0] == x[2] {
			r.Table.Target = "other_id"
		}
		if x[1] == "cites" {
			r.Table.EdgeFeatures = []string{"e*"}
		}
		t.Relations = append(t.Relations, r)
	}
	return t
}

// TestTypedTables reads the same graph from tables, also in pieces.
func TestTypedTables(t *testing.T) {
	tables := madeTables()
	h, err := LoadHeteroTables(tables, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := h.Whole(); len(r.Warnings) > 0 {
		t.Errorf("%+v", r)
	}
	want := madeHetero(t)
	for i := range want.Types {
		switch rows := want.Types[i].Rows; want.Types[i].Name {
		case "paper":
			for i := range 12 {
				rows.Vertices.Names = append(rows.Vertices.Names, "paper "+strconv.Itoa(i))
			}
		case "author":
			rows.Vertices.IDs = []uint64{100, 90, 80, 70, 60, 50, 40}
		}
		if rows := want.Types[i].Rows; rows.FeatureCols > 0 {
			rows.Schema.Features.NameColumns([]string{"f0", "f1", "f2", "f3"}[:rows.FeatureCols])
		}
	}
	want.Relations[5].Links.Schema.Edges.Columns = []string{"e0", "e1"}
	sameHetero(t, "tables", want, h)
	out := filepath.Join(t.TempDir(), "t.saga")
	if _, _, err := ConvertHetero(Conversion{Out: out}, &tables, nil); err != nil {
		t.Fatal(err)
	}
	checkTypedStore(t, out, want)

	like := tables
	like.Types = slices.Clone(like.Types)
	like.Types[0].Table.Features, like.Types[0].Table.Prepare.Like = nil, out
	if h, err := LoadHeteroTables(like, Options{}); err != nil {
		t.Error(err)
	} else {
		sameHetero(t, "as the store", want, h)
	}
}

// TestTypedTablesRefused: ids that no table of the type has, tables twice, and ids of types without a table.
func TestTypedTablesRefused(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "id,x\n1,2\n2,\n", "ab.csv": "source,target\n1,u\n2,v\n", "bc.csv": "source,target\nw,5\nu,7\n", "bad.csv": "source,target\n3,u\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	good := HeteroTables{Types: []TypeTable{{"a", Tables{Vertices: at("a.csv")}}},
		Relations: []RelationTable{{"b", "to", "c", Tables{Edges: at("bc.csv")}}, {"a", "to", "b", Tables{Edges: at("ab.csv")}}}}
	h, err := LoadHeteroTables(good, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, c := h.Types[1].Rows, h.Types[2].Rows
	if !slices.Equal(b.Vertices.Names, []string{"u", "v", "w"}) || !slices.Equal(c.Vertices.IDs, []uint64{5, 7}) || !slices.Equal(h.Relations[1].Links.Edges.Src, []uint32{2, 0}) {
		t.Errorf("%q %v %+v", b.Vertices.Names, c.Vertices.IDs, h.Relations[1].Links.Edges)
	}
	for _, x := range []struct {
		word  string
		spoil func(*HeteroTables)
	}{
		{"bad.csv:2: column source: 3 is not a vertex", func(t *HeteroTables) { t.Relations[1].Table.Edges = at("bad.csv") }},
		{"has two tables", func(t *HeteroTables) { t.Types = append(t.Types, t.Types[0]) }},
		{`two relations are named "a:to:b"`, func(t *HeteroTables) { t.Relations[0] = t.Relations[1] }},
		{"a.csv:3: column x", func(t *HeteroTables) { t.Types[0].Table.Features = []string{"x"} }},
		{`no column fits "aa=x"; there are id, x; no table is of vertices of type "aa", there are those of a`, func(t *HeteroTables) { t.Types[0].Table.Features = []string{"aa=x"} }},
		{`no column "aa=x"; there are id, x; no table is of vertices of type "aa"`, func(t *HeteroTables) { t.Types[0].Table.ID = "aa=x" }},
		{"named with its type, such as a=topic", func(t *HeteroTables) {
			t.Types = append(t.Types, TypeTable{"b", Tables{Vertices: at("a.csv"), Label: []string{"topic"}}})
		}},
		{"none.csv", func(t *HeteroTables) { t.Relations[1].Table.Edges = at("none.csv") }},
		{"no table of edges", func(t *HeteroTables) { t.Relations = nil }},
	} {
		bad := HeteroTables{slices.Clone(good.Types), slices.Clone(good.Relations)}
		x.spoil(&bad)
		_, err := LoadHeteroTables(bad, Options{})
		refused(t, x.word, err, x.word)
	}
	good.Relations[1].Table.Edges, good.Relations[1].Table.SkipUnknown = at("bad.csv"), true
	_, err = LoadHeteroTables(good, Options{})
	refused(t, "skipped", err, "bad.csv: no edges")
}

// TestEmptyTables: a table of edges with a heading alone is a relation without edges, beside one that has some.
func TestEmptyTables(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "id,x\n1,2\n2,5\n", "b.csv": "id,y\n8,1\n9,3\n", "ab.csv": "a,b\n1,9\n", "none.csv": "a,b,weight,kind,time\n", "aa.csv": "source,target\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	tables := HeteroTables{Types: []TypeTable{{"a", Tables{Vertices: at("a.csv")}}, {"b", Tables{Vertices: at("b.csv")}}}, Relations: []RelationTable{
		{"a", "to", "b", Tables{Edges: at("ab.csv")}}, {"a", "of", "b", Tables{Edges: at("none.csv"), EdgeType: "kind", EdgeFeatures: []string{"weight"}}}, {"a", "in", "a", Tables{Edges: at("aa.csv")}}}}
	h, err := LoadHeteroTables(tables, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, want := range []int{0, 0, 1} {
		links := h.Relations[i].Links
		if all = append(all, links.Report.Warnings...); links.Edges.E() != want {
			t.Errorf("%s has %d edges, want %d", h.FullName(i), links.Edges.E(), want)
		}
	}
	if said := strings.Join(all, "\n"); !strings.Contains(said, "none.csv: no edges") || strings.Contains(said, "no id is both") {
		t.Errorf("said is %q", said)
	}
	tables.Relations = tables.Relations[1:]
	_, err = LoadHeteroTables(tables, Options{})
	refused(t, "all empty", err, "no edges, nor in other tables")
}

// TestTypedRoot: the root folder of a data set of PyG, and a folder with one file, are read as that file is.
func TestTypedRoot(t *testing.T) {
	text, err := os.ReadFile("testdata/formats/hetero/processed.pt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := LoadHetero("testdata/formats/hetero/processed.pt", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"processed/data.pt", "processed/hetero_data.pt", "graph.pt"} {
		root := t.TempDir()
		for _, dir := range []string{"raw", "processed"} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(root, Options{}); !errors.Is(err, ErrSeveralTypes) {
			t.Errorf("%s: Load gives %v", name, err)
		}
		h, err := LoadHetero(root, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range want.Relations {
			if a, b := h.Relations[i].Links.Edges, want.Relations[i].Links.Edges; h.FullName(i) != want.FullName(i) || !slices.Equal(a.Src, b.Src) || !slices.Equal(a.Dst, b.Dst) {
				t.Errorf("%s: %s differs", name, h.FullName(i))
			}
		}
	}
}
