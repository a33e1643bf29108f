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
	order *chunk.Order
	p     int                      // the number of intervals that order is for; 0: none yet
	sizes map[int]*chunk.GridStats // by number of intervals: the sizes of cells
	built *gridAt                  // the grid that was built last; nil: none
}

// gridAt is a grid with its order of vertices.
type gridAt struct {
	order *chunk.Order
	grid  *chunk.Grid
}

// gridFor is the grid for n intervals. Only the last one is kept.
func (p *Program) gridFor(n int) (*gridAt, error) {
	if b := p.grids.built; b != nil && b.grid.P == n {
		return b, nil
	}
	p.grids.built = nil
	g := &gridAt{order: p.orderFor(n)}
	var err error
	if g.grid, err = p.buildGrid(g.order, n); err != nil {
		return nil, err
	}
	p.grids.built = g
	return g, nil
}

// orderFor is the vertex order for n intervals. Only the last one is kept.
func (p *Program) orderFor(n int) *chunk.Order {
	g := &p.grids
	if g.p != n {
		defer since(&p.stages.Order, time.Now())
		g.p = n
		switch {
		case p.data.Shard != nil:
			g.order = p.data.Shard.Order
		case p.cfg.without("balance"):
			g.order = chunk.Identity(p.in.Edges.V)
		case p.cfg.without("degree-sort"):
			g.order = chunk.Deal(p.in.Edges, n)
		default:
			g.order = chunk.Balance(p.in.Edges, n)
		}
	}
	return g.order
}

// cells are the sizes of the grid for n intervals, with the arrays that the chosen program wants.
func (p *Program) cells(n int) (*plan.Cells, error) {
	if p.shape != nil {
		return p.shape.cells(n, p.chosen.want), nil
	}
	return p.counted(n, p.chosen.want)
}

// counted are the sizes of the grid for n intervals, which is not built for that. The first call for
// each n takes a pass over the edges.
func (p *Program) counted(n int, want chunk.Want) (*plan.Cells, error) {
	st := p.grids.sizes[n]
	if st == nil {
		o := p.orderFor(n)
		defer since(&p.stages.Count, time.Now())
		x := p.stats(o, n)
		st = &x
		p.grids.sizes[n] = st
	}
	if st.P != n {
		return nil, fmt.Errorf("saga: %d intervals; a grid has at most %d", n, chunk.MaxIntervals)
	}
	c := &plan.Cells{V: st.V, P: n, Width: st.Width}
	for d, at := range [2]func(own, other int, w chunk.Want) chunk.Cell{plan.CSC: st.CSC, plan.CSR: st.CSR} {
		if ![2]bool{plan.CSC: want.CSC, plan.CSR: want.CSR}[d] {
			continue
		}
		for i := range n * n {
			cell := at(i/n, i%n, want)
			c.Bytes[d] = append(c.Bytes[d], cell.Bytes)
			c.NNZ[d] = append(c.NNZ[d], cell.NNZ)
			c.Needs[d] = append(c.Needs[d], int64(cell.Needs))
		}
	}
	return c, nil
}

// stats counts the edges and rows of the cells of n intervals in order o.
func (p *Program) stats(o *chunk.Order, n int) chunk.GridStats {
	if x := p.data.Shard; x != nil {
		return x.Stats
	}
	return chunk.Stats(p.in.Edges, o, n)
}

// statistics is the shape of the graph, with the statistics of its degrees.
func (p *Program) statistics() *Shape {
	e := p.in.Edges
	return &Shape{Vertices: e.V, Edges: int64(e.E()), in: spreadOf(e.InDegrees()), out: spreadOf(e.OutDegrees())}
}

// shardGrid builds the cells of the rank's own intervals. Each direction is built from its own list of edges.
// All other cells are empty.
func (p *Program) shardGrid(n int) (*chunk.Grid, error) {
	x, want := p.data.Shard, p.chosen.want
	if want.Rank {
		return nil, errRanksOfEdges
	}
	grid := &chunk.Grid{Intervals: x.Stats.Intervals}
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	for _, out := range []bool{false, true} {
		if out && !want.CSR || !out && !want.CSC {
			continue
		}
		e, err := p.in.ShardEdges(out)
		if err != nil {
			return nil, err
		}
		one := want
		one.CSC, one.CSR = !out, out
		g, err := memory.Build(e, x.Order, n, one)
		if err != nil {
			return nil, err
		}
		if out {
			grid.CSR = g.CSR
		} else {
			grid.CSC = g.CSC
		}
	}
	return grid, nil
}

// buildGrid builds the grid of n intervals in order o.
func (p *Program) buildGrid(o *chunk.Order, n int) (*chunk.Grid, error) {
	defer since(&p.stages.Grid, time.Now())
	if p.data.Shard != nil {
		return p.shardGrid(n)
	}
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	return memory.Build(p.in.Edges, o, n, p.chosen.want)
}
