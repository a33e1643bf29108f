package exec

import (
	"errors"
	"fmt"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Rows of tables in host memory (plan.Table.Host). Each row that a batch needs comes from one of three places: hot rows are
// always on the device; rows of the two or three batches before are in their buffers; all others are in host memory. While the step of an earlier
// batch runs, kernel FarMark finds the rows that are in host memory only, FarTake reads these over the link, and FarNear copies
// the other rows, once the batch before is loaded.

// far is the state of these tables.
type far struct {
	hot   map[int][]uint32 // by value: the rows of the table that are hot, in the order in which they lie on the device
	there bool             // hot rows are on the device
	comes bool             // the plan has such tables
	tag   uint32           // number of the last batch whose load has begun
	match matched          // tags of the last batches, the last one first, if their rows can be copied; 0: they cannot
	alone bool             // no rows are copied from other batches (Alone)
}

// matched are tags of batches, by how far they are back.
type matched [plan.FarKept]uint32

// farBlocks is the number of thread blocks that read over the link, where each warp reads two rows at a time. Fewer do not fill the link
// while a step runs; more take multiprocessors from the step. An epoch of bench/sampled without a cache takes 0.617 s with 24
// blocks, 0.597 with 32, 0.588 with 40 and 0.606 with 48 (bench/RESULTS.md).
const farBlocks = 40

// setHot sets the rows of the table of input id that stay on the device.
func (l *loader) setHot(id int, rows []uint32) error {
	t := l.plan.Places.Sets.TableOf(id)
	if t == nil || !t.Host || len(rows) != t.Hot {
		return fmt.Errorf("exec: %d hot rows of %s, which the plan has no room for", len(rows), l.plan.Spec.Values[id].Name)
	}
	if l.far.hot == nil {
		l.far.hot = map[int][]uint32{}
	}
	l.far.hot[id] = rows
	return nil
}

// warm copies the hot rows of every table to the device, and for each row of the table its number among them. It does so once.
func (l *loader) warm() (err error) {
	f, p := &l.far, &l.arena.devices[0]
	if f.there {
		return nil
	}
	q := p.queues[plan.H2D]
	tables := l.plan.Places.Sets.Ahead.Tables
	for i := range tables {
		t := &tables[i]
		if !t.Host {
			continue
		}
		f.comes = true
		row := l.plan.Spec.Values[t.Value].RowBytes
		all, hot, slots := l.host.rows[t.Value], make([]byte, int64(t.Hot)*row), make([]uint32, t.Rows)
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
		err = l.arena.syncFor("hot rows")
	}
	f.there = err == nil
	return err
}

// farTable is the table in host memory from which load t takes rows; nil: t loads something else.
func (l *loader) farTable(t *plan.Task) *plan.Table {
	if t.Kind != plan.Load || t.Value < 0 {
		return nil
	}
	return l.plan.Places.Sets.TableOf(int(t.Value))
}

// farCalls makes the launches that load a batch's rows of one table.
type farCalls struct {
	l      *loader
	t      *plan.Task
	table  *plan.Table
	n      uint64 // rows of the batch
	buffer int
	tag    uint32
}

func (l *loader) farOf(b *Batch, buffer int, t *plan.Task, table *plan.Table) *farCalls {
	return &farCalls{l, t, table, uint64(b.Rows[t.Own]), buffer, l.far.tag}
}

func (c *farCalls) at(buffer int, addr int64) uint64 {
	return c.l.gpu.base + uint64(c.l.now.in(buffer, addr))
}

func (c *farCalls) ids() uint64 { return c.at(c.buffer, c.l.plan.Places.Sets.Ahead.IDs) }

// row is the length of a row with and without padding, in units of 16 bytes.
func (c *farCalls) row() (words, full uint64) {
	v := &c.l.plan.Spec.Values[c.table.Value]
	return uint64(v.RowBytes) / 16, uint64(4*v.Cols+15) / 16
}

// again says that bits are by place in the batch, not by row of the table.
func (c *farCalls) again() kernel.GPUArg { return kernel.GPUFlag("again", c.table.Again) }

// mark is the launch of FarMark, which finds the rows that must come over the link.
func (c *farCalls) mark() *commands {
	x, t := c.l.once.begin(), c.table
	bits := c.at(0, t.Bits(c.tag))
	x.clear(bits, t.BitBytes())
	args := kernel.GPUArgs{at("last", c.at(0, t.Places(c.tag))), at("bits", bits), at("ids", c.ids()), num("n", c.n), num("tag", uint64(c.tag)), c.again(), at("slots", c.at(0, t.Slots)), at("counts", c.at(0, t.Counts()))}
	call := x.block(kernel.FarMark, c.n, append(args, c.before(false)...)...)
	call.Grid[0] = min(call.Grid[0], markBlocks)
	return x
}

// markBlocks is the largest number of thread blocks of FarMark. Each warp adds to the counts atomically, one after the other.
const markBlocks = 512

// take is the launch of FarTake, which reads the rows that mark found.
func (c *farCalls) take() *commands {
	x, t := c.l.once.begin(), c.table
	words, full := c.row()
	host := c.l.gpu.dev.HostAddress(c.l.host.rows[t.Value])
	all := uint64(t.Rows)
	if t.Again {
		all = c.n
	}
	call := x.block(kernel.FarTake, 1, at("to", c.at(c.buffer, c.t.Addr)), at("host", host), at("ids", c.ids()), num("words", words), num("full", full),
		at("last", c.at(0, t.Places(c.tag))), at("bits", c.at(0, t.Bits(c.tag))), at("next", c.at(0, t.Next(c.tag))), num("all", all), c.again())
	call.Grid[0], call.Shared = farBlocks, kernel.FarShared
	return x
}

// before are the arguments that tell of the batches before: places, tags and, for FarNear, rows.
func (c *farCalls) before(rows bool) (args kernel.GPUArgs) {
	for k, names := range [plan.FarKept][3]string{{"then", "match", "before"}, {"first", "match2", "earlier"}, {"third", "match3", "eldest"}} {
		tag := c.l.far.match[k]
		if k >= c.table.Kept {
			tag = 0
		}
		args = append(args, at(names[0], c.at(0, c.table.Places(c.tag-uint32(k+1)))), num(names[1], uint64(tag)))
		if rows {
			args = append(args, at(names[2], c.at(c.l.now.before(c.buffer, min(k+1, c.table.Kept)), c.t.Addr)))
		}
	}
	return args
}

// near is the launch of FarNear, which copies the rows that mark did not find. The batches before must be loaded.
func (c *farCalls) near() *commands {
	x, t := c.l.once.begin(), c.table
	words, full := c.row()
	args := kernel.GPUArgs{at("to", c.at(c.buffer, c.t.Addr)), at("ids", c.ids()), num("n", c.n), num("words", words), num("full", full), at("hot", c.at(0, t.At)), at("slots", c.at(0, t.Slots))}
	call := x.block(kernel.FarNear, c.n, append(args, c.before(true)...)...)
	call.Shared = kernel.NearShared
	return x
}

// takeFar loads the rows of batch b that must come over the link to a buffer. It marks them on queue q, behind the copy of the batch's
// vertices, and reads them on another queue (farQueue).
func (l *loader) takeFar(b *Batch, buffer int, t *plan.Task, table *plan.Table, q device.Queue) error {
	c := l.farOf(b, buffer, t, table)
	err := l.once.submit(q, c.mark())
	far := l.farQueue(q.Tag())
	if err == nil {
		err = l.arena.devices[0].follow(q, far, &l.listed)
	}
	if err == nil {
		err = l.once.submit(far, c.take())
	}
	return err
}

func (l *loader) farQueue(tag int64) device.Queue {
	q := l.arena.devices[0].queues[plan.D2D]
	q.SetTag(tag)
	return q
}

// takeNear loads the other rows of batch b to a buffer, when the batch before is loaded.
func (l *loader) takeNear(b *Batch, buffer int) error {
	p := &l.arena.devices[0]
	q := p.queues[plan.H2D]
	if before := l.come[l.now.before(buffer, 1)]; before != nil {
		if err := p.dev.Wait(q, before); err != nil {
			return err
		}
	}
	for i := range l.plan.Tasks {
		if t := &l.plan.Tasks[i]; l.farTable(t) != nil {
			q.SetTag(int64(i))
			c := l.farOf(b, buffer, t, l.farTable(t))
			if err := l.once.submit(q, c.near()); err != nil {
				return l.names.task(i, err)
			}
		}
	}
	return nil
}

// farRows returns three counts of rows of tables in host memory, over all batches so far: rows read over the link, hot rows, and
// rows copied from the batches before.
func (l *loader) farRows() (n [plan.FarCounts]uint64, err error) {
	if !l.far.there {
		return n, nil
	}
	p := &l.arena.devices[0]
	for _, t := range l.plan.Places.Sets.Ahead.Tables {
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
