package exec

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel/cpu"
)

// Batch is the data of one step of a plan over sampled blocks. Sets are numbered as in plan.Sets.
type Batch struct {
	Rows   []int          // by vertex set: number of rows
	Inputs map[int][]byte // by value: RowBytes for each row of its set; not for values with a table
	Cells  [][2]Cell      // by edge set and plan.Dir
	Most   []int          // by edge set: an upper bound of the edges of a row; 0: no bound but the number of edges
	IDs    []uint32       // the vertices of the deepest set, if the plan has tables (plan.Ahead)
	Drawn  *Drawn         // not nil: blocks in GPU memory, in place of IDs, Cell.Mem and the Inputs that Drawn.Made lists
}

// Cell has the edges of a block in one direction.
type Cell struct {
	chunk.Cell
	Mem []byte // the arrays of the cell, one after the other
}

// OverflowError says that a batch has more rows or edges than its plan has memory for.
type OverflowError struct{ What string }

// Error returns the message.
func (e *OverflowError) Error() string { return "exec: a batch does not fit its plan: " + e.What }

// SetBatch sets the batch of the next steps, and keeps it. The error is an *OverflowError if the batch has more rows or
// edges than the plan has memory for.
func (r *Runner) SetBatch(b *Batch) error {
	err := r.check(b)
	if err == nil {
		r.batch = b
	}
	return err
}

// check returns an error if the plan cannot run b.
func (r *Runner) check(b *Batch) error {
	z := r.plan.Places.Sets
	for s, n := range b.Rows {
		if n > z.Rows[s] {
			return &OverflowError{fmt.Sprintf("%d rows of set %d, there is room for %d", n, s, z.Rows[s])}
		}
	}
	for e := range b.Cells {
		for d, c := range b.Cells[e] {
			if c.NNZ > int64(z.Edges[e]) || c.Bytes > z.Cells[e][d] {
				return &OverflowError{fmt.Sprintf("%d edges of set %d in %d bytes, there is room for %d in %d", c.NNZ, e, c.Bytes, z.Edges[e], z.Cells[e][d])}
			}
		}
	}
	for id, v := range r.plan.Spec.Values {
		if v.Kind == plan.Input && z.TableOf(id) == nil && b.made(id) == NotMade && int64(len(b.Inputs[id])) != int64(b.Rows[v.Set])*v.RowBytes {
			return fmt.Errorf("exec: input %s of a batch: %d bytes, want %d rows of %d", v.Name, len(b.Inputs[id]), b.Rows[v.Set], v.RowBytes)
		}
	}
	if len(z.Ahead.Tables) > 0 && b.Drawn == nil && len(b.IDs) != b.Rows[z.Deepest()] {
		return fmt.Errorf("exec: %d vertices of a batch that has %d", len(b.IDs), b.Rows[z.Deepest()])
	}
	return nil
}

// BatchOutput is value id in host memory after a step: RowBytes for each row that its set has in the batch.
func (r *Runner) BatchOutput(id int) []byte {
	v := &r.plan.Spec.Values[id]
	if v.Kind == plan.Input && !v.Output {
		return r.batch.Inputs[id]
	}
	return r.host.rows[id][:int64(r.batch.Rows[v.Set])*v.RowBytes]
}

// OutputRows is the first rows of output id in host memory after a step. Unlike BatchOutput it does not read the step's batch,
// whose memory the caller may already use for another batch.
func (r *Runner) OutputRows(id, rows int) []byte {
	return r.host.rows[id][:int64(rows)*r.plan.Spec.Values[id].RowBytes]
}

// copyBatch submits the Load or Save task t for batch b. A load goes to a room.
func (r *Runner) copyBatch(b *Batch, room int, t *plan.Task, q device.Queue) error {
	a := r.arena.on(t.Device)
	s := &r.stats[r.arena.number(t.Device)]
	var from []byte
	if table := r.farTable(t); table != nil {
		return r.takeFar(b, room, t, table, q)
	}
	if t.Kind == plan.Load && b.Drawn != nil {
		if done, err := r.copyDrawn(b, room, t, q); done || err != nil {
			return err
		}
	}
	switch {
	case t.Kind == plan.Save:
		rows := r.BatchOutput(int(t.Value))
		s.D2H += int64(len(rows))
		return a.dev.CopyD2H(q, rows, a.mem, r.ahead.at(t.Addr))
	case t.Value >= 0:
		from = b.Inputs[int(t.Value)]
	case t.Own < 0:
		from = device.Bytes(b.IDs)
	default:
		c := &b.Cells[t.Own][t.Dir]
		from = c.Mem[:c.Bytes]
	}
	s.H2D += int64(len(from))
	return a.dev.CopyH2D(q, a.mem, r.ahead.in(room, t.Addr), from)
}

// batchOf returns what the current batch determines of a launch: the number of rows, and the cell or nil.
func (r *Runner) batchOf(t *plan.Task) (rows int, c *Cell) {
	if rows = int(t.Rows); t.Own >= 0 {
		rows = r.batch.Rows[t.Own]
	}
	if t.Other >= 0 {
		c = &r.batch.Cells[t.Other][t.Dir]
	}
	return rows, c
}

// bindBatch sets what the current batch determines of a launch on the CPU.
func (k *task) bindBatch(mem []byte) {
	rows, c := k.r.batchOf(k.t)
	k.l.Rows, k.l.Index = rows, k.r.batch.IDs
	if c != nil {
		at := k.r.ahead.at(k.t.Cell)
		k.view = chunk.ViewOf(&c.Cell, mem[at:at+c.Bytes])
		k.l.Cell = &k.view
	}
}

// tail is the range of device memory that has the rows of set t.Own after those of set t.Other.
func (r *Runner) tail(t *plan.Task) (at, bytes int64) {
	row := r.plan.Spec.Values[t.Value].RowBytes
	from, to := int64(r.batch.Rows[t.Other]), int64(r.batch.Rows[t.Own])
	return r.ahead.at(t.Addr) + from*row, max(0, to-from) * row
}

// operands makes a launch on the CPU with its buffers.
func (k *task) operands(floats []float32) *cpu.Launch {
	l := &cpu.Launch{Rows: int(k.t.Rows), First: k.t.Is.First, Last: k.t.Is.Last}
	for _, at := range k.r.plan.Args[k.t.Args[0]:k.t.Args[1]] {
		l.Bufs = append(l.Bufs, floats[k.r.ahead.at(at)/4:])
	}
	return l
}
