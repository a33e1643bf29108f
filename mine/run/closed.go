package run

import (
	"context"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// closedNeed is the memory, shared and for each worker, that triangles at edges take.
func closedNeed(r *rows.Rows) (shared, worker int64) {
	v := int64(r.V())
	return 4*r.Edges() + 8*(v+1), 4*v + 8*int64(r.MaxAbove) + 4*min(mostOwn, r.Edges())
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
	err = r.each(ctx, newPool(g, uncut), func(w int) func(task) {
		c := &ws[w]
		*c = closer{place: make([]uint32, g.V()), found: make([]uint32, g.MaxAbove), own: make([]uint32, g.MaxAbove), shared: r.Workers > 1}
		if c.shared {
			c.last = make([]uint32, g.Edges()-lastFrom)
		}
		return func(tk task) {
			u := tk.root
			around := g.Above(u)
			if len(around) < 2 {
				return
			}
			for i, v := range around {
				c.place[v] = uint32(i) + 1
			}
			own := c.own[:len(around)]
			clear(own)
			for i, v := range around[:len(around)-1] { // the last one has no neighbour above it among them
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
	err := quiet.each(ctx, newPool(g, uncut), func(w int) func(task) {
		s := &ws[w]
		return func(k task) {
			u := k.root
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
