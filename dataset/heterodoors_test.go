package dataset

import (
	"errors"
	"path/filepath"
	"slices"
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
var typedDoors = []string{"data.pt", "processed.pt", "list.pt", "dict.pt", "sparse.pt", "names.npz", "csr.npz", "folders"}

// TestTypedDoors reads the same graph through every door.
func TestTypedDoors(t *testing.T) {
	for _, name := range typedDoors {
		path := filepath.Join(madeTypes, name)
		h, err := LoadHetero(path, Options{SparseFrom: 2})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(h.At(0).Report.Warnings)+len(h.At(0).Report.Changes) > 1 || h.Report.Form == "" {
			t.Errorf("%s: %+v", name, h.At(0).Report)
		}
		sameHetero(t, name, madeHetero(t), h)
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
