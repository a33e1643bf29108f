package saga

import (
	"time"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
)

// The grid of a graph of several vertex types: each type is a run of intervals, and each relation has cells of its own between the
// intervals of the types at its ends.

// kindsAt is the vertex orders and the numbering of a graph of several types for a number of intervals.
type kindsAt struct {
	spans  []plan.Span
	orders []*chunk.Order // by type
	in     chunk.Intervals
}

// kindsFor is the orders and the numbering for n intervals. Only the last one is kept.
func (g *grids) kindsFor(n int) (*kindsAt, error) {
	if g.kinds != nil && g.p == n {
		return g.kinds, nil
	}
	defer since(&g.stages.Order, time.Now())
	k := g.in.kinds
	var vertices []int
	for i := range k.types {
		vertices = append(vertices, k.types[i].in.Edges.V)
	}
	at := &kindsAt{spans: spans(vertices, n)}
	width := 1
	var lens []int
	for t := range at.spans {
		s := &at.spans[t]
		width = max(width, s.Width)
		for i := range s.N {
			lens = append(lens, s.Rows(s.First+i))
		}
		at.orders = append(at.orders, g.orderOf(t, s))
	}
	var err error
	if at.in, err = chunk.Uneven(width, lens); err != nil {
		return nil, err
	}
	g.p, g.kinds, g.order = n, at, at.orders[k.target]
	return at, nil
}

// orderOf is the order of the vertices of type t over its intervals, balanced by the edges of all relations.
func (g *grids) orderOf(t int, s *plan.Span) *chunk.Order {
	if g.cfg.without("balance") {
		return chunk.Identity(s.V)
	}
	in, out, edges := make([]uint32, s.V), make([]uint32, s.V), 0
	for i := range g.in.kinds.relations {
		r := &g.in.kinds.relations[i]
		if r.dst == t {
			add(in, r.in.Edges.InDegrees())
		}
		if r.src == t {
			add(out, r.in.Edges.OutDegrees())
		}
		if r.dst == t || r.src == t {
			edges += r.in.Edges.E()
		}
	}
	n := s.N
	if (s.V+n-1)/n < s.Width { // empty ones count where one type alone would have them
		n = (s.V + s.Width - 1) / s.Width
	}
	if g.cfg.without("degree-sort") {
		return chunk.DealDegrees(in, out, edges, n)
	}
	return chunk.BalanceDegrees(in, out, edges, n)
}

func add(sum, x []uint32) {
	for i := range sum {
		sum[i] += x[i]
	}
}

// edges are the edges of relation r in the numbering of at.
func (g *grids) edgesAt(at *kindsAt, r int) *chunk.Edges {
	number := make([]func(uint32) uint32, len(at.spans))
	for t := range at.spans {
		s, o := at.spans[t], at.orders[t]
		number[t] = func(v uint32) uint32 {
			n := int(o.New[v])
			return uint32((s.First+n/s.Width)*at.in.Width + n%s.Width)
		}
	}
	return g.in.kinds.edgesOver(r, at.in.V, number)
}

// countedKinds are the sizes of the grid for n intervals.
func (g *grids) countedKinds(n int, want chunk.Wants) (*plan.Cells, error) {
	at, err := g.kindsFor(n)
	if err != nil {
		return nil, err
	}
	k := g.in.kinds
	if g.byRelation[n] == nil {
		defer since(&g.stages.Count, time.Now())
		var list []chunk.GridStats
		for r := range k.relations {
			list = append(list, chunk.StatsOver(g.edgesAt(at, r), at.in))
		}
		g.byRelation[n] = list
	}
	v, _ := k.totals()
	c := plan.NewCells(v, at.in.P, at.in.Width, 2*len(k.relations))
	c.Types, c.Ends = at.spans, k.pairs()
	for r := range k.relations {
		st, w := &g.byRelation[n][r], want.Of(r)
		for _, d := range []plan.Dir{plan.CSC, plan.CSR} {
			if d == plan.CSC && !w.CSC || d == plan.CSR && !w.CSR {
				continue
			}
			own, far := c.Side(d.Of(r))
			bytes, nnz, needs := make([]int64, c.P*c.P), make([]int64, c.P*c.P), make([]int64, c.P*c.P)
			for j := own.First; j < own.First+own.N; j++ {
				for i := far.First; i < far.First+far.N; i++ {
					cell := st.CSC(j, i, w)
					if d == plan.CSR {
						cell = st.CSR(j, i, w)
					}
					bytes[j*c.P+i], nnz[j*c.P+i], needs[j*c.P+i] = cell.Bytes, cell.NNZ, int64(cell.Needs)
				}
			}
			c.Bytes[d.Of(r)], c.NNZ[d.Of(r)], c.Needs[d.Of(r)] = bytes, nnz, needs
		}
	}
	return c, nil
}

// buildKinds builds the grids of all relations.
func (g *grids) buildKinds(n int, want chunk.Wants) (*gridAt, error) {
	at, err := g.kindsFor(n)
	if err != nil {
		return nil, err
	}
	defer since(&g.stages.Grid, time.Now())
	out := &gridAt{p: n, order: g.order, orders: at.orders}
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	for r := range g.in.kinds.relations {
		grid, err := memory.BuildOver(g.edgesAt(at, r), at.in, want.Of(r))
		if err != nil {
			return nil, err
		}
		out.grids = append(out.grids, grid)
	}
	return out, nil
}
