package rows

import (
	"math/rand/v2"
	"sort"

	"sagann/mine/plan"
)

// wedges is how many wedges Stats draws. The share of closed ones is then right to within 0.01 or
// 0.02, enough for a first guess.
const wedges = 2000

// Stats computes what the planner's first guess needs. Equal graphs have equal Stats.
func (r *Rows) Stats() plan.Stats {
	s := plan.Stats{Vertices: float64(r.V())}
	squares := 0.0
	for v := range r.V() {
		d := float64(r.Degree(uint32(v)))
		squares += d * d
	}
	if len(r.Col) > 0 {
		s.Degree = squares / float64(len(r.Col))
	}
	random := rand.New(rand.NewPCG(1, uint64(len(r.Col))))
	drawn, closed := 0, 0
	for i := 0; i < wedges && len(r.Col) > 0; i++ {
		row := r.Of(r.Col[random.IntN(len(r.Col))]) // a middle vertex in proportion to its degree
		a, b := row[random.IntN(len(row))], row[random.IntN(len(row))]
		if a == b {
			continue
		}
		drawn++
		if r.Has(a, b) {
			closed++
		}
	}
	s.Close = (float64(closed) + 1) / (float64(drawn) + 2)
	if r.Label != nil {
		share := map[int32]float64{} // by label, for those that were asked for
		s.Labels = func(label int32) float64 {
			x, ok := share[label]
			if !ok {
				n := 0
				for _, l := range r.Label {
					if l == label {
						n++
					}
				}
				x = float64(n) / float64(r.V())
				share[label] = x
			}
			return x
		}
	}
	return s
}

// Class is the class of row v, 0 to plan.Classes-1: classes have equally many entries of Col.
func (r *Rows) Class(v uint32) int {
	return int(min(r.Off[v]*plan.Classes/max(int64(len(r.Col)), 1), plan.Classes-1))
}

// InClass is how many rows belong to a class.
func (r *Rows) InClass(class int) int {
	from := func(class int) int {
		return sort.Search(r.V(), func(v int) bool { return r.Class(uint32(v)) >= class })
	}
	return from(class+1) - from(class)
}

// Work computes how much counting by formulas and in bit matrices does; Cliques and the other
// fields that need estimates are left empty. Rows must be in order of degree.
func (r *Rows) Work() plan.Work {
	w := plan.Work{Vertices: float64(r.V()), Edges: float64(r.Edges())}
	for v := range r.V() {
		below, above := float64(r.Mid[v]), float64(len(r.Above(uint32(v))))
		w.Reads += below * above
		w.Wedges += below*above + above*(above-1)/2
	}
	return w
}
