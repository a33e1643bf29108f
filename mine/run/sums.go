package run

import (
	"context"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// SumsNeed is the memory, shared and for each worker, that the sums of a formula take.
// Sums over triangles at edges keep a number an edge; 4-cycles a counter a vertex and
// worker; triangles a mark a vertex and worker.
func SumsNeed(r *rows.Rows, f pattern.Formula) (shared, worker int64) {
	v := int64(r.V())
	for _, t := range f {
		switch t.Of {
		case pattern.EdgePairs, pattern.Tails:
			s, each := closedNeed(r)
			shared, worker = s, max(worker, each)
		case pattern.Triangles:
			worker = max(worker, 8*int64(r.Words))
		case pattern.FourCycles:
			worker = max(worker, 8*v)
		case pattern.FourCliques:
			worker = max(worker, CliquesNeed(r, 4))
		}
	}
	return shared, worker
}

// closedNeed is the memory, shared and for each worker, that triangles at edges take.
func closedNeed(r *rows.Rows) (shared, worker int64) {
	v := int64(r.V())
	return 4*r.Edges() + 8*(v+1), 4*v + 8*int64(r.MaxAbove) + 4*min(mostOwn, r.Edges())
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

// part is the run for part i of k, whose progress is a part of the whole's.
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
	for i := uint64(0); i < uint64(k); i++ { // C(n, i+1) = C(n, i)·(n-i)/(i+1), without a rest
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

// triangles counts each triangle at its lowest vertex u: for its neighbours v above it,
// those above v that are marked as u's.
func (r *Run) triangles(ctx context.Context) (Total, error) {
	type state struct {
		mark []uint64
		n    uint64 // a graph of E < 2^36 edges has fewer than E^1.5 < 2^54 triangles
		_    [64]byte
	}
	ws := make([]state, r.Workers)
	for i := range ws {
		ws[i].mark = make([]uint64, r.Rows.Words)
	}
	err := r.each(ctx, newPool(r.Rows, uncut), func(w int, t task) {
		s := &ws[w]
		around := r.Rows.Above(t.root)
		if len(around) < 2 {
			return
		}
		for _, v := range around {
			s.mark[v>>6] |= 1 << (v & 63)
		}
		for _, v := range around {
			s.n += hits(s.mark, r.Rows.Above(v))
		}
		for _, v := range around {
			s.mark[v>>6] = 0
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

// fourCycles counts each cycle at its highest vertex u: two wedges u-v-w with v and w
// below u that end in the same w.
func (r *Run) fourCycles(ctx context.Context) (Total, error) {
	type state struct {
		count, ends []uint32
		total       Total
		_           [64]byte
	}
	ws := make([]state, r.Workers)
	for i := range ws {
		ws[i].count, ws[i].ends = make([]uint32, r.Rows.V()), make([]uint32, r.Rows.V())
	}
	err := r.each(ctx, newPool(r.Rows, uncut), func(w int, t task) {
		s, u := &ws[w], t.root
		below := r.Rows.Below(u)
		if len(below) < 2 {
			return
		}
		n, k := uint64(0), 0 // n < wedges·degree / 2 < 2^64
		for _, v := range below {
			for _, x := range r.Rows.Of(v) {
				if x >= u {
					break
				}
				c := s.count[x]
				if c == 0 {
					s.ends[k] = x
					k++
				}
				n += uint64(c)
				s.count[x] = c + 1
			}
		}
		for _, x := range s.ends[:k] {
			s.count[x] = 0
		}
		s.total.Add(n)
	})
	var sum Total
	for i := range ws {
		sum.AddTotal(ws[i].total)
	}
	return sum, err
}

// atEdges sums up what out asks for of the triangles at edges.
func (r *Run) atEdges(ctx context.Context, out map[pattern.Quantity]Total) error {
	at, t, err := r.closed(ctx)
	if err != nil {
		return err
	}
	return r.fromEdges(ctx, at, t, out)
}

// closed counts the triangles at every edge: those of the edges from v upwards stand from
// at[v] on, in the order of its row.
func (r *Run) closed(ctx context.Context) (at []int64, t []uint32, err error) {
	g := r.Rows
	at = make([]int64, g.V()+1) // where the numbers of the edges from v upwards begin
	for v := range g.V() {
		at[v+1] = at[v] + int64(g.Degree(uint32(v))) - int64(g.Mid[v])
	}
	t = make([]uint32, g.Edges()) // fewer than 2^32 triangles share an edge
	first := g.V()                // of the vertices whose edges upwards each worker counts for itself
	for first > 0 && g.Edges()-at[first-1] <= mostOwn {
		first--
	}
	lastFrom := at[first]
	ws := make([]closer, r.Workers)
	for i := range ws {
		ws[i] = closer{place: make([]uint32, g.V()), found: make([]uint32, g.MaxAbove), own: make([]uint32, g.MaxAbove), shared: r.Workers > 1}
		if ws[i].shared {
			ws[i].last = make([]uint32, g.Edges()-lastFrom)
		}
	}
	err = r.each(ctx, newPool(g, uncut), func(w int, tk task) {
		u, c := tk.root, &ws[w]
		around := g.Above(u)
		if len(around) < 2 {
			return
		}
		for i, v := range around {
			c.place[v] = uint32(i) + 1
		}
		own := c.own[:len(around)]
		clear(own)
		for i, v := range around {
			if c.shared && int(v) >= first {
				c.close(own, i, g.Above(v), c.last[at[v]-lastFrom:at[v+1]-lastFrom], false)
			} else {
				c.close(own, i, g.Above(v), t[at[v]:at[v+1]], c.shared)
			}
		}
		for i, v := range around {
			c.place[v] = 0
			if own[i] > 0 {
				c.add(&t[at[u]+int64(i)], own[i])
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	var wg sync.WaitGroup
	last := t[lastFrom:]
	for p := range r.Workers {
		lo, hi := len(last)*p/r.Workers, len(last)*(p+1)/r.Workers
		wg.Go(func() {
			for i := range ws {
				if ws[i].shared {
					for j, n := range ws[i].last[lo:hi] {
						last[lo+j] += n
					}
				}
			}
		})
	}
	wg.Wait()
	return at, t, nil
}

// mostOwn is how many edges, of the last vertices, each worker has numbers of its own for,
// where several work: they fit into a core's cache, and most triangles lie at them.
const mostOwn = 1 << 18

// closer is one worker that counts triangles at edges.
type closer struct {
	place  []uint32 // by vertex: 1 + its number among the root's neighbours above it, or 0
	found  []uint32 // which members of a row have a place
	own    []uint32 // of the root's edges
	last   []uint32 // of the last vertices' edges, where others count, too
	shared bool     // others count, too
	_      [64]byte
}

// add adds to a number of an edge, which others may do, too.
func (c *closer) add(to *uint32, n uint32) {
	if c.shared {
		atomic.AddUint32(to, n)
	} else {
		*to += n
	}
}

// close counts the triangles of the root and its i-th neighbour, whose neighbours above it
// are list, at their three edges: own are the worker's counts of the root's edges, others
// those of the neighbour's, which are shared with other workers or not.
func (c *closer) close(own []uint32, i int, list, others []uint32, shared bool) {
	k := 0
	for j, x := range list {
		if k < len(c.found) { // no branch on what is found; see matrix.members
			c.found[k] = uint32(j)
		}
		p := c.place[x]
		k += int((p | -p) >> 31)
	}
	if k == 0 {
		return
	}
	if shared {
		for _, j := range c.found[:k] {
			atomic.AddUint32(&others[j], 1)
			own[c.place[list[j]]-1]++
		}
	} else {
		for _, j := range c.found[:k] {
			others[j]++
			own[c.place[list[j]]-1]++
		}
	}
	own[i] += uint32(k)
}

// fromEdges sums up the triangles t at edges.
func (r *Run) fromEdges(ctx context.Context, at []int64, t []uint32, out map[pattern.Quantity]Total) error {
	type state struct {
		thrice       uint64
		pairs, tails Total
		_            [64]byte
	}
	g := r.Rows
	ws := make([]state, r.Workers)
	quiet := *r
	quiet.Report = nil // short
	err := quiet.each(ctx, newPool(g, uncut), func(w int, k task) {
		s, u := &ws[w], k.root
		around := g.Above(u)
		for i, n := range t[at[u]:at[u+1]] {
			c := uint64(n)
			s.thrice += c
			if c > 0 {
				s.pairs.Add(c * (c - 1) / 2)
				// A triangle at v has two of v's edges: Σv t(v)·(d(v)-2) = Σe t(e)·(d(u)+d(v)-4)/2.
				s.tails.AddProduct(c, uint64(g.Degree(u)+g.Degree(around[i])-4))
			}
		}
	})
	var thrice uint64
	var pairs, tails Total
	for i := range ws {
		thrice += ws[i].thrice
		pairs.AddTotal(ws[i].pairs)
		tails.AddTotal(ws[i].tails)
	}
	for q, sum := range map[pattern.Quantity]Total{pattern.Triangles: {Lo: thrice / 3}, pattern.EdgePairs: pairs, pattern.Tails: tails.Half()} {
		if _, ok := out[q]; ok {
			out[q] = sum
		}
	}
	return err
}
