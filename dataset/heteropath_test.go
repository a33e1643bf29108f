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

// TestMetapathTimes: a path is there from the latest of its edges on, and an edge of paths from the first path on, as loops over all edges say.
func TestMetapathTimes(t *testing.T) {
	h := madeHetero(t)
	w, in := h.Relations[relation(t, h, "writes")].Links.Edges, h.Relations[relation(t, h, "in")].Links.Edges
	for k := range w.Src {
		w.Time = append(w.Time, float64(k*7%5))
	}
	if err := h.AddMetapaths([]Metapath{{"pap", []string{"~writes", "writes"}}, {"awi", []string{"writes", "in"}}, {"apapa", []string{"writes", "~writes", "writes", "~writes"}}, {"two", []string{"~in", "in"}}}); err != nil {
		t.Fatal(err)
	}
	pap, awi := map[[2]uint32]float64{}, map[[2]uint32]float64{}
	keep := func(m map[[2]uint32]float64, u, v uint32, at float64) {
		if old, ok := m[[2]uint32{u, v}]; !ok || at < old {
			m[[2]uint32{u, v}] = at
		}
	}
	for i := range w.Src {
		for j := range w.Src {
			if w.Src[i] == w.Src[j] {
				keep(pap, w.Dst[i], w.Dst[j], max(w.Time[i], w.Time[j]))
			}
		}
		for j := range in.Src {
			if w.Dst[i] == in.Src[j] {
				keep(awi, w.Src[i], in.Dst[j], w.Time[i])
			}
		}
	}
	apapa := map[[2]uint32]float64{}
	for pair, at := range pap {
		for i := range w.Src {
			for j := range w.Src {
				if w.Dst[i] == pair[0] && w.Dst[j] == pair[1] {
					keep(apapa, w.Src[i], w.Src[j], max(at, w.Time[i], w.Time[j]))
				}
			}
		}
	}
	for name, want := range map[string]map[[2]uint32]float64{"pap": pap, "awi": awi, "apapa": apapa} {
		e := h.Relations[relation(t, h, name)].Links.Edges
		if e.E() != len(want) || len(e.Time) != len(want) {
			t.Errorf("%s: %d edges with %d times, want %d", name, e.E(), len(e.Time), len(want))
			continue
		}
		for k, u := range e.Src {
			if at := want[[2]uint32{u, e.Dst[k]}]; e.Time[k] != at {
				t.Errorf("%s: %d to %d is there from %v on, want %v", name, u, e.Dst[k], e.Time[k], at)
			}
		}
	}
	if e := h.Relations[relation(t, h, "two")].Links.Edges; e.Time != nil {
		t.Errorf("paths without times have times %v", e.Time)
	}
}

func relation(t *testing.T, h *Hetero, name string) int {
	r, err := h.Relation(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
