package dataset

import (
	"slices"
	"strings"
	"testing"
)

// TestMetapaths: papers by one author, and venues of an author, beside those that loops over all edges find.
func TestMetapaths(t *testing.T) {
	h := madeHetero(t)
	list := []Metapath{{"pap", []string{"~writes", "author:writes:paper"}}, {"awi", []string{"writes", "in"}}, {"one", []string{"cites"}}}
	if err := h.AddMetapaths(list); err != nil {
		t.Fatal(err)
	}
	if err := ValidateHetero(h); err != nil {
		t.Fatal(err)
	}
	w := h.Relations[relation(t, h, "writes")].Links.Edges
	in := h.Relations[relation(t, h, "in")].Links.Edges
	pap, awi := map[[2]uint32]bool{}, map[[2]uint32]bool{}
	for i := range w.Src {
		for j := range w.Src {
			if w.Src[i] == w.Src[j] {
				pap[[2]uint32{w.Dst[i], w.Dst[j]}] = true
			}
		}
		for j := range in.Src {
			if w.Dst[i] == in.Src[j] {
				awi[[2]uint32{w.Src[i], in.Dst[j]}] = true
			}
		}
	}
	for name, want := range map[string]map[[2]uint32]bool{"pap": pap, "awi": awi} {
		r := h.Relations[relation(t, h, name)]
		e := r.Links.Edges
		if e.E() != len(want) {
			t.Errorf("%s: %d edges, want %d", name, e.E(), len(want))
		}
		for i := range e.Src {
			if !want[[2]uint32{e.Src[i], e.Dst[i]}] || i > 0 && (e.Src[i-1] > e.Src[i] || e.Src[i-1] == e.Src[i] && e.Dst[i-1] >= e.Dst[i]) {
				t.Errorf("%s: edge %d, %d to %d", name, i, e.Src[i], e.Dst[i])
			}
		}
	}
	one := h.Relations[relation(t, h, "one")].Links.Edges
	if cites := h.Relations[relation(t, h, "cites")].Links.Edges; !slices.Equal(one.Dst, cites.Dst) {
		t.Errorf("%v, want %v", one.Dst, cites.Dst)
	}
	for text, want := range map[string]string{"x": "want NAME=", "x=": "want NAME=", "x=writes,knows": "step 1, knows, begins at vertices of type \"author\"", "x=nothing": `no relation "nothing"`, "pap=~writes,writes": "two relations are named"} {
		m, err := ParseMetapath(text)
		if err == nil {
			err = h.AddMetapaths([]Metapath{m})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func relation(t *testing.T, h *Hetero, name string) int {
	r, err := h.Relation(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
