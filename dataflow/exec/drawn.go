package exec

import (
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Drawn are the blocks of a batch in the memory of the GPU that sampled them. Batch has their numbers of rows and edges.
// Lists are of uint32.
type Drawn struct {
	Vertices   device.Mem         // the vertices of the deepest set
	Begin, Far []device.Mem       // by edge set: the index of each row's first edge, and of the end; the far end of each edge
	Edge       []device.Mem       // by edge set: the number of each edge, the index into Of's and Weight's tables
	Weight     []device.Mem       // by edge set: a table of weights in place of Of.Weight; nil: Of.Weight
	Of         EdgeTables         // edge data of the graph
	Tables     map[int]device.Mem // by value, for inputs that are Picked: 4 bytes for each vertex of the graph
	Made       map[int]Made       // by value: inputs that the device makes from the blocks
	Queue      device.Queue       // the sampler's queue; it waits until the blocks are copied
}

// EdgeTables are tables in device memory of edge data that cells need: 4 bytes for each edge of the graph, by the edge's
// number. A table that no cell needs is nil.
type EdgeTables struct{ Weight, Rank, Type device.Mem }

// Made says how the device makes an input from a sampled block.
type Made uint8

// The ways in which the device makes an input, a number of 4 bytes for each row.
const (
	NotMade    Made = iota // the input comes from the host
	IDs                    // the row's vertex, as the bits of a uint32
	InDegrees              // the number of edges into the row's vertex in the block
	InvDegrees             // 1/InDegrees; 1 for a vertex without edges
	Picked                 // the entry of the vertex in Drawn.Tables
)

// copyDrawn is copy for a load from blocks sampled on the device. It returns done = false for a load from the host.
func (l *loader) copyDrawn(b *Batch, room int, t *plan.Task, q device.Queue) (done bool, err error) {
	d, p, g, to := b.Drawn, l.arena.on(t.Device), l.gpu, l.now.in(room, t.Addr)
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
			return true, l.once.submit(q, g.blockCall(kernel.BlockPick, uint64(n), uint64(n), ids, g.base+uint64(to), table, 0, 0, 0, 0))
		}
		list, err := g.dev.Address(d.Begin[t.Own])
		if err != nil {
			return true, err
		}
		inverse := uint64(0)
		if m == InvDegrees {
			inverse = 1
		}
		return true, l.once.submit(q, g.blockCall(kernel.BlockDegrees, uint64(n), g.base+uint64(to), list, uint64(n), inverse))
	case t.Own < 0:
		return true, copied(to, d.Vertices, b.Rows[l.plan.Places.Sets.Deepest()])
	}
	c := &b.Cells[t.Own][t.Dir]
	if t.Dir == plan.CSR {
		return true, l.turn(b, room, t, q)
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
	return true, l.once.submit(q, g.blockCall(kernel.BlockPick, uint64(c.NNZ), append([]uint64{uint64(c.NNZ)}, picks...)...))
}

// picks are arguments of BlockPick and TurnOrder, which fill the weights, ranks and types of a cell at an address: the edge
// numbers, then for each of the three the address to fill and the table; 0 and 0 if the cell has none.
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

// turn transposes a block: it makes the block's CSR cell from the lists of its CSC cell.
func (l *loader) turn(b *Batch, room int, t *plan.Task, q device.Queue) error {
	d, g := b.Drawn, l.gpu
	begin, err := g.dev.Address(d.Begin[t.Own])
	if err != nil {
		return err
	}
	far, err := g.dev.Address(d.Far[t.Own])
	if err != nil {
		return err
	}
	c := &b.Cells[t.Own][t.Dir]
	at := g.base + uint64(l.now.in(room, t.Addr))
	ends, other, spare := at+uint64(c.PtrOff), at+uint64(c.OtherOff), g.base+uint64(l.now.in(room, l.plan.Places.Sets.Ahead.Turn))
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
	return l.once.submit(q, device.Command{Clear: &device.Clear{Addr: ends, Bytes: 4 * int64(rows+1)}},
		g.blockCall(kernel.TurnCount, edges, ends, far, edges), part, sum,
		g.blockCall(kernel.TurnPut, edges, ends, far, edges, spare),
		g.blockCall(kernel.TurnOrder, edges, append([]uint64{ends, far, edges, spare, begin, own, other}, picks...)...))
}

// drawNext makes the sampler's queue wait until the blocks of b are copied.
func (l *loader) drawNext(b *Batch) (err error) {
	if b.Drawn == nil {
		return nil
	}
	p := &l.arena.devices[0]
	if l.copied == nil {
		if l.copied, err = p.dev.NewEvent(); err != nil {
			return err
		}
	}
	if err := p.dev.Record(p.queues[plan.H2D], l.copied); err != nil {
		return err
	}
	return p.dev.Wait(b.Drawn.Queue, l.copied)
}
