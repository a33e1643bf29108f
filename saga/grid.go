package saga

import (
	"fmt"
	"time"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
)

// grids are the vertex order and the grid of a program, made for any number of intervals on demand.
type grids struct {
	*definition
	stages *Stages // times are added to
	order  *chunk.Order
	p      int                         // the number of intervals that order is for; 0: none yet
	sizes  map[gridOf]*chunk.GridStats // the sizes of cells
	built  *gridAt                     // the grid that was built last; nil: none

	kinds      *kindsAt                     // of several vertex types: the orders for p intervals
	byRelation map[gridOf][]chunk.GridStats // of several relations: the sizes of cells
	degrees    []typeDegrees                // by type; nil: not counted yet
}

// gridOf tells grids apart: the number of intervals, and how many of them cells reach over (plan.Cells.Wide).
type gridOf struct{ n, wide int }

// gridIs is the grid of c.
func gridIs(c *plan.Cells) gridOf { return gridOf{c.P, c.Wide} }

// gridAt is the grids of the relations, with the order of the vertices.
type gridAt struct {
	of     gridOf
	order  *chunk.Order   // of several types: of the labelled one
	orders []*chunk.Order // by type; nil: there is one type
	grids  []*chunk.Grid
}

// orderOf is the order of the vertices of type t.
func (g *gridAt) orderOf(t uint16) *chunk.Order {
	if g.orders == nil {
		return g.order
	}
	return g.orders[t]
}

// gridFor is the grid of c, whose cells carry what want says. Only the last one is kept.
func (g *grids) gridFor(c *plan.Cells, want chunk.Wants) (*gridAt, error) {
	n, is := c.P, gridIs(c)
	want = want.Widened(is.wide)
	if b := g.built; b != nil && b.of == is {
		return b, nil
	}
	g.built = nil
	if g.in.kinds != nil {
		at, err := g.buildKinds(n, want)
		g.built = at
		return at, err
	}
	at := &gridAt{of: is, order: g.orderFor(is)}
	grid, err := g.buildGrid(at.order, n, want.Of(0))
	if err != nil {
		return nil, err
	}
	at.grids = []*chunk.Grid{grid}
	g.built = at
	return at, nil
}

// orderOfType is the order of the vertices of type t for the grid of c. Only the last one is kept.
func (g *grids) orderOfType(c *plan.Cells, t uint16) *chunk.Order {
	if o := g.orderFor(gridIs(c)); g.kinds == nil {
		return o
	}
	return g.kinds.orders[t]
}

// orderFor is the vertex order for a grid; of several types, that of the labelled one. Only the last one is kept.
func (g *grids) orderFor(is gridOf) *chunk.Order {
	n := is.n
	if g.in != nil && g.in.kinds != nil {
		g.kindsFor(is) // the sizes of cells were counted for n before: there is no error
		return g.order
	}
	if g.p != n {
		defer since(&g.stages.Order, time.Now())
		g.p = n
		switch {
		case g.data.Shard != nil:
			g.order = g.data.Shard.Order
		case g.cfg.without("balance"):
			g.order = chunk.Identity(g.in.Edges.V)
		case g.cfg.without("degree-sort"):
			g.order = chunk.Deal(g.in.Edges, n)
		default:
			g.order = chunk.Balance(g.in.Edges, n)
		}
	}
	return g.order
}

// cells returns a function that gives the sizes of the grid for n intervals, whose cells carry what want says.
func (g *grids) cells(want chunk.Wants) func(n int) (*plan.Cells, error) {
	return func(n int) (*plan.Cells, error) {
		if g.shape != nil {
			return g.shape.sizes(n, want), nil
		}
		return g.counted(n, want)
	}
}

// counted are the sizes of the grid for n intervals, which is not built for that. The first call for
// each n takes a pass over the edges.
func (g *grids) counted(n int, wants chunk.Wants) (*plan.Cells, error) {
	if g.in.kinds != nil {
		return g.countedKinds(n, wants)
	}
	want := wants.Of(0)
	is := gridOf{n, want.Wide}
	st := g.sizes[is]
	if st == nil {
		o := g.orderFor(is)
		defer since(&g.stages.Count, time.Now())
		x := g.stats(o, is)
		st = &x
		g.sizes[is] = st
	}
	if st.P != n {
		return nil, fmt.Errorf("saga: %d intervals; a grid has at most %d", n, chunk.MaxIntervals)
	}
	c := plan.NewCells(st.V, n, st.Width, 2)
	c.Wide = is.wide
	for d, at := range [2]func(own, other int, w chunk.Want) chunk.Cell{plan.CSC: st.CSC, plan.CSR: st.CSR} {
		if ![2]bool{plan.CSC: want.CSC, plan.CSR: want.CSR}[d] {
			continue
		}
		for i := range n * n {
			var cell chunk.Cell
			if c.Begins(c.Span(0), i%n) {
				cell = at(i/n, i%n, want)
			}
			c.Bytes[d] = append(c.Bytes[d], cell.Bytes)
			c.NNZ[d] = append(c.NNZ[d], cell.NNZ)
			c.Needs[d] = append(c.Needs[d], int64(cell.Needs))
		}
	}
	return c, nil
}

// stats counts the edges and rows of the cells of a grid in order o.
func (g *grids) stats(o *chunk.Order, is gridOf) chunk.GridStats {
	if x := g.data.Shard; x != nil {
		return x.Stats
	}
	return chunk.StatsOf(g.in.Edges, o, is.n, chunk.Want{Wide: is.wide})
}

// statistics is the shape of the graph, with the statistics of its degrees.
func (g *grids) statistics() *Shape {
	if k := g.in.kinds; k != nil {
		s, types := k.spread()
		g.degrees = types
		return &Shape{kinds: s}
	}
	e := g.in.Edges
	return &Shape{Vertices: e.V, Edges: int64(e.E()), in: spreadOf(e.InDegrees()), out: spreadOf(e.OutDegrees())}
}

// buildGrid builds the grid of n intervals in order o.
func (g *grids) buildGrid(o *chunk.Order, n int, want chunk.Want) (*chunk.Grid, error) {
	defer since(&g.stages.Grid, time.Now())
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	if g.data.Shard != nil {
		return shardGrid(g.in.Inputs, want, func(e *chunk.Edges, w chunk.Want) (*chunk.Grid, error) { return memory.Build(e, o, n, w) })
	}
	return memory.Build(g.in.Edges, o, n, want)
}
