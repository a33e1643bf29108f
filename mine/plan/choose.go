package plan

import (
	"cmp"
	"math"
	"slices"

	"sagann/mine/pattern"
)

// Stats is the facts about a graph from which the first guess is made.
type Stats struct {
	Vertices float64
	Degree   float64 // mean degree of the ends of edges: Σd²/Σd
	Close    float64 // share of wedges whose ends are neighbours, 0 to 1
	Labels   func(label int32) float64
	// Labels returns the share of the vertices that have the label; nil: 1.
}

// Classes is the number of classes that rows are divided into when their reads are counted. All
// classes have about the same number of entries. There are few enough of them to be estimated with
// some hundred walks, and enough of them to separate the vertices of highest degree from others.
const Classes = 64

// Reads is how often a row of each class is read; all 0: not known.
type Reads [Classes]float64

// Estimate is what a plan is expected to do.
type Estimate struct {
	Nodes []float64 // by level: how many vertices are bound; for the last level: matches
	Loops int       // number of levels that are loops; the levels below are counted without a loop
	Work  float64   // elements of sets that are read
	// Merged is the elements read by merging two sorted lists, as a CPU does.
	Merged float64
	// Reads is how often a row is read to make a set, by class of rows in order of degree.
	Reads Reads
	Walks int // random walks of the estimate; 0: it is a guess from Stats
	// Error is the relative standard error of the number of matches; 0 where Walks is 0.
	Error float64
}

// bind is the cost of binding a vertex, apart from making its sets: as much as reading so many
// elements of sets. It was measured.
const bind = 8

// Cost is the expected cost in elements read; binding a vertex counts as reading a few.
func (e Estimate) Cost() float64 {
	cost := e.Work
	for _, n := range e.Nodes[:e.Loops] {
		cost += bind * n
	}
	return cost
}

// Sampler measures plans on a graph by random walks.
type Sampler interface {
	// Sample estimates what the plan does, and reads about work elements. Equal plans get equal
	// estimates.
	Sample(p *Plan, work int64) Estimate
}

// Bounds of the search in Choose.
const (
	measured = 4       // number of orders, the best by guess, that are sampled in both directions
	leastOf  = 1 << 13 // least number of elements that a sample reads
	mostOf   = 1 << 22 // most elements that a sample reads
	larger   = 8       // the next samples read this many times as much
	planning = 4       // samples read at most this fraction (1/planning) of what counting is expected to read
)

// Choose returns the plan for counting that is expected to be fastest. It considers all connected
// matching orders, one of each orbit under the group, and ranks them by a guess. The best are
// sampled, with the order constraints in both directions. Sampling is repeated with longer samples
// as long as counting is expected to take much longer. edges bounds the sampling, too: a sample
// reads at most a quarter as many elements.
func Choose(p pattern.Pattern, where *pattern.Expr, stats Stats, edges int64, s Sampler) (best *Plan, of Estimate, err error) {
	var all []*Plan
	for _, order := range orders(p, where, stats) {
		for _, down := range []bool{false, true} {
			pl, err := New(p, where, order, Options{Descending: down})
			if err != nil {
				return nil, Estimate{}, err
			}
			if !down || len(pl.Less) > 0 {
				all = append(all, pl)
			}
		}
	}
	most := max(leastOf, min(edges/4, mostOf))
	for work := int64(leastOf); ; work = min(larger*work, most) {
		best = nil
		for _, pl := range all {
			if e := s.Sample(pl, work); best == nil || e.Cost() < of.Cost() {
				best, of = pl, e
			}
		}
		if work == most || of.Cost() < planning*float64(larger*work*int64(len(all))) {
			return best, of, nil
		}
	}
}

// Listing returns the plan for listing matches in their order. It binds pattern vertex 0
// first, then always the lowest pattern vertex adjacent to one before it. Of each orbit
// it keeps the match that comes first. The plan does not depend on the graph, but the
// graph's vertices must be in the order of the user's numbers.
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

// orders lists the best matching orders by a guess of their costs. The guess is that the neighbours
// of one vertex are Degree elements, that intersecting with the neighbours of another leaves the
// share Close of them, and that an order constraint leaves half.
func orders(p pattern.Pattern, where *pattern.Expr, stats Stats) [][]int {
	g := guesser{p: p, stats: stats}
	g.grow(p.Group(where), 0)
	out := make([][]int, len(g.best))
	for i, b := range g.best {
		out[i] = b.order
	}
	return out
}

// guesser tries matching orders.
type guesser struct {
	p     pattern.Pattern
	stats Stats
	order []int
	nodes [pattern.MaxVertices]float64 // by level of order
	best  []guess
}

// grow tries all ways to extend the order so far. stable are the permutations that fix all
// vertices of the order. cost is the guess so far.
func (g *guesser) grow(stable []pattern.Perm, cost float64) {
	if len(g.best) == measured && cost >= g.best[measured-1].cost {
		return
	}
	l := len(g.order)
	if l == g.p.Vertices() {
		g.best = append(g.best, guess{slices.Clone(g.order), cost})
		slices.SortStableFunc(g.best, func(a, b guess) int { return cmp.Compare(a.cost, b.cost) })
		g.best = g.best[:min(len(g.best), measured)]
		return
	}
	for v := range g.p.Vertices() {
		around, last := 0, 0 // neighbours before v, and the level of the last one
		for m, w := range g.order {
			if g.p.Adjacent(v, w) {
				around, last = around+1, m
			}
		}
		orbit, fix := orbitOf(stable, v)
		if slices.Contains(g.order, v) || slices.Min(orbit) != v || l > 0 && around == 0 {
			continue
		}
		size, before, more := g.stats.Vertices, 1.0, 0.0
		if l > 0 {
			before = g.nodes[l-1]
			size = g.stats.Degree * math.Pow(g.stats.Close, float64(around-1)) / float64(len(orbit))
			// The level before is a loop, unless the last two are counted together.
			if l < g.p.Vertices()-1 || last == l-1 {
				more = bind * before
			}
		}
		if g.stats.Labels != nil && g.p.Label(v) != pattern.AnyLabel {
			size *= g.stats.Labels(g.p.Label(v))
		}
		if around > 1 {
			more += g.nodes[last] * g.stats.Degree
		}
		g.nodes[l] = before * size
		g.order = append(g.order, v)
		g.grow(fix, cost+more)
		g.order = g.order[:l]
	}
}

// orbitOf returns the orbit of v under the permutations, and those permutations that fix v.
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
