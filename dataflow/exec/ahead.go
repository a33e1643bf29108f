package exec

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Batches that come while others are at work. A plan that has rooms for what comes with a batch
// (plan.Ahead) takes one in while it computes on another: Stage copies, Step computes. Where rows come over the link, which then never
// should wait, there are three rooms: two batches come. The rows of a batch stay until the third behind it comes, so that the next two take theirs from there.

// ahead says which room is whose.
type ahead struct {
	from, bytes int64 // of the first room; 0 bytes: there is none
	rooms       int
	room        int    // that the step at work reads
	next        *Batch // what lies in the one behind it, or comes
	after       *Batch // and in the one behind that, if there is one

	copied device.Event   // what was drawn is not needed any more
	listed device.Event   // it is known which rows must come over the link
	others device.Event   // what does not come over the link has
	ended  device.Event   // the kernels of a step have
	come   []device.Event // all of it has, by room
	flying bool           // a step has returned while rows still come
	lists  []device.Batch // commands of the last load
	steps  batchGraphs
	far    far
}

// at is where what the plan has at addr lies for the step at work.
func (a *ahead) at(addr int64) int64 { return a.in(a.room, addr) }

// in is where it lies in a room.
func (a *ahead) in(room int, addr int64) int64 {
	if addr >= a.from && addr < a.from+a.bytes {
		addr += int64(room) * a.bytes
	}
	return addr
}

// behind is the room so many behind that of the step at work.
func (a *ahead) behind(n int) int { return (a.room + n) % a.rooms }

// Stage brings b, which is kept, to the device while the step at work goes on; then a step of b begins
// with its kernels. Only a plan with plan.Ahead can, others do nothing. It is an
// *OverflowError when the plan has no room for b.
func (r *Runner) Stage(b *Batch) error {
	a := &r.ahead
	if a.bytes == 0 {
		return nil
	}
	if err := r.check(b); err != nil {
		return err
	}
	room, to := a.behind(1), &a.next
	if a.next != nil {
		if room, to = a.behind(2), &a.after; a.after != nil || a.rooms < 3 {
			return errors.New("exec: there is no room for so many batches")
		}
	}
	err := r.load(b, room)
	if err == nil {
		*to = b
	}
	return err
}

// Staged tells whether b comes, or is there, for a step to come.
func (r *Runner) Staged(b *Batch) bool { return b == r.ahead.next || b == r.ahead.after }

// Ahead is how many batches can be staged.
func (r *Runner) Ahead() int { return max(0, r.ahead.rooms-1) }

// load submits the copies of b to a room.
func (r *Runner) load(b *Batch, room int) error {
	r.releaseLists()
	if err := r.warm(); err != nil {
		return err
	}
	r.ahead.far.tag++
	var far bool // rows come over the link
	last := -1
	for i := range r.tasks {
		k := &r.tasks[i]
		if k.t.Kind != plan.Load {
			continue
		}
		q := r.arena.on(k.t.Device).queues[k.t.Queue]
		q.SetTag(int64(i))
		if err := r.copyBatch(b, room, k.t, q); err != nil {
			return r.fail(i, err)
		}
		last, far = i, far || r.farTable(k.t) != nil
	}
	if err := r.drawNext(b); err != nil {
		return err
	}
	if far {
		if err := r.takeNear(b, room); err != nil {
			return err
		}
	}
	if f := &r.ahead.far; !f.alone {
		f.match = [2]uint32{f.tag, f.match[0]}
	}
	if err := r.loaded(room, far); err != nil {
		return r.fail(last, err)
	}
	return nil
}

// loaded records that all of a batch has come to a room: who waits for one load waits for all, as a plan leaves out waits for
// loads that stand before others in their queue. Copies of the next batch do not wait for rows over the link.
func (r *Runner) loaded(room int, far bool) (err error) {
	a, p := &r.ahead, &r.arena.devices[0]
	q := p.queues[plan.H2D]
	if far {
		if err := r.follow(q, p.queues[plan.D2D], &a.others); err != nil {
			return err
		}
		q = p.queues[plan.D2D]
	}
	if a.come[room] == nil {
		if a.come[room], err = p.dev.NewEvent(); err != nil {
			return err
		}
	}
	return p.dev.Record(q, a.come[room])
}

// follow has queue then wait for what queue first has now. The event is made once.
func (r *Runner) follow(first, then device.Queue, e *device.Event) (err error) {
	dev := r.arena.devices[0].dev
	if *e == nil {
		if *e, err = dev.NewEvent(); err != nil {
			return err
		}
	}
	return errors.Join(dev.Record(first, *e), dev.Wait(then, *e))
}

// arrive has the batch of the next step in the room at hand.
func (r *Runner) arrive() error {
	a := &r.ahead
	if a.bytes == 0 {
		return nil
	}
	next := a.next
	a.next, a.after = a.after, nil
	if next == r.batch {
		a.room = a.behind(1)
		return nil
	}
	a.steps.of = nil
	if next != nil {
		a.next, a.far.match = nil, [2]uint32{} // the other rooms have what nobody waits for
	} else if a.far.match[0] != 0 { // they have the batches before, as at the end of an epoch
		a.room = a.behind(1)
	}
	return r.load(r.batch, a.room)
}

// StepBatch is Step of a plan over sampled blocks; meanwhile is called, if it is not nil, while the
// device computes. It may call Stage, as often as Ahead says less what is staged.
func (r *Runner) StepBatch(meanwhile func() error) error {
	if r.batch == nil {
		return errors.New("exec: no batch was set")
	}
	err := r.Load()
	if err == nil {
		r.traceBegin()
		if err = r.arrive(); err == nil {
			err = r.submitBatch()
		}
		if err == nil && meanwhile != nil {
			if err = meanwhile(); err == nil {
				err = r.keepNext()
			}
		}
		if err == nil {
			err = r.bringResults()
		}
		err = errors.Join(err, r.named(r.finish(err)))
		r.traceEnd(err)
	}
	r.ended(err)
	return err
}

// finish waits for the step. Rows of the next batch may still come over the link: they are what steps wait for, and the next
// ones should follow at once.
func (r *Runner) finish(err error) error {
	a, p := &r.ahead, &r.arena.devices[0]
	if a.flying = err == nil && a.far.comes && r.trace == nil && !r.arena.OneByOne; a.flying {
		if err = r.follow(p.queues[plan.Compute], p.queues[plan.D2H], &a.ended); err == nil {
			err = p.dev.Record(p.queues[plan.D2H], a.ended)
		}
		if err == nil {
			err = device.Await(p.dev, a.ended)
		}
		if err == nil {
			return nil
		}
	}
	a.flying = false
	return errors.Join(err, r.arena.sync())
}

// bringResults submits the tasks that bring results, which wait for the step.
func (r *Runner) bringResults() error {
	for i := range r.tasks {
		k := &r.tasks[i]
		if k.t.Kind != plan.Results {
			continue
		}
		p := r.arena.on(k.t.Device)
		q := p.queues[k.t.Queue]
		q.SetTag(int64(i))
		if r.ahead.steps.ran { // to which nobody has an event
			if err := r.follow(p.queues[plan.Compute], q, &r.ahead.steps.end); err != nil {
				return r.fail(i, err)
			}
			return r.fetch(int(k.t.Device), q)
		}
		for _, d := range r.plan.Deps[k.t.Deps[0]:k.t.Deps[1]] {
			if err := p.dev.Wait(q, r.awaited(int(d))); err != nil {
				return r.fail(i, err)
			}
		}
		if err := r.fetch(int(k.t.Device), q); err != nil {
			return r.fail(i, err)
		}
	}
	return nil
}

// SetTable gives input id, of which the plan has a table, the rows of all vertices. The slice is kept.
func (r *Runner) SetTable(id int, rows []byte) error {
	t, v := r.plan.Places.Sets.TableOf(id), &r.plan.Spec.Values[id]
	if t == nil || int64(len(rows)) != int64(t.Rows)*v.RowBytes {
		return fmt.Errorf("exec: a table of %s of %d bytes; the plan has none of that size", v.Name, len(rows))
	}
	r.host[id] = rows
	if t.Host {
		return r.arena.pin(rows)
	}
	return nil
}

// Room is host memory that copies reach at full speed for what comes with a batch, with
// places as the device's rooms have them: what lies at address a of the plan is at a less the second result.
// It is nil for plans without plan.Ahead, and stays until Close.
func (r *Runner) Room() ([]byte, int64, error) {
	a := &r.ahead
	if a.bytes == 0 {
		return nil, 0, nil
	}
	h, err := r.arena.devices[0].dev.HostAlloc(max(a.bytes, leastRoom))
	if err != nil {
		return nil, 0, err
	}
	r.taken.mem = append(r.taken.mem, h)
	return h.Bytes()[:a.bytes], a.from, nil
}

// leastRoom is from where on host memory is pinned.
const leastRoom = 1 << 20

// indexed are the programs of p as launches need them: rows that lie in tables are read by the list of the batch's vertices.
func indexed(p *plan.Plan, programs []*kernel.Program) []*kernel.Program {
	z := p.Places.Sets
	if z == nil || !z.Ahead.On {
		return programs
	}
	out := slices.Clone(programs)
	for q := range p.Spec.Phases {
		for _, st := range p.Spec.Phases[q].Steps {
			for _, c := range st.Calls {
				for k := range c.Operands {
					if z.InTable(&st, &c.Operands[k]) {
						out[c.Kernel] = out[c.Kernel].WithIndex(k)
					}
				}
			}
		}
	}
	return out
}

// takeRows copies the rows of a table that belong to the batch.
func (r *Runner) takeRows(t *plan.Task, mem []byte) {
	row := r.plan.Spec.Values[t.Value].RowBytes
	for i, v := range r.batch.IDs[:r.batch.Rows[t.Own]] {
		copy(mem[t.Addr+int64(i)*row:][:row], mem[t.FromAddr+int64(v)*row:])
	}
}

// takeCommand is takeRows on a GPU.
func (r *Runner) takeCommand(t *plan.Task, g *gpu) device.Command {
	words := uint64(r.plan.Spec.Values[t.Value].RowBytes) / 16
	n := uint64(r.batch.Rows[t.Own])
	return g.blockCall(kernel.BlockTake, (n*words+3)/4, g.base+uint64(t.Addr), g.base+uint64(t.FromAddr), r.idsOf(g), n, words)
}

// idsOf is the list of the vertices of the batch at work.
func (r *Runner) idsOf(g *gpu) uint64 {
	return g.base + uint64(r.ahead.at(r.plan.Places.Sets.Ahead.IDs))
}

// blockCall calls a kernel of kernel.Renderer.Blocks, a thread for each of n.
func (g *gpu) blockCall(fn int, n uint64, args ...uint64) device.Command {
	blocks := min(1<<20, max(1, (n+255)/256))
	return device.Command{Call: &device.Call{Func: g.blocks[fn], Grid: [3]uint32{uint32(blocks), 1, 1}, Block: 256, Args: args}}
}

func wordsOf(x []uint32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}
