package exec

import (
	"errors"
	"fmt"
	"unsafe"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Rows of tables in host memory (plan.Table.Host). Each row that a batch needs comes from one of three places: hot rows are
// always on the device; rows of the two batches before are in their rooms; all others are in host memory. While the step of an earlier
// batch runs, kernel FarMark finds the rows that are in host memory only, FarTake reads these over the link, and FarNear copies
// the other rows, once the batch before is loaded.

// far is the state of these tables.
type far struct {
	hot   map[int][]uint32 // by value: the rows of the table that are hot, in the order in which they lie on the device
	there bool             // hot rows are on the device
	comes bool             // the plan has such tables
	tag   uint32           // number of the last batch whose load has begun
	match [2]uint32        // tags of the last batch and of the one before it, if their rows can be copied; 0: they cannot
	alone bool             // no rows are copied from other batches (Alone)
}

// farBlocks is the number of thread blocks that read over the link, where each warp reads two rows at a time. Fewer do not fill the link
// while a step runs; more take multiprocessors from the step. An epoch of bench/sampled without a cache takes 0.617 s with 24
// blocks, 0.597 with 32, 0.588 with 40 and 0.606 with 48 (bench/RESULTS.md).
const farBlocks = 40

// SetHot sets the rows of the table of input id that stay on the device. There must be Table.Hot of them. Call it before the first
// batch is loaded.
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

// warm copies the hot rows of every table to the device, and for each row of the table its number among them. It does so once.
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
		all, hot, slots := r.host.rows[t.Value], make([]byte, int64(t.Hot)*row), make([]uint32, t.Rows)
		for v := range slots {
			slots[v] = ^uint32(0)
		}
		for k, v := range f.hot[t.Value] {
			copy(hot[int64(k)*row:][:row], all[int64(v)*row:])
			slots[v] = uint32(k)
		}
		err = errors.Join(err, p.dev.CopyH2D(q, p.mem, t.At, hot), p.dev.CopyH2D(q, p.mem, t.Slots, device.Bytes(slots)),
			p.dev.CopyH2D(q, p.mem, t.Last, make([]byte, t.LastBytes())))
	}
	if err == nil {
		err = r.arena.syncFor("hot rows")
	}
	f.there = err == nil
	return err
}

// farTable is the table in host memory from which load t takes rows; nil: t loads something else.
func (r *Runner) farTable(t *plan.Task) *plan.Table {
	if t.Kind != plan.Load || t.Value < 0 {
		return nil
	}
	return r.plan.Places.Sets.TableOf(int(t.Value))
}

// farCalls makes the launches that load a batch's rows of one table.
type farCalls struct {
	r     *Runner
	g     *gpu
	t     *plan.Task
	table *plan.Table
	n     uint64 // rows of the batch
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

// row is the length of a row with and without padding, in units of 16 bytes.
func (c *farCalls) row() (words, full uint64) {
	v := &c.r.plan.Spec.Values[c.table.Value]
	return uint64(v.RowBytes) / 16, uint64(4*v.Cols+15) / 16
}

// again is 1 if bits are by place in the batch, 0 if they are by row of the table.
func (c *farCalls) again() uint64 {
	if c.table.Again {
		return 1
	}
	return 0
}

// mark is the launch of FarMark, which finds the rows that must come over the link.
func (c *farCalls) mark() []device.Command {
	t, match := c.table, c.r.ahead.far.match
	bits := c.at(0, t.Bits(c.tag))
	call := c.g.blockCall(kernel.FarMark, c.n, c.at(0, t.Places(c.tag)), bits, c.ids(), c.n, uint64(c.tag), c.again(), c.at(0, t.Slots),
		c.at(0, t.Places(c.tag-1)), uint64(match[0]), c.at(0, t.Places(c.tag-2)), uint64(match[1]), c.at(0, t.Counts()))
	call.Call.Grid[0] = min(call.Call.Grid[0], markBlocks)
	return []device.Command{{Clear: &device.Clear{Addr: bits, Bytes: t.BitBytes()}}, call}
}

// markBlocks is the largest number of thread blocks of FarMark. Each warp adds to the counts atomically, one after the other.
const markBlocks = 512

// take is the launch of FarTake, which reads the rows that mark found.
func (c *farCalls) take() device.Command {
	t := c.table
	words, full := c.row()
	host := uint64(uintptr(unsafe.Pointer(&c.r.host.rows[t.Value][0])))
	all := uint64(t.Rows)
	if t.Again {
		all = c.n
	}
	call := c.g.blockCall(kernel.FarTake, 1, c.at(c.room, c.t.Addr), host, c.ids(), words, full, c.at(0, t.Places(c.tag)), c.at(0, t.Bits(c.tag)), c.at(0, t.Next(c.tag)), all, c.again())
	call.Call.Grid[0], call.Call.Shared = farBlocks, kernel.FarShared
	return call
}

// near is the launch of FarNear, which copies the rows that mark did not find. The two batches before must be loaded.
func (c *farCalls) near() device.Command {
	t, a := c.table, &c.r.ahead
	words, full := c.row()
	before, earlier := (c.room+a.rooms-1)%a.rooms, (c.room+a.rooms-2)%a.rooms
	call := c.g.blockCall(kernel.FarNear, c.n, c.at(c.room, c.t.Addr), c.ids(), c.n, words, full, c.at(0, t.At), c.at(0, t.Slots),
		c.at(before, c.t.Addr), c.at(0, t.Places(c.tag-1)), uint64(a.far.match[0]), c.at(earlier, c.t.Addr), c.at(0, t.Places(c.tag-2)), uint64(a.far.match[1]))
	call.Call.Shared = kernel.NearShared
	return call
}

// takeFar loads the rows of batch b that must come over the link to a room. It marks them on queue q, behind the copy of the batch's
// vertices, and reads them on another queue (farQueue).
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

// takeNear loads the other rows of batch b to a room, when the batch before is loaded.
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
				return r.names.task(i, err)
			}
		}
	}
	return nil
}

// FarRows returns three counts of rows of tables in host memory, over all batches so far: rows read over the link, hot rows, and
// rows copied from the two batches before. No step may be running.
func (r *Runner) FarRows() (n [plan.FarCounts]uint64, err error) {
	if !r.ahead.far.there {
		return n, nil
	}
	p := &r.arena.devices[0]
	for _, t := range r.plan.Places.Sets.Ahead.Tables {
		var x [plan.FarCounts]uint64
		if t.Host {
			err = errors.Join(err, p.dev.CopyD2H(p.queues[plan.D2H], device.Bytes(x[:]), p.mem, t.Counts()), p.dev.Sync())
		}
		for k := range n {
			n[k] += x[k]
		}
	}
	return n, err
}

// Alone turns off copies from the two batches before: all rows that are not hot are read over the link.
func (r *Runner) Alone() { r.ahead.far.alone = true }
