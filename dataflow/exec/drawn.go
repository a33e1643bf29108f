package exec

import (
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Drawn are blocks that were drawn in a GPU's memory; the host knows how many rows and edges they have. Lists
// are of uint32.
type Drawn struct {
	Vertices   device.Mem         // of the deepest set
	Begin, Far []device.Mem       // by edge set: where rows begin, and far ends
	Edge       []device.Mem       // by edge set: the numbers of edges
	Weight     []device.Mem       // by edge set: weights by these numbers, in place of Of's; nil: those of Of
	Of         EdgeTables         // what cells have beside
	Tables     map[int]device.Mem // of inputs that are Picked, by value: 4 bytes for each vertex of the graph
	Made       map[int]Made       // inputs, by value, that are made of them
	Queue      device.Queue       // which draws: it goes on when all that was copied
}

// EdgeTables are in device memory what cells have of their edges, 4 bytes for each of the graph, by number. Of what cells do not have there is none.
type EdgeTables struct{ Weight, Rank, Type device.Mem }

// Made is what an input is made of.
type Made uint8

// What inputs are made of: the vertices of their level, or the lengths of the rows of the block below.
const (
	NotMade    Made = iota
	IDs             // bit patterns of vertices
	InDegrees       // edges into each
	InvDegrees      // 1 over them, of none 1
	Picked          // numbers of a table, by vertex
)

// made says what the device makes input id of the batch of.
func (b *Batch) made(id int) Made {
	if b.Drawn == nil {
		return NotMade
	}
	return b.Drawn.Made[id]
}

// blockCell is the cell of a launch over a block. Its kernels are chosen by counts alone, also where the host
// has the rows: so bits do not depend on who has drawn them.
func (r *Runner) blockCell(t *plan.Task, c *Cell, g *gpu) *kernel.GPUCell {
	x := cudaCell(&c.Cell, nil, g.base+uint64(r.ahead.at(t.Cell)))
	x.Rows, x.NNZ, x.Most = c.Rows, int(c.NNZ), int(c.NNZ)
	if most := r.batch.Most; t.Dir == plan.CSC && len(most) > 0 && most[t.Other] > 0 {
		x.Most = most[t.Other]
	}
	return x
}

// copyDrawn is copyBatch of what was drawn on the device; it is not done for what comes from the host.
func (r *Runner) copyDrawn(b *Batch, room int, t *plan.Task, q device.Queue) (done bool, err error) {
	d, p, g, to := b.Drawn, r.arena.on(t.Device), r.gpu.each[0], r.ahead.in(room, t.Addr)
	copied := func(at int64, from device.Mem, n int) error {
		return p.dev.CopyD2D(q, p.mem, at, p.dev, from, 0, 4*int64(n))
	}
	switch {
	case t.Value >= 0:
		m, n := b.made(int(t.Value)), b.Rows[t.Own]
		switch m {
		case NotMade:
			return false, nil
		case IDs:
			return true, copied(to, d.Vertices, n)
		case Picked:
			ids, err := g.dev.Address(d.Vertices)
			if err != nil {
				return true, err
			}
			table, err := g.dev.Address(d.Tables[int(t.Value)])
			if err != nil {
				return true, err
			}
			return true, r.now(g, q, g.blockCall(kernel.BlockPick, uint64(n), uint64(n), ids, g.base+uint64(to), table, 0, 0, 0, 0))
		}
		list, err := g.dev.Address(d.Begin[t.Own])
		if err != nil {
			return true, err
		}
		inverse := uint64(0)
		if m == InvDegrees {
			inverse = 1
		}
		return true, r.now(g, q, g.blockCall(kernel.BlockDegrees, uint64(n), g.base+uint64(to), list, uint64(n), inverse))
	case t.Own < 0:
		return true, copied(to, d.Vertices, b.Rows[r.plan.Places.Sets.Deepest()])
	}
	c := &b.Cells[t.Own][t.Dir]
	if t.Dir == plan.CSR {
		return true, r.turn(b, room, t, q)
	}
	if err := copied(to+c.PtrOff, d.Begin[t.Own], c.Rows+1); err != nil {
		return true, err
	}
	if err := copied(to+c.OtherOff, d.Far[t.Own], int(c.NNZ)); err != nil || c.WeightOff < 0 && c.RankOff < 0 && c.TypeOff < 0 {
		return true, err
	}
	picks, err := d.picks(g, t, c, g.base+uint64(to))
	if err != nil {
		return true, err
	}
	return true, r.now(g, q, g.blockCall(kernel.BlockPick, uint64(c.NNZ), append([]uint64{uint64(c.NNZ)}, picks...)...))
}

// picks are the arguments of kernels that fill what a cell at an address has of its edges: their numbers, then places and tables.
func (d *Drawn) picks(g *gpu, t *plan.Task, c *Cell, at uint64) ([]uint64, error) {
	edge, err := g.dev.Address(d.Edge[t.Own])
	if err != nil {
		return nil, err
	}
	list, weight := []uint64{edge}, d.Of.Weight
	if d.Weight != nil {
		weight = d.Weight[t.Own]
	}
	for _, x := range []struct {
		off   int64
		table device.Mem
	}{{c.WeightOff, weight}, {c.RankOff, d.Of.Rank}, {c.TypeOff, d.Of.Type}} {
		if x.off < 0 {
			list = append(list, 0, 0)
			continue
		}
		table, err := g.dev.Address(x.table)
		if err != nil {
			return nil, err
		}
		list = append(list, at+uint64(x.off), table)
	}
	return list, nil
}

// turn makes the edges of a block seen from their far ends.
func (r *Runner) turn(b *Batch, room int, t *plan.Task, q device.Queue) error {
	d, g := b.Drawn, r.gpu.each[0]
	begin, err := g.dev.Address(d.Begin[t.Own])
	if err != nil {
		return err
	}
	far, err := g.dev.Address(d.Far[t.Own])
	if err != nil {
		return err
	}
	c := &b.Cells[t.Own][t.Dir]
	at := g.base + uint64(r.ahead.in(room, t.Addr))
	ends, other, spare := at+uint64(c.PtrOff), at+uint64(c.OtherOff), g.base+uint64(r.ahead.in(room, r.plan.Places.Sets.Ahead.Turn))
	rows, edges, own := uint64(c.Rows), uint64(c.NNZ), uint64(b.Rows[t.Own])
	each, blocks := kernel.TurnEach(c.Rows, plan.TurnParts)
	part := g.blockCall(kernel.TurnPart, 1, ends, rows, uint64(each), spare)
	sum := g.blockCall(kernel.TurnSum, 1, ends, rows, uint64(each), spare, edges)
	for _, k := range []*device.Call{part.Call, sum.Call} {
		k.Grid[0], k.Block, k.Shared = uint32(blocks), 1024, kernel.TurnShared
	}
	picks, err := d.picks(g, t, c, at)
	if err != nil {
		return err
	}
	return r.now(g, q, device.Command{Clear: &device.Clear{Addr: ends, Bytes: 4 * int64(rows+1)}},
		g.blockCall(kernel.TurnCount, edges, ends, far, edges), part, sum,
		g.blockCall(kernel.TurnPut, edges, ends, far, edges, spare),
		g.blockCall(kernel.TurnOrder, edges, append([]uint64{ends, far, edges, spare, begin, own, other}, picks...)...))
}

// now submits commands that are made for this batch alone.
func (r *Runner) now(g *gpu, q device.Queue, list ...device.Command) error {
	b, err := g.dev.Prepare(list)
	if err != nil {
		return err
	}
	r.ahead.lists = append(r.ahead.lists, b)
	return g.dev.Launch(q, device.GPUFunc("blocks", func(device.GPU) (device.Batch, error) { return b, nil }))
}

// releaseLists gives back the commands of the last load, which have been submitted.
func (r *Runner) releaseLists() {
	for _, b := range r.ahead.lists {
		r.gpu.each[0].dev.Release(b)
	}
	r.ahead.lists = r.ahead.lists[:0]
}

// drawNext lets the queue that draws go on when b was copied.
func (r *Runner) drawNext(b *Batch) (err error) {
	if b.Drawn == nil {
		return nil
	}
	p := &r.arena.devices[0]
	if r.ahead.copied == nil {
		if r.ahead.copied, err = p.dev.NewEvent(); err != nil {
			return err
		}
	}
	if err := p.dev.Record(p.queues[plan.H2D], r.ahead.copied); err != nil {
		return err
	}
	return p.dev.Wait(b.Drawn.Queue, r.ahead.copied)
}
