package run

import (
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// TestFiveWork compares the work that is expected with that of all roots: on a graph of more
// vertices than are looked at, with more at the lower numbers, and on ones of hardly any.
func TestFiveWork(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, seconds")
	}
	random := rand.New(rand.NewPCG(1, 2))
	const n = 5 * fiveLooks
	e := &chunk.Edges{V: n}
	for range 10 * n {
		u, v := uint32(n*random.Float64()*random.Float64()*random.Float64()), random.Uint32N(n)
		e.Src, e.Dst = append(e.Src, u, v), append(e.Dst, v, u)
	}
	near := func(name string, got, want float64) {
		if got < 0.8*want || got > 1.25*want {
			t.Errorf("%s: %.4g expected, of %.4g", name, got, want)
		}
	}
	for _, e := range []*chunk.Edges{e, {V: 2, Src: []uint32{0, 1}, Dst: []uint32{1, 0}}, {V: 1}, {}} {
		r, _, err := rows.FromEdges(e)
		if err != nil {
			t.Fatal(err)
		}
		r = r.ByDegree()
		got, want := FiveWork(r), allWork(r)
		near("ends", got.Visits, want.Visits)
		near("walks of two edges", got.Pushed, want.Pushed)
		near("entries above ends", got.Pulled, want.Pulled)
		listed := 0
		for a := range uint32(r.V()) {
			if n := walksFrom(r, r.Below(a)); !crowded(n, a) {
				listed += n
			}
		}
		near("walks whose ends are listed", Listed(r), float64(listed))
	}
}

// allWork is the work of all roots.
func allWork(r *rows.Rows) (w plan.MapsWork) {
	last := make([]uint32, r.V()) // the root that was the last to reach a vertex, and one more
	for a := range uint32(r.V()) {
		for _, v := range r.Below(a) {
			for _, u := range r.Of(v) {
				if u > a {
					continue
				}
				w.Pushed++
				if last[u] == a+1 {
					continue
				}
				last[u] = a + 1
				w.Visits++
				for _, x := range r.Above(u) {
					if x <= a {
						w.Pulled++
					}
				}
			}
		}
	}
	return w
}

// TestSpeed: no machine is a hundred times as fast, or as slow, as the one of the rates.
func TestSpeed(t *testing.T) {
	if s := Speed(); s < 0.01 || s > 100 {
		t.Errorf("%g of what plan.Core says", s)
	}
}
