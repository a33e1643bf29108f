package saga

import (
	"time"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
)

// The grid of a graph of several vertex types: each type is a run of intervals, and each relation has cells of its own between the
// intervals of the types at its ends.

// kindsAt is the vertex orders and the numbering of a graph of several types for a grid.
type kindsAt struct {
	of     gridOf
	spans  []plan.Span
	orders []*chunk.Order // by type
	number [][]uint32     // by type and vertex: its id among those of all types
	in     chunk.Intervals
}

// end is type t as an end of edges.
func (at *kindsAt) end(t int) chunk.End {
	return chunk.End{IDs: at.number[t], First: at.spans[t].First, N: at.spans[t].N}
}

// kindsFor is the orders and the numbering for a grid. Only the last one is kept.
func (g *grids) kindsFor(is gridOf) (*kindsAt, error) {
	if g.kinds != nil && g.kinds.of == is {
		return g.kinds, nil
	}
	defer since(&g.stages.Order, time.Now())
	k := g.in.kinds
	var vertices []int
	for i := range k.types {
		vertices = append(vertices, k.types[i].in.Edges.V)
	}
	runs := runsOf(vertices, is)
	at := &kindsAt{of: is, spans: spansOf(vertices, runs)}
	for t := range at.spans {
		at.orders = append(at.orders, g.orderOf(t, at.spans[t].V, runs[t].Dealt))
	}
	var err error
	if is.wide > 0 {
		at.in, err = chunk.WholeRuns(vertices, runs, is.wide)
	} else {
		at.in, err = chunk.UnevenRuns(vertices, runs)
	}
	if err != nil {
		return nil, err
	}
	for t, s := range at.spans {
		ids := make([]uint32, len(at.orders[t].New))
		chunk.Ranges(len(ids), func(lo, hi int) {
			for v := lo; v < hi; v++ {
				n := int(at.orders[t].New[v])
				ids[v] = uint32((s.First+n/s.Width)*at.in.Width + n%s.Width)
			}
		})
		at.number = append(at.number, ids)
	}
	g.p, g.kinds, g.order = is.n, at, at.orders[k.target]
	return at, nil
}

// orderOf is the order of the v vertices of type t, dealt to n intervals and balanced by the edges of all relations.
func (g *grids) orderOf(t, v, n int) *chunk.Order {
	if x := g.in.kinds.types[t].in.Data.Shard; x != nil {
		return x.Order
	}
	if g.cfg.without("balance") {
		return chunk.Identity(v)
	}
	d := g.degreesOf(t)
	if g.cfg.without("degree-sort") {
		return chunk.DealDegrees(d.in, d.out, d.edges, n)
	}
	return chunk.BalanceDegrees(d.in, d.out, d.edges, n)
}

// degreesOf are the degrees of the vertices of type t. They are counted once.
func (g *grids) degreesOf(t int) *typeDegrees {
	if g.degrees == nil {
		g.degrees = g.in.kinds.degrees(nil)
	}
	return &g.degrees[t]
}

// countedKinds are the sizes of the grid for n intervals.
func (g *grids) countedKinds(n int, want chunk.Wants) (*plan.Cells, error) {
	is := gridOf{n, want.Any().Wide}
	at, err := g.kindsFor(is)
	if err != nil {
		return nil, err
	}
	k := g.in.kinds
	if g.byRelation[is] == nil {
		defer since(&g.stages.Count, time.Now())
		list := make([]chunk.GridStats, len(k.relations))
		k.eachRelation(func(r int, alone bool) {
			x := &k.relations[r]
			if shard := x.in.Data.Shard; shard != nil {
				list[r] = shard.Stats
				return
			}
			list[r] = chunk.StatsOver(x.in.Edges, at.end(x.src), at.end(x.dst), at.in, alone)
		})
		g.byRelation[is] = list
	}
	v, _ := k.totals()
	c := plan.NewCells(v, at.in.P, at.in.Width, 2*len(k.relations))
	c.Types, c.Ends, c.Wide = at.spans, k.pairs(), is.wide
	for r := range k.relations {
		st, w := &g.byRelation[is][r], want.Of(r)
		for _, d := range []plan.Dir{plan.CSC, plan.CSR} {
			if d == plan.CSC && !w.CSC || d == plan.CSR && !w.CSR {
				continue
			}
			own, far := c.Side(d.Of(r))
			bytes, nnz, needs := make([]int64, c.P*c.P), make([]int64, c.P*c.P), make([]int64, c.P*c.P)
			for j := own.First; j < own.First+own.N; j++ {
				for i := far.First; i < far.First+far.N; i += max(1, is.wide) {
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
	is := gridOf{n, want.Any().Wide}
	at, err := g.kindsFor(is)
	if err != nil {
		return nil, err
	}
	defer since(&g.stages.Grid, time.Now())
	out := &gridAt{of: is, order: g.order, orders: at.orders}
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	for r := range g.in.kinds.relations {
		var grid *chunk.Grid
		if in := g.in.kinds.relations[r].in; in.Data.Shard != nil {
			grid, err = shardGrid(in, want.Of(r), func(e *chunk.Edges, w chunk.Want) (*chunk.Grid, error) { return memory.BuildOver(e, at.in, w) })
		} else {
			grid, err = memory.BuildOver(g.in.kinds.edgesOver(r, at.in.V, at.number), at.in, want.Of(r))
		}
		if err != nil {
			return nil, err
		}
		out.grids = append(out.grids, grid)
	}
	return out, nil
}
