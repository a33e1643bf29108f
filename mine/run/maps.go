package run

import (
	"context"
	"math/bits"

	"sagann/mine/plan"
	"sagann/mine/rows"
)

// MapsNeed is the bytes that counting maps takes, shared and for each worker. Shared are the
// triangles at the entries of rows, and the shared vectors. Each worker has a number for each vertex and
// each node; nodes next to the root have one for each neighbour.
func MapsNeed(m *plan.Maps, w plan.MapsWork, r *rows.Rows) (shared, worker int64) {
	v := int64(r.V())
	if w.Closed {
		s, own := closedNeed(r)
		shared, worker = 8*r.Edges()+s, own
	}
	shared += 8 * v * int64(len(m.Shared))
	own := int64(0)
	for _, n := range m.Nodes {
		switch {
		case n.Kind == plan.Near:
			own += 8 * int64(r.MaxDegree)
		default:
			own += 8 * v
		}
		if n.Kind == plan.Spread {
			own += 4 * v
		}
		if n.Dense {
			own += 8 * v
		}
	}
	return shared, max(worker, own)
}

// thirdWork is about how many entries of rows Degrees reads to estimate Degrees.Third.
const thirdWork = 1 << 24

// Degrees computes the sums from which the work of counting maps is estimated. Two, Three and Third
// are estimates: they look at some vertices only, evenly spread over the order of degree.
func Degrees(r *rows.Rows) plan.Degrees {
	d := plan.Degrees{Vertices: float64(r.V()), Entries: float64(len(r.Col)), Most: float64(max(r.MaxDegree, 1))}
	for v := range r.V() {
		n := float64(r.Degree(uint32(v)))
		d.Squares += n * n
	}
	samples := min(r.V(), 256)
	each := d.Vertices / float64(max(samples, 1))
	two := newReach(r)
	for i := range samples {
		near := two.of(r.Of(uint32((2*i + 1) * r.V() / (2 * samples))))
		d.Two += float64(len(near)) * each
		for _, u := range near {
			d.Three += float64(r.Degree(u)) * each
		}
	}
	third := newReach(r)
	samples = min(samples, max(4, thirdWork/max(int(d.Three/max(d.Vertices, 1)), 1)))
	for i := range samples {
		far := third.of(two.of(r.Of(uint32((2*i + 1) * r.V() / (2 * samples)))))
		d.Third += float64(len(far)) * d.Vertices / float64(samples)
	}
	return d
}

// reach finds the neighbours of sets of vertices.
type reach struct {
	rows *rows.Rows
	seen []uint64
	list []uint32
}

func newReach(r *rows.Rows) *reach { return &reach{rows: r, seen: make([]uint64, r.Words)} }

// of is all neighbours of the vertices in the list, each once. It is valid until the next call.
func (x *reach) of(list []uint32) []uint32 {
	x.list = x.list[:0]
	for _, v := range list {
		for _, u := range x.rows.Of(v) {
			if x.seen[u>>6]>>(u&63)&1 == 0 {
				x.seen[u>>6] |= 1 << (u & 63)
				x.list = append(x.list, u)
			}
		}
	}
	for _, u := range x.list {
		x.seen[u>>6] = 0
	}
	return x.list
}

// Maps counts the maps of a pattern. c may be nil if plan.MapsWork.Closed is false.
func (r *Run) Maps(ctx context.Context, m *plan.Maps, c Closed) (Total, error) {
	shared := r.SharedMaps(m, c)
	pool := newPool(r.Rows, uncut)
	ws := make([]*mapper, r.Workers)
	err := r.each(ctx, pool, func(w int) func(task) {
		ws[w] = newMapper(m, r.Rows, c, shared)
		return func(t task) { ws[w].root(t.root) }
	})
	var sum Total
	for _, w := range ws {
		sum.AddTotal(w.total)
	}
	return sum, err
}

// SharedMaps computes the shared vectors of m, a number for each vertex.
func (r *Run) SharedMaps(m *plan.Maps, c Closed) [][]uint64 {
	shared := make([][]uint64, len(m.Shared))
	for i := range m.Shared {
		shared[i] = r.sharedMaps(&m.Shared[i], c, shared)
	}
	return shared
}

// sharedMaps computes one shared vector from those before it.
func (r *Run) sharedMaps(s *plan.Shared, c Closed, shared [][]uint64) []uint64 {
	g := r.Rows
	at := make([]uint64, g.V())
	for v := range at {
		x := power(uint64(g.Degree(uint32(v))), s.Leaves)
		for _, k := range s.Of {
			x *= shared[k][v]
		}
		at[v] = x
	}
	out := make([]uint64, g.V())
	for v := range out {
		out[v] = pulled(at, g.Of(uint32(v)), entries(c, g, uint32(v)), s.Closed)
	}
	return out
}

// entries is the triangles at the edges of the row of v; nil if c is nil.
func entries(c Closed, g *rows.Rows, v uint32) []uint32 {
	if c == nil {
		return nil
	}
	return c[g.Off[v]:g.Off[v+1]]
}

func power(x uint64, k int) uint64 {
	y := uint64(1)
	for range k {
		y *= x
	}
	return y
}

// pulled is Σ t^k·x[v] over the vertices v of the row.
func pulled(x []uint64, row, t []uint32, k int) uint64 {
	sum := uint64(0)
	switch k {
	case 0:
		for _, v := range row {
			sum += x[v]
		}
	case 1:
		t = t[:len(row)]
		for i, v := range row {
			sum += x[v] * uint64(t[i])
		}
	default:
		t = t[:len(row)]
		for i, v := range row {
			sum += x[v] * power(uint64(t[i]), k)
		}
	}
	return sum
}

// mapper is one worker that counts maps.
type mapper struct {
	m      *plan.Maps
	rows   *rows.Rows
	closed Closed
	shared [][]uint64
	list   [][]uint64 // by node, near and far ones: numbers in the order of the support
	dense  [][]uint64 // by node, spreads and dense ones: a number for each vertex, all 0 between roots
	ends   [][]uint32 // by node, spreads: the vertices where they are not 0
	top    []bool     // by node: see plan.Maps.Tops
	total  Total
	_      [64]byte
}

func newMapper(m *plan.Maps, r *rows.Rows, c Closed, shared [][]uint64) *mapper {
	w := &mapper{m: m, rows: r, closed: c, shared: shared}
	k := len(m.Nodes)
	w.top = m.Tops()
	w.list, w.dense, w.ends = make([][]uint64, k), make([][]uint64, k), make([][]uint32, k)
	for i, n := range m.Nodes {
		switch n.Kind {
		case plan.Near:
			w.list[i] = make([]uint64, r.MaxDegree)
		case plan.Far:
			w.list[i] = make([]uint64, r.V())
		case plan.Spread:
			w.ends[i] = make([]uint32, 0, r.V())
		}
		if n.Dense || n.Kind == plan.Spread {
			w.dense[i] = make([]uint64, r.V())
		}
	}
	return w
}

// root adds the maps that send the pattern's root to a.
func (w *mapper) root(a uint32) {
	if w.rows.Degree(a) == 0 {
		return
	}
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		if n.Kind == plan.Spread {
			w.spread(i, n, a)
			continue
		}
		w.node(i, n, a)
	}
	product, last := Total{Lo: 1}, len(w.m.Sums)-1
	for k, i := range w.m.Sums {
		s := w.sum(i, &w.m.Nodes[i], a)
		if k == last && product == (Total{Lo: 1}) {
			product = s
		} else {
			product = product.times(s)
		}
	}
	w.total.AddTotal(product)
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		if w.dense[i] == nil {
			continue
		}
		for _, v := range w.support(i, n, a) {
			w.dense[i][v] = 0
		}
	}
	for i := range w.ends {
		w.ends[i] = w.ends[i][:0]
	}
}

// support is the vertices where a node has numbers.
func (w *mapper) support(i int, n *plan.Node, a uint32) []uint32 {
	switch n.Kind {
	case plan.Near:
		return w.rows.Of(a)
	case plan.Far:
		return w.ends[n.Of[0]]
	}
	return w.ends[i]
}

// factors is the product of a node's factors at v, the j-th vertex of its support, without its
// pulls and spreads.
func (w *mapper) factors(n *plan.Node, a, v uint32, j int) uint64 {
	x := uint64(1)
	if n.Leaves > 0 {
		x = power(uint64(w.rows.Degree(v)), n.Leaves)
	}
	if n.AtRoot > 0 {
		x *= power(uint64(w.closed[w.rows.Off[a]+int64(j)]), n.AtRoot)
	}
	for _, s := range n.Shared {
		x *= w.shared[s][v]
	}
	return x
}

// at returns two factors whose product is the number of node i at v, the j-th vertex of its support.
// Their product may need more than 64 bits if the node is a top.
func (w *mapper) at(i int, n *plan.Node, a, v uint32, j int) (x, last uint64) {
	if n.Kind == plan.Spread {
		return w.dense[i][v], 1
	}
	x, last = w.factors(n, a, v, j), 1
	for k, p := range n.Pulls {
		if x == 0 {
			return 0, 0
		}
		if k > 0 {
			x *= last
		}
		last = pulled(w.dense[p.From], w.rows.Of(v), entries(w.closed, w.rows, v), p.Closed)
	}
	for k, s := range n.Of {
		if k > 0 {
			x *= last
		}
		last = w.dense[s][v]
	}
	return x, last
}

// node computes the numbers of a near or far node, unless it is a top.
func (w *mapper) node(i int, n *plan.Node, a uint32) {
	if w.top[i] {
		return
	}
	list := w.list[i]
	for j, v := range w.support(i, n, a) {
		x, last := w.at(i, n, a, v, j)
		list[j] = x * last
		if n.Dense {
			w.dense[i][v] = x * last
		}
	}
}

// sum is the sum of a top's numbers.
func (w *mapper) sum(i int, n *plan.Node, a uint32) (s Total) {
	for j, v := range w.support(i, n, a) {
		s.AddProduct(w.at(i, n, a, v, j))
	}
	return s
}

// spread computes a spread: it adds each number of node From to all neighbours of its vertex.
func (w *mapper) spread(i int, n *plan.Node, a uint32) {
	from := &w.m.Nodes[n.From]
	dense, ends, list := w.dense[i], w.ends[i][:cap(w.ends[i])], w.list[n.From]
	k := 0
	again := from.Kind == plan.Spread
	for j, v := range w.support(n.From, from, a) {
		var x uint64
		if again {
			x = w.dense[n.From][v]
		} else {
			x = list[j]
		}
		if x == 0 {
			continue
		}
		row := w.rows.Of(v)
		switch n.Closed {
		case 0:
			for _, u := range row {
				before := dense[u]
				if before == 0 {
					ends[k] = u
					k++
				}
				dense[u] = before + x
			}
		default:
			t := entries(w.closed, w.rows, v)[:len(row)]
			for e, u := range row {
				y := x * uint64(t[e])
				if n.Closed > 1 {
					y *= power(uint64(t[e]), n.Closed-1)
				}
				if y == 0 {
					continue
				}
				before := dense[u]
				if before == 0 {
					ends[k] = u
					k++
				}
				dense[u] = before + y
			}
		}
	}
	w.ends[i] = ends[:k]
}

// times is the product, which must fit into 128 bits.
func (t Total) times(u Total) Total {
	hi, lo := bits.Mul64(t.Lo, u.Lo)
	return Total{hi + t.Hi*u.Lo + t.Lo*u.Hi, lo}
}
