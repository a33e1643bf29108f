package run

import (
	"context"
	"slices"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// closedNeed is the bytes that counting triangles at edges takes, shared and for each worker.
func closedNeed(r *rows.Rows) (shared, worker int64) {
	v := int64(r.V())
	return 4*r.Edges() + 8*(v+1), 4*v + 8*int64(r.MaxAbove) + 2*min(mostOwn, r.Edges())
}

// AtEdges reports whether a quantity follows from the numbers of triangles at edges.
func AtEdges(q pattern.Quantity) bool {
	return q == pattern.EdgePairs || q == pattern.Tails || q == pattern.Triangles
}

// atEdges counts the triangles at edges, and computes from them the quantities that are keys of out.
func (r *Run) atEdges(ctx context.Context, out map[pattern.Quantity]Total) error {
	x, err := r.closed(ctx)
	if err != nil {
		return err
	}
	return r.fromEdges(ctx, x.pool, x.above, out)
}

// atEdge holds the number of triangles at each edge. For the last vertices the numbers are
// still split among the workers.
type atEdge struct {
	pool  *pool    // tasks for another pass over all vertices
	at    []int64  // by vertex: where its edges upwards begin in all
	all   []uint32 // by edge from a vertex upwards: its triangles
	first int      // the first vertex whose numbers are split
	ws    []closer // the workers
}

// above is the numbers at the edges from v upwards. It must be called only once for each vertex, as
// it adds the workers' numbers.
func (x *atEdge) above(v uint32) []uint32 {
	row := x.all[x.at[v]:x.at[v+1]]
	if int(v) < x.first {
		return row
	}
	from, to := x.at[v]-x.at[x.first], x.at[v+1]-x.at[x.first]
	for i := range x.ws {
		if x.ws[i].last != nil {
			for j, n := range x.ws[i].last[from:to] {
				row[j] += uint32(n)
			}
		}
	}
	return row
}

// closed counts the triangles at every edge.
func (r *Run) closed(ctx context.Context) (*atEdge, error) {
	g := r.Rows
	at := make([]int64, g.V()+1)
	for v := range g.V() {
		at[v+1] = at[v] + int64(g.Degree(uint32(v))) - int64(g.Mid[v])
	}
	t := make([]uint32, g.Edges()) // fewer than 2^32 triangles share an edge
	first := g.V()                 // from this vertex on, each worker has numbers of its own
	for first > 0 && g.Edges()-at[first-1] <= mostOwn {
		first--
	}
	lastFrom := at[first]
	ws := make([]closer, r.Workers)
	tasks := newPool(g, uncut)
	err := r.each(ctx, tasks, func(w int) func(task) {
		c := &ws[w]
		*c = closer{place: make([]uint32, g.V()), found: make([]uint32, g.MaxAbove), own: make([]uint32, g.MaxAbove), all: t[lastFrom:]}
		if r.Workers > 1 {
			c.last = make([]uint16, g.Edges()-lastFrom)
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
				list := g.Above(v)
				switch {
				case c.last == nil:
					c.close(own, i, list, t[at[v]:at[v+1]])
				case int(v) >= first:
					c.closeLast(own, i, list, int(at[v]-lastFrom))
				default:
					c.closeShared(own, i, list, t[at[v]:at[v+1]])
				}
			}
			for i, v := range around {
				c.place[v] = 0
				switch edge := at[u] + int64(i); {
				case own[i] == 0:
				case c.last == nil:
					t[edge] += own[i]
				case int(u) >= first:
					c.addLast(int(edge-lastFrom), own[i])
				default:
					atomic.AddUint32(&t[edge], own[i])
				}
			}
		}
	})
	return &atEdge{tasks.again(), at, t, first, ws}, err
}

// Closed is the number of triangles at the edge of each entry of Rows.Col.
type Closed []uint32

// Closed counts the triangles at all edges.
func (r *Run) Closed(ctx context.Context) (Closed, error) {
	x, err := r.closed(ctx)
	if err != nil {
		return nil, err
	}
	g := r.Rows
	c := make(Closed, len(g.Col))
	quiet := *r
	quiet.Report = nil // this pass is too short to report progress
	below := x.pool.again()
	err = quiet.each(ctx, x.pool, func(int) func(task) {
		return func(k task) { copy(c.above(g, k.root), x.above(k.root)) }
	})
	if err != nil {
		return nil, err
	}
	return c, quiet.each(ctx, below, func(int) func(task) {
		return func(k task) {
			row := entries(c, g, k.root)
			for i, v := range g.Below(k.root) {
				j, _ := slices.BinarySearch(g.Above(v), k.root)
				row[i] = c.above(g, v)[j]
			}
		}
	})
}

// above are the triangles at the edges from v upwards.
func (c Closed) above(g *rows.Rows, v uint32) []uint32 {
	return c[g.Off[v]+int64(g.Mid[v]) : g.Off[v+1]]
}

// SumsOf computes the quantities of a formula from the triangles at edges. All its quantities must
// follow from them (see AtEdges).
func (r *Run) SumsOf(ctx context.Context, c Closed, f pattern.Formula) (map[pattern.Quantity]Total, error) {
	out := map[pattern.Quantity]Total{}
	for _, t := range f {
		out[t.Of] = Total{}
	}
	return out, r.fromEdges(ctx, newPool(r.Rows, uncut), func(v uint32) []uint32 { return c.above(r.Rows, v) }, out)
}

// mostOwn bounds the edges for which each worker has numbers of its own, if there are several
// workers. They are the edges of the last vertices, the ones of highest degree: nearly all
// triangles lie there, and the numbers fit into a core's cache.
const mostOwn = 1 << 20

// closer is one worker that counts triangles at edges.
type closer struct {
	place []uint32 // by vertex: 1 + its number among the root's neighbours above it, or 0
	found []uint32 // positions of those members of a row that have a place
	own   []uint32 // numbers at the root's edges
	last  []uint16 // numbers at the last vertices' edges, their low 16 bits; nil with one worker
	all   []uint32 // numbers at the last vertices' edges, shared: last overflows into them, rarely
	_     [64]byte
}

// find finds which members of the list have a place.
func (c *closer) find(list []uint32) []uint32 {
	k := 0
	for j, x := range list {
		if k < len(c.found) { // written without a branch on p; see matrix.members
			c.found[k] = uint32(j)
		}
		p := c.place[x]
		k += int((p | -p) >> 31)
	}
	return c.found[:k]
}

// close, closeLast and closeShared count the triangles of the root and its i-th neighbour, and add
// each to the numbers of its three edges. list is the neighbours above that neighbour, own the numbers of
// the root's edges. The three differ in the numbers of the neighbour's edges: close adds to row,
// which no other worker writes; closeLast to the worker's own, from edge from on; closeShared adds
// to row atomically.

func (c *closer) close(own []uint32, i int, list, row []uint32) {
	found := c.find(list)
	own[i] += uint32(len(found))
	for _, j := range found {
		row[j]++
		own[c.place[list[j]]-1]++
	}
}

func (c *closer) closeLast(own []uint32, i int, list []uint32, from int) {
	found := c.find(list)
	own[i] += uint32(len(found))
	row := c.last[from : from+len(list)]
	for _, j := range found {
		row[j]++
		if row[j] == 0 {
			atomic.AddUint32(&c.all[from+int(j)], 1<<16)
		}
		own[c.place[list[j]]-1]++
	}
}

func (c *closer) closeShared(own []uint32, i int, list, row []uint32) {
	found := c.find(list)
	own[i] += uint32(len(found))
	for _, j := range found {
		atomic.AddUint32(&row[j], 1)
		own[c.place[list[j]]-1]++
	}
}

// addLast adds n at one of the last vertices' edges.
func (c *closer) addLast(edge int, n uint32) {
	n += uint32(c.last[edge])
	c.last[edge] = uint16(n)
	if n>>16 > 0 {
		atomic.AddUint32(&c.all[edge], n>>16<<16)
	}
}

// fromEdges computes the quantities that are keys of out. above(v) returns the triangles at the
// edges from v upwards.
func (r *Run) fromEdges(ctx context.Context, tasks *pool, above func(v uint32) []uint32, out map[pattern.Quantity]Total) error {
	type state struct {
		thrice       uint64
		pairs, tails Total
		_            [64]byte
	}
	g := r.Rows
	ws := make([]state, r.Workers)
	quiet := *r
	quiet.Report = nil // this pass is too short to report progress
	err := quiet.each(ctx, tasks, func(w int) func(task) {
		s := &ws[w]
		return func(k task) {
			u := k.root
			around := g.Above(u)
			for i, n := range above(u) {
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
