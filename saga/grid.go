package saga

import (
	"cmp"
	"fmt"
	"time"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
)

type gridAt struct {
	order *chunk.Order
	grid  *chunk.Grid
}

// gridFor builds the grid for n intervals, one at a time.
func (p *Program) gridFor(n int) (*gridAt, error) {
	if p.grid != nil && p.grid.grid.P == n {
		return p.grid, nil
	}
	p.grid = nil
	g := &gridAt{order: p.orderFor(n)}
	defer since(&p.stages.Grid, time.Now())
	var err error
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	if g.grid, err = memory.Build(p.in.edges, g.order, n, p.want); err != nil {
		return nil, err
	}
	p.grid = g
	return g, nil
}

// orderFor is the vertex order for n intervals; the last one is kept.
func (p *Program) orderFor(n int) *chunk.Order {
	if p.ordered != n {
		defer since(&p.stages.Order, time.Now())
		p.ordered = n
		switch {
		case p.cfg.without("balance"):
			p.order = chunk.Identity(p.in.edges.V)
		case p.cfg.without("degree-sort"):
			p.order = chunk.Deal(p.in.edges, n)
		default:
			p.order = chunk.Balance(p.in.edges, n)
		}
	}
	return p.order
}

// likely names expected cells.
type likely struct {
	n    int
	want chunk.Want
	of   *Shape
}

// cells are the sizes of the grid for n intervals, which need not be built for that. Plans
// that are made side by side ask for them.
func (p *Program) cells(n int) (*plan.Cells, error) {
	p.sizing.Lock()
	defer p.sizing.Unlock()
	if s := cmp.Or(p.shape, p.expected); s != nil {
		k := likely{n, p.want, s}
		if p.likely[k] == nil {
			p.likely[k] = s.cells(n, p.want)
		}
		return p.likely[k], nil
	}
	if c := p.sizes[n]; c != nil {
		return c, nil
	}
	o := p.orderFor(n)
	defer since(&p.stages.Count, time.Now())
	st := chunk.Stats(p.in.edges, o, n)
	if st.P != n {
		return nil, fmt.Errorf("saga: %d intervals; a grid has at most %d", n, chunk.MaxIntervals)
	}
	c := &plan.Cells{V: st.V, P: n, Width: st.Width}
	for d, at := range [2]func(own, other int, w chunk.Want) chunk.Cell{plan.CSC: st.CSC, plan.CSR: st.CSR} {
		if ![2]bool{plan.CSC: p.want.CSC, plan.CSR: p.want.CSR}[d] {
			continue
		}
		for i := range n * n {
			cell := at(i/n, i%n, p.want)
			c.Bytes[d] = append(c.Bytes[d], cell.Bytes)
			c.NNZ[d] = append(c.NNZ[d], cell.NNZ)
			c.Needs[d] = append(c.Needs[d], int64(cell.Needs))
		}
	}
	p.sizes[n] = c
	return c, nil
}
