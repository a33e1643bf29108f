package exec

import (
	"fmt"

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
func (l *loader) copyDrawn(b *Batch, buffer int, t *plan.Task, q device.Queue) (done bool, err error) {
	d, p, to := b.Drawn, l.arena.on(t.Device), l.now.in(buffer, t.Addr)
	copied := func(at int64, from device.Mem, n int) error {
		return p.dev.CopyD2D(q, p.mem, at, p.dev, from, 0, 4*int64(n))
	}
	x := l.once.begin()
	switch {
	case t.Value >= 0:
		m, n := b.made(int(t.Value)), uint64(b.Rows[t.Own])
		switch m {
		case NotMade:
			return false, nil
		case IDs:
			return true, copied(to, d.Vertices, b.Rows[t.Own])
		case Picked:
			x.block(kernel.BlockPick, n, num("edges", n), x.mem("number", d.Vertices), at("to0", l.gpu.base+uint64(to)), x.mem("table0", d.Tables[int(t.Value)]),
				at("to1", 0), at("table1", 0), at("to2", 0), at("table2", 0))
		default:
			x.block(kernel.BlockDegrees, n, at("to", l.gpu.base+uint64(to)), x.mem("ptr", d.Begin[t.Own]), num("n", n), kernel.GPUFlag("inverse", m == InvDegrees))
		}
		return true, l.once.submit(q, x)
	case t.Own < 0:
		return true, copied(to, d.Vertices, b.Rows[l.plan.Places.Sets.Deepest()])
	}
	c := &b.Cells[t.Own][t.Dir.Way()]
	if t.Dir.Way() == plan.CSR {
		return true, l.turn(b, buffer, t, q)
	}
	if err := copied(to+c.PtrOff, d.Begin[t.Own], c.Rows+1); err != nil {
		return true, err
	}
	if err := copied(to+c.OtherOff, d.Far[t.Own], int(c.NNZ)); err != nil || c.WeightOff < 0 && c.RankOff < 0 && c.TypeOff < 0 {
		return true, err
	}
	x.block(kernel.BlockPick, uint64(c.NNZ), append(d.picks(x, t, c, l.gpu.base+uint64(to)), num("edges", uint64(c.NNZ)))...)
	return true, l.once.submit(q, x)
}

// picks are arguments of BlockPick and TurnOrder, which fill the weights, ranks and types of a cell at an address: the edge
// numbers, then for each of the three the address to fill and the table; 0 and 0 if the cell has none.
func (d *Drawn) picks(x *commands, t *plan.Task, c *Cell, addr uint64) kernel.GPUArgs {
	weight := d.Of.Weight
	if d.Weight != nil {
		weight = d.Weight[t.Own]
	}
	list := kernel.GPUArgs{x.mem("number", d.Edge[t.Own])}
	for i, part := range []struct {
		off   int64
		table device.Mem
	}{{c.WeightOff, weight}, {c.RankOff, d.Of.Rank}, {c.TypeOff, d.Of.Type}} {
		to, table := at(fmt.Sprintf("to%d", i), 0), at(fmt.Sprintf("table%d", i), 0)
		if part.off >= 0 {
			to.Value, table = addr+uint64(part.off), x.mem(table.Name, part.table)
		}
		list = append(list, to, table)
	}
	return list
}

// turn transposes a block: it makes the block's CSR cell from the lists of its CSC cell.
func (l *loader) turn(b *Batch, buffer int, t *plan.Task, q device.Queue) error {
	d, c, x := b.Drawn, &b.Cells[t.Own][t.Dir.Way()], l.once.begin()
	addr := l.gpu.base + uint64(l.now.in(buffer, t.Addr))
	ends, far := at("ends", addr+uint64(c.PtrOff)), x.mem("far", d.Far[t.Own])
	spare := l.gpu.base + uint64(l.now.in(buffer, l.plan.Places.Sets.Ahead.Turn))
	edges := num("edges", uint64(c.NNZ))
	each, blocks := kernel.TurnEach(c.Rows, plan.TurnParts)
	sums := kernel.GPUArgs{ends, num("rows", uint64(c.Rows)), num("each", uint64(each)), at("parts", spare)}
	wide := func(k *device.Call) { k.Grid[0], k.Block, k.Shared = uint32(blocks), 1024, kernel.TurnShared }
	x.clear(ends.Value, 4*int64(c.Rows+1))
	x.block(kernel.TurnCount, edges.Value, ends, far, edges)
	wide(x.block(kernel.TurnPart, 1, sums...))
	wide(x.block(kernel.TurnSum, 1, append(sums, edges)...))
	x.block(kernel.TurnPut, edges.Value, ends, far, edges, at("room", spare))
	x.block(kernel.TurnOrder, edges.Value, append(d.picks(x, t, c, addr), at("begins", ends.Value), far, edges, at("room", spare),
		x.mem("ptr", d.Begin[t.Own]), num("rows", uint64(b.Rows[t.Own])), at("other", addr+uint64(c.OtherOff)))...)
	return l.once.submit(q, x)
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
