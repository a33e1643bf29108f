package exec

import (
	"slices"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
)

// copies makes the copies of a plan over a whole graph, and those of results. It counts what is copied.
type copies struct {
	plan  *plan.Plan
	arena *Arena
	host  *hosted
	sides []*chunk.Side // by plan.Dir
	needs [][][]uint32  // by plan.Dir and cell: the rows of the other interval that a gathering load copies; nil: none does
	stats []Stats       // by device
}

// open pins the cells of grids.
func (c *copies) open(grids []*chunk.Grid) error {
	for _, g := range grids {
		c.sides = append(c.sides, g.CSC, g.CSR)
	}
	for _, s := range c.sides {
		if s == nil {
			continue
		}
		if err := c.arena.pin(s.Mem); err != nil {
			return err
		}
	}
	return nil
}

// of is the counts of a task's device.
func (c *copies) of(t *plan.Task) *Stats { return &c.stats[c.arena.number(t.Device)] }

// step submits a Load, Save or Copy task of a step.
func (c *copies) step(t *plan.Task) error {
	switch s := c.of(t); t.Kind {
	case plan.Load:
		s.H2D += t.Bytes
	case plan.Save:
		s.D2H += t.Bytes
	default:
		s.D2D += t.Bytes
	}
	return c.submit(t)
}

// submit submits a copy without counting it.
func (c *copies) submit(t *plan.Task) error {
	a := c.arena.on(t.Device)
	q := a.queues[t.Queue]
	switch {
	case t.Kind == plan.Copy:
		from := c.arena.on(t.From)
		return a.dev.CopyD2D(q, a.mem, t.Addr, from.dev, from.mem, t.FromAddr, t.Bytes)
	case t.Value < 0:
		side := c.sides[t.Dir]
		return a.dev.CopyH2D(q, a.mem, t.Addr, side.Block(int(t.Own)*side.P+int(t.Other)))
	}
	rows, err := c.host.interval(int(t.Value), int(t.Own))
	if err != nil {
		return err
	}
	if t.Is.Gather {
		return a.dev.CopyRows(q, a.mem, t.Addr, rows, c.plan.Spec.Values[t.Value].RowBytes, c.needs[t.Dir][int(t.Other)*c.plan.Cells.P+int(t.Own)])
	}
	if t.Kind == plan.Save {
		return a.dev.CopyD2H(q, rows, a.mem, t.Addr)
	}
	return a.dev.CopyH2D(q, a.mem, t.Addr, rows)
}

// results brings the results of a step from a device of the arena to the host.
func (c *copies) results(on int, q device.Queue) error {
	p := &c.arena.devices[on]
	for i, id := range c.plan.Spec.Results {
		if err := p.dev.CopyD2H(q, device.Bytes(c.host.results[i]), p.mem, c.plan.Globals[id]); err != nil {
			return err
		}
	}
	return nil
}

// cell is the cell that a launch reads.
func (c *copies) cell(t *plan.Task) *chunk.Cell {
	side := c.sides[t.Dir]
	return &side.Cells[int(t.Own)*side.P+int(t.Other)]
}

// largest is the most rows and edges that a launch works on.
func (c *copies) largest() (rows, edges int) {
	z := c.plan.Places.Sets
	if z != nil {
		rows, edges = slices.Max(z.Rows), z.LargestEdges()
	}
	for i := range c.plan.Tasks {
		t := &c.plan.Tasks[i]
		if t.Kind != plan.Run {
			continue
		}
		rows = max(rows, int(t.Rows))
		if t.Other >= 0 && z == nil {
			edges = max(edges, int(c.cell(t).NNZ))
		}
	}
	return rows, edges
}
