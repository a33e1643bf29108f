package plan

import (
	"cmp"
	"math"
	"slices"

	"sagann/mine/pattern"
)

// Stats is what a first guess needs to know of a graph.
type Stats struct {
	Vertices float64
	Degree   float64 // mean degree of the ends of edges: Σd²/Σd
	Close    float64 // share of wedges whose ends are neighbours, 0 to 1
	Labels   func(label int32) float64
	// Labels is the share of the vertices that have the label; nil: 1.
}

// Estimate is what a plan is expected to do.
type Estimate struct {
	Nodes []float64 // vertices bound, by level; of the last level: matches
	Loops int       // levels that are loops; the others are counted as a whole
	Work  float64   // elements of sets that are read
	Walks int       // random walks behind it; 0: a guess from Stats
	// Error is the relative standard error of the number of matches; 0 where Walks is 0.
	Error float64
}

// Cost is the estimate in elements read: binding a vertex costs as much as reading a few.
func (e Estimate) Cost() float64 {
	const bind = 8 // elements read in the time that a loop's body takes beside its sets; measured
	cost := e.Work
	for _, n := range e.Nodes[:e.Loops] {
		cost += bind * n
	}
	return cost
}

// Sampler measures plans on a graph by random walks.
type Sampler interface {
	// Sample reads about work elements. Equal plans get equal estimates.
	Sample(p *Plan, work int64) Estimate
}

// Choice bounds the search of Choose.
const (
	measured = 4       // orders, the best by guess, that are sampled in both directions
	leastOf  = 1 << 15 // elements that a sample reads at least
	mostOf   = 1 << 22 // and at most
)

// Choose returns the plan for counting that is expected to be fastest. Of all connected
// matching orders, one of each orbit under the group, those that the guess puts first
// are sampled, with the order constraints in both directions. edges bounds the sampling:
// each sample reads at most a quarter as many elements.
func Choose(p pattern.Pattern, where *pattern.Expr, stats Stats, edges int64, s Sampler) (*Plan, Estimate, error) {
	var best *Plan
	var bestOf Estimate
	work := max(leastOf, min(edges/4, mostOf))
	for _, order := range orders(p, where, stats) {
		for _, down := range []bool{false, true} {
			pl, err := New(p, where, order, Options{Descending: down})
			if err != nil {
				return nil, Estimate{}, err
			}
			if down && len(pl.Less) == 0 {
				continue
			}
			if e := s.Sample(pl, work); best == nil || e.Cost() < bestOf.Cost() {
				best, bestOf = pl, e
			}
		}
	}
	return best, bestOf, nil
}

// Listing returns the plan for listing matches in their order. Pattern vertex 0 comes
// first, then always the lowest number that is adjacent to one before it; of each orbit
// the match that comes first stays. The plan does not depend on the graph, whose order
// must be that of the user's numbers.
func Listing(p pattern.Pattern, where *pattern.Expr) (*Plan, error) {
	order := []int{0}
	for len(order) < p.Vertices() {
		for v := range p.Vertices() {
			if !slices.Contains(order, v) && slices.ContainsFunc(order, func(w int) bool { return p.Adjacent(v, w) }) {
				order = append(order, v)
				break
			}
		}
	}
	return New(p, where, order, Options{ByID: true, List: true})
}

// guess is a matching order with its guessed cost.
type guess struct {
	order []int
	cost  float64
}

// orders lists the best matching orders by a guess: a set of the neighbours of one vertex
// has Degree elements, every further neighbour leaves the share Close of them, every
// order constraint half.
func orders(p pattern.Pattern, where *pattern.Expr, stats Stats) [][]int {
	n, group := p.Vertices(), p.Group(where)
	var best []guess
	var order []int
	var grow func(stable []pattern.Perm, nodes, cost float64)
	grow = func(stable []pattern.Perm, nodes, cost float64) {
		if len(best) == measured && cost >= best[measured-1].cost {
			return
		}
		if len(order) == n {
			best = append(best, guess{slices.Clone(order), cost})
			slices.SortStableFunc(best, func(a, b guess) int { return cmp.Compare(a.cost, b.cost) })
			best = best[:min(len(best), measured)]
			return
		}
		for v := range n {
			around := 0
			for _, w := range order {
				if p.Adjacent(v, w) {
					around++
				}
			}
			orbit, fix := orbitOf(stable, v)
			lowest := slices.Min(orbit) == v
			if slices.Contains(order, v) || !lowest || len(order) > 0 && around == 0 {
				continue
			}
			size := stats.Vertices
			if len(order) > 0 {
				size = stats.Degree * math.Pow(stats.Close, float64(around-1)) / float64(len(orbit))
			}
			if stats.Labels != nil && p.Label(v) != pattern.AnyLabel {
				size *= stats.Labels(p.Label(v))
			}
			read := 0.0
			if around > 1 {
				read = nodes * stats.Degree
			}
			order = append(order, v)
			grow(fix, nodes*size, cost+nodes*size+read)
			order = order[:len(order)-1]
		}
	}
	grow(group, 1, 0)
	out := make([][]int, len(best))
	for i, g := range best {
		out[i] = g.order
	}
	return out
}

// orbitOf is where the permutations take v, with those that leave it.
func orbitOf(stable []pattern.Perm, v int) (orbit []int, fix []pattern.Perm) {
	seen := [pattern.MaxVertices]bool{}
	for _, s := range stable {
		x := int(s[v])
		if !seen[x] {
			seen[x] = true
			orbit = append(orbit, x)
		}
		if x == v {
			fix = append(fix, s)
		}
	}
	return orbit, fix
}
