package sample

import (
	"fmt"
	"math"
	"sort"

	"sagann/chunk"
	"sagann/sample/cuda"
)

// Method says how a draw in proportion to edge weights is made. All methods have the same
// probabilities. They differ in memory and time, and the same seed gives other samples.
// Without replacement, Alias, Inverse and Rejection drop a draw that repeats an edge and draw
// again; after 64·Size draws of a row, Race draws the rest.
type Method int

const (
	// Alias reads one entry of an alias table, 8 bytes per edge (Walker, 1977; Vose, 1991).
	Alias Method = iota
	// Inverse does a binary search in a row's prefix sums of weights, 4 bytes per edge. A
	// probability is off by less than 2⁻³².
	Inverse
	// Rejection picks edges with equal probability until it accepts one, with probability
	// weight / largest weight of the row. Its table takes 4 bytes per vertex. The expected
	// number of tries is the largest weight over the mean weight.
	Rejection
	// Race draws an exponential time for every edge, with its weight as rate, and takes the
	// edges with the smallest times. It has no table, and reads the whole row. It is for draws
	// by Score without replacement only.
	Race
)

// tables are the tables that draws by weight read; nil where no draw needs one.
type tables struct {
	alias   []aliasEntry
	inverse []uint32
	most    []float32
}

// aliasEntry belongs to a place of a row. A draw keeps the place if a random word is below Cut,
// and else takes the place Other.
type aliasEntry = cuda.Alias

// noPlace is Other in rows whose weights are all 0.
const noPlace = math.MaxUint32

// EdgeError says that an edge has a number that cannot be drawn by.
type EdgeError struct {
	Edge uint32 // number in the list of edges that the Graph was made of
	Has  string // what it has, and what it should have
}

// Error names the edge by its number.
func (e *EdgeError) Error() string { return fmt.Sprintf("edge %d has %s", e.Edge, e.Has) }

// badWeight says that an edge has a weight by which nothing is drawn.
func badWeight(edge uint32, w float32) error {
	return &EdgeError{edge, fmt.Sprintf("weight %v: draws by weight need weights of 0 or more, and finite", w)}
}

// checkWeights refuses negative weights and NaN.
func (g *Graph) checkWeights() error {
	if i := chunk.First(len(g.Weight), func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if !(g.Weight[i] >= 0) {
				return i
			}
		}
		return -1
	}); i >= 0 {
		return badWeight(g.Edge[i], g.Weight[i])
	}
	return nil
}

// need builds the tables that the code reads.
func (t *tables) need(g *Graph, c *code) error {
	for _, x := range c.list {
		if x.op != opAlias && x.op != opInverse && x.op != opMost || g.Weight == nil {
			continue
		}
		if err := g.checkWeights(); err != nil {
			return err
		}
		t.make(g, g.Weight, x.op)
	}
	return nil
}

// needScores builds the table that draws by Score read.
func (t *tables) needScores(p *Program) error {
	switch p.s.Method {
	case Alias:
		t.make(p.g, p.scores, opAlias)
	case Inverse:
		t.make(p.g, p.scores, opInverse)
	case Rejection:
		t.make(p.g, p.scores, opMost)
	case Race:
		if p.s.Replace {
			return p.errorf("the method Race draws without replacement, and Replace is set")
		}
	}
	return nil
}

// make builds the table of an operation from weights, unless it exists.
func (t *tables) make(g *Graph, weights []float32, of op) {
	fill := func(lo, hi int) {
		for v := lo; v < hi; v++ {
			for _, w := range weights[g.Offsets[v]:g.Offsets[v+1]] {
				t.most[v] = max(t.most[v], w)
			}
		}
	}
	switch {
	case of == opAlias && t.alias == nil:
		t.alias = make([]aliasEntry, g.Edges())
		fill = func(lo, hi int) { g.fillAlias(weights, t.alias, lo, hi) }
	case of == opInverse && t.inverse == nil:
		t.inverse = make([]uint32, g.Edges())
		fill = func(lo, hi int) { g.fillInverse(weights, t.inverse, lo, hi) }
	case of == opMost && t.most == nil:
		t.most = make([]float32, g.Vertices())
	default:
		return
	}
	chunk.Ranges(g.Vertices(), fill)
}

// fillAlias makes the alias tables of rows lo to hi-1.
func (g *Graph) fillAlias(weights []float32, alias []aliasEntry, lo, hi int) {
	var v vose
	for r := lo; r < hi; r++ {
		v.fill(weights[g.Offsets[r]:g.Offsets[r+1]], alias[g.Offsets[r]:g.Offsets[r+1]])
	}
}

// vose makes alias tables by Vose's method.
type vose struct {
	share        []float64
	small, large []uint32
}

// fill makes the table of weights w.
func (v *vose) fill(w []float32, row []aliasEntry) {
	share, small, large := v.share[:0], v.small[:0], v.large[:0]
	sum := 0.0
	for _, x := range w {
		sum += float64(x)
	}
	if sum == 0 {
		for i := range row {
			row[i].Other = noPlace
		}
		return
	}
	for i, x := range w {
		share = append(share, float64(x)/sum*float64(len(w)))
		if share[i] < 1 {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
		row[i] = aliasEntry{Cut: math.MaxUint32, Other: uint32(i)}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		row[s] = aliasEntry{Cut: uint32(share[s] * (1 << 32)), Other: l}
		if share[l] -= 1 - share[s]; share[l] < 1 {
			large, small = large[:len(large)-1], append(small, l)
		}
	}
	for _, s := range small { // their shares are 1 up to rounding, or their weights are 0
		if w[s] == 0 {
			row[s] = aliasEntry{Other: heaviest(w)}
		}
	}
	v.share, v.small, v.large = share, small, large
}

func heaviest(w []float32) uint32 {
	best := 0
	for i, x := range w {
		if x > w[best] {
			best = i
		}
	}
	return uint32(best)
}

// fillInverse makes the prefix sums of rows lo to hi-1, in units of 2⁻³² of the row's sum. They
// are math.MaxUint32 from the last edge with a weight above 0 on. Rows whose weights are all 0
// have zeros.
func (g *Graph) fillInverse(weights []float32, inverse []uint32, lo, hi int) {
	for v := lo; v < hi; v++ {
		w, row := weights[g.Offsets[v]:g.Offsets[v+1]], inverse[g.Offsets[v]:g.Offsets[v+1]]
		sum, last := 0.0, -1
		for i, x := range w {
			sum += float64(x)
			if x > 0 {
				last = i
			}
		}
		before := 0.0
		for i, x := range w {
			before += float64(x)
			switch {
			case last >= 0 && i >= last:
				row[i] = math.MaxUint32
			case last >= 0:
				row[i] = uint32(min(before/sum*(1<<32), math.MaxUint32-1))
			}
		}
	}
}

// aliasPlace draws a place of the row of v by two random words. It is -1 if the row is empty or
// its weights are all 0.
func (p *Program) aliasPlace(v int64, a, b uint32) int64 {
	lo, n := p.span(v)
	if n == 0 {
		return -1
	}
	i := below(a, n)
	if p.tables.alias == nil {
		return int64(i)
	}
	x := p.tables.alias[lo+int64(i)]
	if b < x.Cut {
		return int64(i)
	}
	if x.Cut == 0 && x.Other == noPlace {
		return -1
	}
	return int64(x.Other)
}

// inversePlace draws a place of the row of v by a random word. It is -1 if the row is empty or
// its weights are all 0.
func (p *Program) inversePlace(v int64, word uint32) int64 {
	lo, n := p.span(v)
	if n == 0 {
		return -1
	}
	row := p.tables.inverse[lo : lo+int64(n)]
	if row[n-1] == 0 {
		return -1
	}
	word = min(word, math.MaxUint32-1)
	return int64(sort.Search(n-1, func(i int) bool { return row[i] > word }))
}

// span is where the row of a vertex begins, and its length. Both are 0 if v is no vertex.
func (p *Program) span(v int64) (lo int64, n int) {
	if v < 0 || v >= int64(p.g.Vertices()) {
		return 0, 0
	}
	lo = p.g.Offsets[v]
	return lo, int(p.g.Offsets[v+1] - lo)
}
