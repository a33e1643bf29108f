package exec

import (
	"errors"
	"fmt"
	"unsafe"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Rows of tables that host memory holds (plan.Table.Host): a kernel reads them over the link while the
// batch before is at work, but for rows that are hot and stay on the device, and for rows that the batch before has,
// too, or the one before that. Another kernel copies these from their rooms, once all of the batch before has come.

// far is what a runner knows of such rows.
type far struct {
	hot   map[int][]uint32 // by value: the rows that stay, in their order there
	there bool             // and are there
	comes bool             // rows do come over the link
	tag   uint32           // of the last batch that came
	match [2]uint32        // of it, and of the one before it, where their rows are there; 0: they are not
	alone bool             // rows that the batches before have come all the same
}

// farBlocks is how many blocks read over the link, with two rows under way a warp: fewer do not fill it beside a step, and more take processors from
// that. An epoch of bench/sampled without a cache takes 0.617 s with 24 blocks, 0.597 with 32, 0.588 with 40 and 0.606 with 48 (bench/RESULTS.md).
const farBlocks = 40

// SetHot says which rows of table id stay on the device, as many as the plan has room for.
func (r *Runner) SetHot(id int, rows []uint32) error {
	t := r.plan.Places.Sets.TableOf(id)
	if t == nil || !t.Host || len(rows) != t.Hot {
		return fmt.Errorf("exec: %d hot rows of %s, which the plan has no room for", len(rows), r.plan.Spec.Values[id].Name)
	}
	if r.ahead.far.hot == nil {
		r.ahead.far.hot = map[int][]uint32{}
	}
	r.ahead.far.hot[id] = rows
	return nil
}

// warm brings hot rows and their places to the device.
func (r *Runner) warm() (err error) {
	f, p := &r.ahead.far, &r.arena.devices[0]
	if f.there {
		return nil
	}
	q := p.queues[plan.H2D]
	tables := r.plan.Places.Sets.Ahead.Tables
	for i := range tables {
		t := &tables[i]
		if !t.Host {
			continue
		}
		f.comes = true
		row := r.plan.Spec.Values[t.Value].RowBytes
		all, hot, slots := r.host[t.Value], make([]byte, int64(t.Hot)*row), make([]uint32, t.Rows)
		for v := range slots {
			slots[v] = ^uint32(0)
		}
		for k, v := range f.hot[t.Value] {
			copy(hot[int64(k)*row:][:row], all[int64(v)*row:])
			slots[v] = uint32(k)
		}
		err = errors.Join(err, p.dev.CopyH2D(q, p.mem, t.At, hot), p.dev.CopyH2D(q, p.mem, t.Slots, wordsOf(slots)),
			p.dev.CopyH2D(q, p.mem, t.Last, make([]byte, t.LastBytes())))
	}
	if err == nil {
		err = r.arena.syncFor("hot rows")
	}
	f.there = err == nil
	return err
}

// farTable is the table of which load t brings rows from host memory; nil: it brings something else.
func (r *Runner) farTable(t *plan.Task) *plan.Table {
	if t.Kind != plan.Load || t.Value < 0 {
		return nil
	}
	return r.plan.Places.Sets.TableOf(int(t.Value))
}

// farCalls are calls of kernels for the rows of a table that belong to batch b.
type farCalls struct {
	r     *Runner
	g     *gpu
	t     *plan.Task
	table *plan.Table
	n     uint64 // rows
	room  int
	tag   uint32
}

func (r *Runner) farOf(b *Batch, room int, t *plan.Task, table *plan.Table) *farCalls {
	return &farCalls{r, r.gpu.each[0], t, table, uint64(b.Rows[t.Own]), room, r.ahead.far.tag}
}

func (c *farCalls) at(room int, addr int64) uint64 {
	return c.g.base + uint64(c.r.ahead.in(room, addr))
}

func (c *farCalls) ids() uint64 { return c.at(c.room, c.r.plan.Places.Sets.Ahead.IDs) }

// row is the length of a row, and what of it is not padding, in units of 16 bytes.
func (c *farCalls) row() (words, full uint64) {
	v := &c.r.plan.Spec.Values[c.table.Value]
	return uint64(v.RowBytes) / 16, uint64(4*v.Cols+15) / 16
}

// again is 1 where bits are by place in the batch.
func (c *farCalls) again() uint64 {
	if c.table.Again {
		return 1
	}
	return 0
}

// mark finds which rows must come over the link.
func (c *farCalls) mark() []device.Command {
	t, match := c.table, c.r.ahead.far.match
	bits := c.at(0, t.Bits(c.tag))
	call := c.g.blockCall(kernel.FarMark, c.n, c.at(0, t.Places(c.tag)), bits, c.ids(), c.n, uint64(c.tag), c.again(), c.at(0, t.Slots),
		c.at(0, t.Places(c.tag-1)), uint64(match[0]), c.at(0, t.Places(c.tag-2)), uint64(match[1]), c.at(0, t.Counts()))
	call.Call.Grid[0] = min(call.Call.Grid[0], markBlocks)
	return []device.Command{{Clear: &device.Clear{Addr: bits, Bytes: t.BitBytes()}}, call}
}

// markBlocks is at most how many blocks mark: each of their warps adds to the counts, in turn with the others.
const markBlocks = 512

// take reads them.
func (c *farCalls) take() device.Command {
	t := c.table
	words, full := c.row()
	host := uint64(uintptr(unsafe.Pointer(&c.r.host[t.Value][0])))
	all := uint64(t.Rows)
	if t.Again {
		all = c.n
	}
	call := c.g.blockCall(kernel.FarTake, 1, c.at(c.room, c.t.Addr), host, c.ids(), words, full, c.at(0, t.Places(c.tag)), c.at(0, t.Bits(c.tag)), c.at(0, t.Next(c.tag)), all, c.again())
	call.Call.Grid[0], call.Call.Shared = farBlocks, kernel.FarShared
	return call
}

// near copies the others. Those of the batches before must be there.
func (c *farCalls) near() device.Command {
	t, a := c.table, &c.r.ahead
	words, full := c.row()
	before, earlier := (c.room+a.rooms-1)%a.rooms, (c.room+a.rooms-2)%a.rooms
	call := c.g.blockCall(kernel.FarNear, c.n, c.at(c.room, c.t.Addr), c.ids(), c.n, words, full, c.at(0, t.At), c.at(0, t.Slots),
		c.at(before, c.t.Addr), c.at(0, t.Places(c.tag-1)), uint64(a.far.match[0]), c.at(earlier, c.t.Addr), c.at(0, t.Places(c.tag-2)), uint64(a.far.match[1]))
	call.Call.Shared = kernel.NearShared
	return call
}

// takeFar brings the rows of a table that belong to batch b and must come over the link to a room, on a queue of their own beside q, once the
// batch's vertices are there.
func (r *Runner) takeFar(b *Batch, room int, t *plan.Task, table *plan.Table, q device.Queue) error {
	c := r.farOf(b, room, t, table)
	err := r.now(c.g, q, c.mark()...)
	far := r.farQueue(q.Tag())
	if err == nil {
		err = r.follow(q, far, &r.ahead.listed)
	}
	if err == nil {
		err = r.now(c.g, far, c.take())
	}
	return err
}

func (r *Runner) farQueue(tag int64) device.Queue {
	q := r.arena.devices[0].queues[plan.D2D]
	q.SetTag(tag)
	return q
}

// takeNear brings the other rows of tables, when those of the batch before have come.
func (r *Runner) takeNear(b *Batch, room int) error {
	a, p := &r.ahead, &r.arena.devices[0]
	q := p.queues[plan.H2D]
	if before := a.come[(room+a.rooms-1)%a.rooms]; before != nil {
		if err := p.dev.Wait(q, before); err != nil {
			return err
		}
	}
	for i := range r.tasks {
		if t := r.tasks[i].t; r.farTable(t) != nil {
			q.SetTag(int64(i))
			c := r.farOf(b, room, t, r.farTable(t))
			if err := r.now(c.g, q, c.near()); err != nil {
				return r.fail(i, err)
			}
		}
	}
	return nil
}

// FarRows are how many rows of tables came over the link so far, how many were hot, and how many the batches before
// had. No step may be running.
func (r *Runner) FarRows() (n [plan.FarCounts]uint64, err error) {
	if !r.ahead.far.there {
		return n, nil
	}
	p := &r.arena.devices[0]
	for _, t := range r.plan.Places.Sets.Ahead.Tables {
		var x [plan.FarCounts]uint64
		to := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x))
		if t.Host {
			err = errors.Join(err, p.dev.CopyD2H(p.queues[plan.D2H], to, p.mem, t.Counts()), p.dev.Sync())
		}
		for k := range n {
			n[k] += x[k]
		}
	}
	return n, err
}

// Alone has rows come over the link, or from the hot ones, that the batches before have, too.
func (r *Runner) Alone() { r.ahead.far.alone = true }
