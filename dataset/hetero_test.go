package dataset

import (
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// vertices is a type of n vertices.
func vertices(name string, n int) VertexType {
	return VertexType{name, &Data{Edges: &chunk.Edges{V: n}}}
}

// smallHetero has three types and four relations, in the order of a file: not sorted.
func smallHetero() *Hetero {
	h := &Hetero{Name: "small", Types: []VertexType{vertices("paper", 4), vertices("author", 3), vertices("venue", 2)}}
	h.Types[0].Rows.Labels, h.Types[0].Rows.Classes = []int32{0, 1, -1, 1}, 2
	h.Types[0].Rows.Train = []uint32{0, 1}
	link := func(from int, name string, to int, ends ...uint32) {
		e := &chunk.Edges{V: max(h.Types[from].Rows.Edges.V, h.Types[to].Rows.Edges.V)}
		for i := 0; i < len(ends); i += 2 {
			e.Src, e.Dst = append(e.Src, ends[i]), append(e.Dst, ends[i+1])
		}
		h.Relations = append(h.Relations, Relation{from, name, to, &Data{Edges: e}})
	}
	link(1, "writes", 0, 0, 3, 2, 1, 2, 0)
	link(0, "cites", 0, 0, 1, 3, 2)
	link(0, "in", 2, 0, 1, 3, 0)
	link(1, "knows", 1)
	return h
}

// sortedHetero is smallHetero as LoadHetero would give it.
func sortedHetero(t testing.TB) *Hetero {
	h := smallHetero()
	if err := h.sorted(); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHeteroNames(t *testing.T) {
	h := sortedHetero(t)
	if err := ValidateHetero(h); err != nil {
		t.Fatal(err)
	}
	var full []string
	for r := range h.Relations {
		full = append(full, h.FullName(r))
	}
	if want := []string{"author:knows:author", "author:writes:paper", "paper:cites:paper", "paper:in:venue"}; !slices.Equal(full, want) {
		t.Errorf("%q", full)
	}
	if h.V() != 9 || h.E() != 7 || h.Single() != nil {
		t.Errorf("%d vertices, %d edges, %v", h.V(), h.E(), h.Single())
	}
	for _, name := range []string{"writes", "author:writes:paper"} {
		if r, err := h.Relation(name); err != nil || r != 1 {
			t.Errorf("%s: %d %v", name, r, err)
		}
	}
	types, relations := h.Reach(1)
	if !slices.Equal(types, []bool{true, true, false}) || !slices.Equal(relations, []bool{true, true, true, false}) {
		t.Errorf("%v %v", types, relations)
	}
	for _, name := range []string{"", "paper"} {
		if at, err := h.Labelled(name); err != nil || at != 1 {
			t.Errorf("%d %v", at, err)
		}
	}
	h.Relations[2].Name = "writes"
	h.Types[2].Rows.Targets.Vertex, h.Types[2].Rows.Targets.Cols = []float32{1, 2}, 1
	_, byName := h.Relation("writes")
	_, none := h.Relation("cites")
	_, noType := h.Type("tag")
	_, several := h.Labelled("")
	_, bare := h.Labelled("author")
	for _, x := range []struct {
		err  error
		want string
	}{
		{byName, `small has 2 relations "writes"; name one of author:writes:paper, paper:writes:paper`},
		{none, `small has no relation "cites"; there are author:knows:author, author:writes:paper, paper:writes:paper, paper:in:venue`},
		{noType, `small has no vertex type "tag"; there are author, paper, venue`},
		{several, `small: several vertex types have labels: --target NAME names one of paper, venue`},
		{bare, `small: vertices of type "author" have no labels; there are labels of paper, venue`},
	} {
		if x.err == nil || x.err.Error() != x.want {
			t.Errorf("%v, want %s", x.err, x.want)
		}
	}
}

func TestBadHetero(t *testing.T) {
	for want, spoil := range map[string]func(h *Hetero){
		`two vertex types are named "author"`:                                          func(h *Hetero) { h.Types[1].Name = "author" },
		`vertex type "z" stands before "paper": types are in the order of their names`: func(h *Hetero) { h.Types[0].Name = "z" },
		`two relations are named "author:writes:paper"`:                                func(h *Hetero) { h.Relations[2] = h.Relations[1] },
		`relation "author:zz:author" stands before "author:writes:paper"`:              func(h *Hetero) { h.Relations[0].Name = "zz" },
		`relation 0 "knows" goes from type 0 to type 3 of 3`:                           func(h *Hetero) { h.Relations[0].Target = 3 },
		`relation "author:writes:paper": edge 1 has vertex 3 of type "author", which has 3`: func(h *Hetero) {
			h.Relations[1].Links.Edges.Src[1] = 3
		},
		`relation "paper:in:venue": edge 0 has vertex 2 of type "venue", which has 2`:      func(h *Hetero) { h.Relations[3].Links.Edges.Dst[0] = 2 },
		`relation "paper:in:venue": the number of vertices is not that of the larger type`: func(h *Hetero) { h.Relations[3].Links.Edges.V = 5 },
		`vertex type "venue": a type has at least one vertex`:                              func(h *Hetero) { h.Types[2].Rows.Edges.V = 0 },
		`vertex type "paper": vertex 1 has label 7: must be 0..1`:                          func(h *Hetero) { h.Types[1].Rows.Labels[1] = 7 },
		`relation "author:writes:paper": a relation has something of vertices`:             func(h *Hetero) { h.Relations[1].Links.FeatureCols = 1 },
		`vertex type "paper": several graphs in one`:                                       func(h *Hetero) { h.Types[1].Rows.GraphOf = make([]uint32, 4) },
		"0 vertex types and 4 relations":                                                   func(h *Hetero) { h.Types = nil },
	} {
		h := sortedHetero(t)
		spoil(h)
		if err := ValidateHetero(h); err == nil || !strings.HasPrefix(err.Error(), "small: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSingle: one type and one relation are a graph without types.
func TestSingle(t *testing.T) {
	h := &Hetero{Name: "one", Types: []VertexType{vertices("paper", 3)}}
	h.Types[0].Rows.Labels, h.Types[0].Rows.Classes = []int32{0, 1, 0}, 2
	e := &chunk.Edges{V: 3, Src: []uint32{0, 1}, Dst: []uint32{1, 2}}
	h.Relations = []Relation{{0, "cites", 0, &Data{Edges: e, EdgeLabels: []int32{1, 0}}}}
	d := h.Single()
	if err := Validate(d); err != nil {
		t.Fatal(err)
	}
	if d.Edges != e || len(d.Labels) != 3 || len(d.EdgeLabels) != 2 || d.Name != "one" {
		t.Errorf("%+v", d)
	}
}

// TestAt: the vertices of a type know their graph, and say what was done to all parts.
func TestAt(t *testing.T) {
	h := sortedHetero(t)
	h.Types[2].Rows.Report = Report{Changes: []string{"a"}, Mask: 1, Masks: 2}
	h.Relations[0].Links.Report.Warnings = []string{"b"}
	d := h.At(1)
	if err := Validate(d); err != nil {
		t.Fatal(err)
	}
	if d.Edges.V != 4 || d.Vertices.Kinds.Graph != h || d.Vertices.Kinds.Type != 1 || !slices.Equal(d.Report.Changes, []string{"venue: a"}) || !slices.Equal(d.Report.Warnings, []string{"author:knows:author: b"}) || d.Report.Masks != 2 {
		t.Errorf("%+v", d)
	}
	h.Types, h.Relations = h.Types[1:2], []Relation{{0, "cites", 0, h.Relations[2].Links}}
	if d := h.At(0); d.Vertices.Kinds != nil || d.Edges.E() != 2 {
		t.Errorf("%+v", d)
	}
}
