package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
)

// addedCase is a graph as tables, cut into what a run knows and what is added.
type addedCase struct {
	dir                             string
	old, whole, addEdges, addRows   string // paths; old and whole are tables of edges
	oldRows, wholeRows              string
	n, kept                         int
	words, weights, types, times, x bool
	features                        bool
}

func (c *addedCase) id(v int) string {
	if c.words {
		return fmt.Sprintf("p%d", v)
	}
	return fmt.Sprint(v)
}

func (c *addedCase) write(t *rapid.T, name, heading string, rows []string) string {
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(heading+"\n"+strings.Join(rows, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func drawAdded(t *rapid.T, dir string) *addedCase {
	flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
	c := &addedCase{dir: dir, kept: rapid.IntRange(3, 9).Draw(t, "kept"), words: flip("words"), weights: flip("weights"), types: flip("types"), times: flip("times"), x: flip("numbers"), features: flip("features")}
	c.n = c.kept + rapid.IntRange(1, 4).Draw(t, "added")
	heading, edgeHeading := "id,age,colour,label", "src,dst,weight,edge_type,edge_time,e1,e2"
	var rows, old, added []string
	for v := range c.n {
		age, colour := rapid.SampledFrom([]string{"", "1.5", "-3", "40"}).Draw(t, "age"), rapid.SampledFrom([]string{"red", "green", "blue", ""}).Draw(t, "colour")
		rows = append(rows, strings.Join([]string{c.id(v), age, colour, []string{"a", "b"}[v%2]}, ","))
	}
	edge := func(u, v int) string {
		return fmt.Sprintf("%s,%s,%d,%s,%d,%d,%d", c.id(u), c.id(v), rapid.IntRange(0, 9).Draw(t, "weight"), rapid.SampledFrom([]string{"likes", "knows"}).Draw(t, "type"), rapid.IntRange(0, 3).Draw(t, "time"), u, v)
	}
	old = append(old, strings.Replace(edge(0, 1), "knows", "likes", 1), strings.Replace(edge(1, 2), "likes", "knows", 1)) // both types occur
	for range rapid.IntRange(0, 25).Draw(t, "edges") {
		u, v := rapid.IntRange(0, c.n-1).Draw(t, "u"), rapid.IntRange(0, c.n-1).Draw(t, "v")
		if u < c.kept && v < c.kept && flip("old") {
			old = append(old, edge(u, v))
		} else {
			added = append(added, edge(u, v))
		}
	}
	c.oldRows, c.wholeRows = c.write(t, "old.csv", heading, rows[:c.kept]), c.write(t, "whole.csv", heading, rows)
	c.old, c.whole = c.write(t, "e.csv", edgeHeading, old), c.write(t, "ew.csv", edgeHeading, append(old, added...))
	c.addRows = c.write(t, "va.csv", heading, rows[c.kept:])
	if len(added) > 0 {
		c.addEdges = c.write(t, "ea.csv", edgeHeading, added)
	}
	return c
}

func (c *addedCase) tables(edges, vertices string) *Tables {
	x := &Tables{Edges: edges, Vertices: vertices, Heading: "auto", EdgeTime: "none"}
	if c.times {
		x.EdgeTime = "edge_time"
	}
	if c.x {
		x.EdgeFeatures = []string{"e2", "e1"}
	}
	return x
}

// bare takes what the case leaves out off the data.
func (c *addedCase) bare(d *Data) *Data {
	e := *d.Edges
	if !c.weights {
		e.Weight = nil
	}
	if !c.types {
		e.Type, e.Types, d.Schema.Edges.Relations = nil, 0, nil
	}
	d.Edges = &e
	return d
}

// TestAdded cuts graphs of tables into what a run knows and what is added. What comes together again is what the tables of all vertices and edges give, whose
// features are prepared as those of the old: ids that are words, gaps and words of columns, weights, relations, times and numbers of edges, reverse edges.
func TestAdded(t *testing.T) {
	dir := t.TempDir()
	draw.Check(t, func(t *rapid.T) {
		c := drawAdded(t, dir)
		o := Options{Undirected: rapid.Bool().Draw(t, "undirected"), Simple: rapid.Bool().Draw(t, "simple")}
		store := filepath.Join(dir, "old.saga")
		from, all := c.tables(c.old, c.oldRows), c.tables(c.whole, c.wholeRows)
		from.Features, from.Prepare = []string{"age"}, Preparation{Missing: "mean", OneHot: []string{"colour"}, Standardize: true}
		if _, _, err := Convert(Conversion{Tables: from, Out: store, Base: 2}); err != nil {
			t.Fatal(err)
		}
		all.Prepare.Like = store
		d, err := Load(store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := LoadTables(*all, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d, want = c.bare(d), c.bare(want); !c.features {
			DropFeatures(d)
			DropFeatures(want)
		}
		if want, err = finish(want, "", o); err != nil {
			t.Fatal(err)
		}
		a, err := ReadAdded(c.addEdges, c.addRows, d)
		if err != nil {
			t.Fatal(err)
		}
		before := d.Edges.E()
		got, err := a.To(d, o)
		if err != nil {
			t.Fatal(err)
		}
		if d.Edges.E() != before || d.Edges.V != c.kept || got.Vertices.Added != c.n-c.kept {
			t.Fatalf("the graph has %d edges of %d vertices now; %d vertices were added", d.Edges.E(), d.Edges.V, got.Vertices.Added)
		}
		if !reflect.DeepEqual(got.Edges, want.Edges) || !reflect.DeepEqual(got.Features, want.Features) {
			t.Fatalf("edges\n%+v, want\n%+v\nfeatures\n%v, want\n%v", got.Edges, want.Edges, got.Features, want.Features)
		}
		for v := range c.n {
			if got.ID(v) != want.ID(v) {
				t.Fatalf("vertex %d has the id %s, want %s", v, got.ID(v), want.ID(v))
			}
		}
	})
}

// TestAddedBad: what is wrong with tables of added vertices is said with the file and line, or with what there would have to be.
func TestAddedBad(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d, err := LoadTables(Tables{Edges: file("e.csv", "src,dst,weight,edge_type,n\na,b,1,likes,1\nb,c,1,knows,1\n"), Vertices: file("v.csv", "id,age,label\na,1,x\nb,2,x\nc,3,y\n"), Features: []string{"age"}, EdgeFeatures: []string{"n"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const rows, edges = "id,age\nd,4\n", "src,dst,weight,edge_type,n\nd,a,1,likes,2\n"
	for _, x := range []struct{ edges, vertices, want string }{
		{edges, "id,age\n", "v2.csv: no vertices"},
		{edges, "", "the table is empty"},
		{edges, "id,age\nb,4\n", `v2.csv:2: column id: vertex "b" is in the graph already`},
		{edges, "id,age\nd,4\nd,5\n", `v2.csv:3: column id: vertex "d" stands twice`},
		{edges, "id,size\nd,4\n", `v2.csv:1: no column "age", of which features of the run were made; there are id, size`},
		{edges, "id,age\nd,\n", "v2.csv:2: column age: "},
		{edges, "id,age\nd,old\n", "v2.csv:2: column age: "},
		{"src,dst,weight,edge_type,n\nd,z,1,likes,2\n", rows, `e2.csv:2: column dst: "z" is neither a vertex of the graph nor one of those that are added`},
		{"src,dst,edge_type,n\nd,a,likes,2\n", rows, "e2.csv:1: the edges of e have weights, and no column is named weight"},
		{"src,dst,weight,n\nd,a,1,2\n", rows, "e2.csv:1: the edges of e have types, and no column is named edge_type"},
		{"src,dst,weight,edge_type\nd,a,1,likes\n", rows, `e2.csv:1: the edges of e have numbers n, and there is no column "n"`},
		{"src,dst,weight,edge_type,n\nd,a,1,hates,2\n", rows, `e2.csv: the type "hates" of an edge; those of e are knows, likes`},
		{"src,dst,weight,edge_type,n\nd,a,heavy,likes,2\n", rows, "e2.csv:2: column weight: "},
		{"src,dst,weight,edge_type,n\n", rows, "e2.csv: no edges"},
	} {
		_, err := ReadAdded(file("e2.csv", x.edges), file("v2.csv", x.vertices), d)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q and %q: %v, want %s", x.edges, x.vertices, err, x.want)
		}
	}
	a, err := ReadAdded("", file("v2.csv", rows), d)
	if err != nil || a.Count != 1 || a.Edges != nil {
		t.Fatalf("without edges: %+v, %v", a, err)
	}
	for what, change := range map[string]func(*Added){
		"there are none":          func(a *Added) { a.Count = 0 },
		"numbers of features":     func(a *Added) { a.Features = nil },
		"have ids, and these":     func(a *Added) { a.Vertices.Names = nil },
		"is in the graph already": func(a *Added) { a.Vertices.Names = []string{"c"} },
		"times for 1":             func(a *Added) { a.Vertices.Time = []float64{1} },
		"2 ids for 1":             func(a *Added) { a.Vertices.Names = []string{"x", "y"} },
		"feature":                 func(a *Added) { a.Features = []float32{float32(math.NaN())} },
		"edge 0":                  func(a *Added) { a.Edges = &chunk.Edges{V: 4, Src: []uint32{4}, Dst: []uint32{0}} },
	} {
		x := *a
		change(&x)
		if _, err := x.To(d, Options{}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
