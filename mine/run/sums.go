package run

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// SumsNeed is the bytes that the sums of a formula take, shared and for each worker.
// Sums over triangles at edges keep a number for each edge. For cycles each worker has a counter for
// each vertex and a list, for triangles a bit for each vertex.
func SumsNeed(r *rows.Rows, f pattern.Formula) (shared, worker int64) {
	for _, t := range f {
		switch t.Of {
		case pattern.EdgePairs, pattern.Tails:
			s, each := closedNeed(r)
			shared, worker = s, max(worker, each)
		case pattern.Triangles:
			worker = max(worker, CliquesNeed(r, 3))
		case pattern.FourCycles, pattern.FiveWalks:
			worker = max(worker, walkNeed(r))
		case pattern.FourCliques:
			worker = max(worker, CliquesNeed(r, 4))
		}
	}
	return shared, worker
}

// Sums computes the quantities of a formula. Rows are in order of degree.
func (r *Run) Sums(ctx context.Context, f pattern.Formula) (map[pattern.Quantity]Total, error) {
	out := map[pattern.Quantity]Total{}
	for _, t := range f {
		out[t.Of] = Total{}
	}
	_, pairs := out[pattern.EdgePairs]
	_, tails := out[pattern.Tails]
	parts := len(out)
	if pairs || tails {
		if err := r.part(0, parts).atEdges(ctx, out); err != nil {
			return nil, err
		}
	}
	for i, q := range slices.Sorted(maps.Keys(out)) {
		var err error
		r := r.part(i, parts)
		switch {
		case q == pattern.Triangles && !pairs && !tails:
			out[q], err = r.triangles(ctx)
		case q == pattern.FourCycles:
			out[q], err = r.fourCycles(ctx)
		case q == pattern.FourCliques:
			out[q], err = r.Cliques(ctx, 4)
		case q == pattern.FiveWalks:
			out[q], err = r.FiveWalks(ctx)
		case q == pattern.EdgePaths:
			out[q] = r.edgePaths()
		case q > pattern.Stars:
			out[q], err = Stars(r.Rows, int(q-pattern.Stars))
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// part is the run for part i of k equal parts of the work; its progress is reported as such.
func (r *Run) part(i, k int) *Run {
	s := *r
	if r.Report != nil {
		s.Report = func(done float64) { r.Report((float64(i) + done) / float64(k)) }
	}
	return &s
}

// Stars is Σ C(d, k) over the vertices; for k = 1 the number of edges.
func Stars(r *rows.Rows, k int) (Total, error) {
	if k == 1 {
		return Total{Lo: uint64(r.Edges())}, nil
	}
	var sum Total
	for v := range r.V() {
		c, ok := choose(uint64(r.Degree(uint32(v))), k)
		before := sum
		sum.AddTotal(c)
		if !ok || sum.Hi < before.Hi {
			return Total{}, ErrOverflow
		}
	}
	return sum, nil
}

// choose is C(n, k), and whether it fits.
func choose(n uint64, k int) (Total, bool) {
	if n < uint64(k) {
		return Total{}, true
	}
	c := Total{Lo: 1}
	for i := uint64(0); i < uint64(k); i++ { // C(n, i+1) = C(n, i)·(n-i)/(i+1), an exact division
		hi1, lo := bits.Mul64(c.Lo, n-i)
		hi2, mid := bits.Mul64(c.Hi, n-i)
		mid, carry := bits.Add64(mid, hi1, 0)
		top := hi2 + carry
		if top >= i+1 {
			return Total{}, false
		}
		var rest uint64
		c.Hi, rest = bits.Div64(top, mid, i+1)
		c.Lo, _ = bits.Div64(rest, lo, i+1)
	}
	return c, true
}

// edgePaths is Σ over edges (d(u)-1)·(d(v)-1).
func (r *Run) edgePaths() Total {
	var sum Total
	for u := range r.Rows.V() {
		d := uint64(r.Rows.Degree(uint32(u)))
		n := uint64(0) // below E·2^32
		for _, v := range r.Rows.Above(uint32(u)) {
			n += uint64(r.Rows.Degree(v) - 1)
		}
		if n > 0 {
			sum.AddProduct(n, d-1)
		}
	}
	return sum
}

// triangles counts each triangle at its lowest vertex u: for each neighbour v above u, it counts the
// neighbours above v that are marked as neighbours of u.
func (r *Run) triangles(ctx context.Context) (Total, error) {
	type state struct {
		mark []uint64
		n    uint64 // a graph of E < 2^36 edges has fewer than E^1.5 < 2^54 triangles
		_    [64]byte
	}
	ws := make([]state, r.Workers)
	err := r.each(ctx, newPool(r.Rows, uncut), func(w int) func(task) {
		s := &ws[w]
		s.mark = make([]uint64, r.Rows.Words)
		return func(t task) {
			around := r.Rows.Above(t.root)
			if len(around) < 2 {
				return
			}
			for _, v := range around {
				s.mark[v>>6] |= 1 << (v & 63)
			}
			for _, v := range around[:len(around)-1] { // the last one has no neighbour above it among them
				s.n += hits(s.mark, r.Rows.Above(v))
			}
			for _, v := range around {
				s.mark[v>>6] = 0
			}
		}
	})
	var sum Total
	for i := range ws {
		sum.Add(ws[i].n)
	}
	return sum, err
}

// hits counts the members of list that are marked.
func hits(mark []uint64, list []uint32) uint64 {
	n := uint64(0)
	for _, v := range list {
		n += mark[v>>6] >> (v & 63) & 1
	}
	return n
}
