package exec

import (
	"errors"
	"fmt"
	"unsafe"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Rows of tables that host memory holds (plan.Table.Host): kernels read them over the link while the
// batch before is at work, but for rows that are hot and stay on the device, and for rows that the batch before has,
// too, or the one before that, which are copied from their rooms.

// far is what a runner knows of such rows.
type far struct {
	hot   map[int][]uint32 // by value: the rows that stay, in their order there
	there bool             // and are there
	comes bool             // rows do come over the link
	tag   uint32           // of the last batch that came
	match [2]uint32        // of it, and of the one before it, where their rows are there; 0: they are not
	alone bool             // rows that the batches before have come all the same
}

// farBlocks is how many blocks read over the link: fewer do not fill it, and more take too much of the kernels' time. An epoch of bench/sampled without
// a cache takes 0.703 s with 16 blocks, 0.649 with 24, 0.687 to 0.702 with 32 and 0.806 with 64 (bench/RESULTS.md).
const farBlocks = 24

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

// queueOf is the queue of load i of a batch: rows that are read over the link come on one of their own, beside the others, once the batch's
// vertices are there.
func (r *Runner) queueOf(i int) (q device.Queue, err error) {
	t := r.tasks[i].t
	p := r.arena.on(t.Device)
	q = p.queues[t.Queue]
	if x := r.plan.Places.Sets.TableOf(int(t.Value)); t.Value >= 0 && x != nil {
		a := &r.ahead
		if a.listed == nil {
			if a.listed, err = p.dev.NewEvent(); err != nil {
				return q, err
			}
		}
		far := p.queues[plan.D2D]
		if err = p.dev.Record(q, a.listed); err == nil {
			err = p.dev.Wait(far, a.listed)
		}
		q = far
	}
	q.SetTag(int64(i))
	return q, err
}

// takeFar brings the rows of a table that belong to batch b to a room.
func (r *Runner) takeFar(b *Batch, room int, t *plan.Task, table *plan.Table, q device.Queue) error {
	g, f, a := r.gpu.each[0], &r.ahead.far, &r.ahead
	v := &r.plan.Spec.Values[table.Value]
	words, full, n := uint64(v.RowBytes)/16, uint64(4*v.Cols+15)/16, uint64(b.Rows[t.Own])
	at := func(room int, addr int64) uint64 { return g.base + uint64(a.in(room, addr)) }
	ids, last, bits := at(room, r.plan.Places.Sets.Ahead.IDs), at(0, table.Places(f.tag)), at(0, table.Bits())
	before, earlier := (room+a.rooms-1)%a.rooms, (room+a.rooms-2)%a.rooms
	var list []device.Command
	if table.Again { // only places of a batch name its rows
		bits = 0
	} else {
		list = append(list, device.Command{Clear: &device.Clear{Addr: bits, Bytes: 4 * int64((table.Rows+31)/32)}})
	}
	take := g.blockCall(kernel.FarTake, 1, at(room, t.Addr), uint64(uintptr(unsafe.Pointer(&r.host[table.Value][0]))), ids, n, words, full,
		at(0, table.At), at(0, table.Slots), last, bits, uint64(table.Rows), at(before, t.Addr), at(0, table.Places(f.tag-1)), uint64(f.match[0]),
		at(earlier, t.Addr), at(0, table.Places(f.tag-2)), uint64(f.match[1]), at(0, table.Counts()))
	take.Call.Grid[0], take.Call.Shared = farBlocks, kernel.FarShared
	return r.now(g, q, append(list, g.blockCall(kernel.FarMark, n, last, bits, ids, n, uint64(f.tag)), take)...)
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
