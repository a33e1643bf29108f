package exec

import (
	"errors"
	"fmt"
	"slices"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Loading batches ahead. If a plan has several rooms for the data of a batch (plan.Ahead), the next batch is loaded while the
// step of another runs: Stage starts the copies, Step computes. If kernels read rows from host memory over the link, there are three
// rooms and two batches are loaded ahead, so that the link is never idle. The rooms are used in turn, so the rows of a batch stay on
// the device until the third batch after it is loaded, and the next two batches copy the rows that they share with it from there.

// ahead is the state of the rooms.
type ahead struct {
	from, bytes int64 // device offset of the first room, and bytes of a room; 0 bytes: the plan has no rooms
	rooms       int
	room        int    // number of the room that the current step reads
	next        *Batch // the batch in the room after that, loaded or being loaded; nil: none
	after       *Batch // the batch in the room after next's, likewise

	copied device.Event   // the data of a batch sampled on the GPU is copied: the sampler may overwrite it
	listed device.Event   // FarMark has found which rows must come over the link
	others device.Event   // all data of a batch except rows over the link is loaded
	ended  device.Event   // the kernels and results of a step have ended
	come   []device.Event // by room: all data of its batch is loaded
	flying bool           // the last step has returned while rows of a later batch are still being loaded
	lists  []device.Batch // commands of the last load
	steps  batchGraphs
	far    far
}

// at is the device offset, for the current step, of what the plan has at addr.
func (a *ahead) at(addr int64) int64 { return a.in(a.room, addr) }

// in is the device offset of what the plan has at addr: in the given room if addr lies in a room, else addr itself.
func (a *ahead) in(room int, addr int64) int64 {
	if addr >= a.from && addr < a.from+a.bytes {
		addr += int64(room) * a.bytes
	}
	return addr
}

// behind is the n-th room after that of the current step.
func (a *ahead) behind(n int) int { return (a.room + n) % a.rooms }

// Stage starts loading b to the device while the current step runs, so that a later step of b need not load it. It
// keeps b. A step of a batch other than the first staged one drops all staged batches. Without plan.Ahead, Stage does nothing.
// The error is an *OverflowError if b has more rows or edges than the plan has memory for. Stage also fails
// if Ahead batches are staged already.
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

// Staged tells whether b is staged and its step has not begun.
func (r *Runner) Staged(b *Batch) bool { return b == r.ahead.next || b == r.ahead.after }

// Ahead is how many batches can be staged.
func (r *Runner) Ahead() int { return max(0, r.ahead.rooms-1) }

// load submits the copies and kernels that bring b to a room.
func (r *Runner) load(b *Batch, room int) error {
	r.releaseLists()
	if err := r.warm(); err != nil {
		return err
	}
	r.ahead.far.tag++
	var far bool // the batch has rows that come over the link
	last := -1
	for i := range r.tasks {
		k := &r.tasks[i]
		if k.t.Kind != plan.Load {
			continue
		}
		q := r.arena.on(k.t.Device).queues[k.t.Queue]
		q.SetTag(int64(i))
		if err := r.copyBatch(b, room, k.t, q); err != nil {
			return r.names.task(i, err)
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
		return r.names.task(last, err)
	}
	return nil
}

// loaded records the event come of a room. A task that depends on one load of a batch waits for all of them: a plan leaves out
// dependences on loads that precede another awaited load in their queue. With far, the event is on the queue of the rows over the
// link, so that copies of the next batch need not wait for these rows.
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

// follow makes queue then wait for all tasks submitted to queue first so far. It makes the event if *e is nil.
func (r *Runner) follow(first, then device.Queue, e *device.Event) (err error) {
	dev := r.arena.devices[0].dev
	if *e == nil {
		if *e, err = dev.NewEvent(); err != nil {
			return err
		}
	}
	return errors.Join(dev.Record(first, *e), dev.Wait(then, *e))
}

// arrive moves on to the room of the batch that was set. If that batch was not staged, arrive loads it.
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
		a.next, a.far.match = nil, [2]uint32{} // the staged batches are dropped: their rows cannot be used
	} else if a.far.match[0] != 0 { // nothing is staged, as at the start of an epoch: keep the rows of the batch before
		a.room = a.behind(1)
	}
	return r.load(r.batch, a.room)
}

// StepBatch is Step for a plan over sampled blocks. It works on the batch of SetBatch. If meanwhile is not nil, StepBatch calls
// it while the device computes. meanwhile may call Stage until Ahead batches are staged.
func (r *Runner) StepBatch(meanwhile func() error) error {
	if r.batch == nil {
		return errors.New("exec: no batch was set")
	}
	err := r.Load()
	if err == nil {
		r.trace.begin(r.arena.devices, len(r.tasks))
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
		err = errors.Join(err, r.names.named(r.finish(err)))
		r.trace.end(r.arena.devices, err)
	}
	r.ended(err)
	return err
}

// finish waits for the step. If rows come over the link, finish does not wait for those of later batches: steps wait mostly for
// the link, so the next load should be submitted before the link is idle.
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

// bringResults submits the Results tasks, behind the step.
func (r *Runner) bringResults() error {
	for i := range r.tasks {
		k := &r.tasks[i]
		if k.t.Kind != plan.Results {
			continue
		}
		p := r.arena.on(k.t.Device)
		q := p.queues[k.t.Queue]
		q.SetTag(int64(i))
		if r.ahead.steps.ran { // a graph records no events of tasks
			if err := r.follow(p.queues[plan.Compute], q, &r.ahead.steps.end); err != nil {
				return r.names.task(i, err)
			}
			return r.fetch(int(k.t.Device), q)
		}
		for _, d := range r.plan.Deps[k.t.Deps[0]:k.t.Deps[1]] {
			if err := p.dev.Wait(q, r.awaited(int(d))); err != nil {
				return r.names.task(i, err)
			}
		}
		if err := r.fetch(int(k.t.Device), q); err != nil {
			return r.names.task(i, err)
		}
	}
	return nil
}

// SetTable sets the rows of all vertices of input id, for which the plan has a table. The slice must have Table.Rows×RowBytes bytes;
// it is kept and must not change.
func (r *Runner) SetTable(id int, rows []byte) error {
	t, v := r.plan.Places.Sets.TableOf(id), &r.plan.Spec.Values[id]
	if t == nil || int64(len(rows)) != int64(t.Rows)*v.RowBytes {
		return fmt.Errorf("exec: a table of %s of %d bytes; the plan has none of that size", v.Name, len(rows))
	}
	r.host.rows[id] = rows
	if t.Host {
		return r.arena.pin(rows)
	}
	return nil
}

// Room returns pinned host memory for the data of a batch, laid out as a room on the device: what the plan has at
// device offset a is at index a minus the second result. It is nil for plans without plan.Ahead, and valid until
// Close. Each call returns new memory.
func (r *Runner) Room() ([]byte, int64, error) {
	a := &r.ahead
	if a.bytes == 0 {
		return nil, 0, nil
	}
	b, err := r.host.pinned(a.bytes)
	return b, a.from, err
}

// indexed returns the programs changed so that operands in tables on the device (plan.Sets.InTable) are read by the list of the batch's
// vertices.
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

// takeRows runs a Take task on the CPU: it copies the rows of the batch's vertices out of a table.
func (r *Runner) takeRows(t *plan.Task, mem []byte) {
	row := r.plan.Spec.Values[t.Value].RowBytes
	for i, v := range r.batch.IDs[:r.batch.Rows[t.Own]] {
		copy(mem[t.Addr+int64(i)*row:][:row], mem[t.FromAddr+int64(v)*row:])
	}
}

// takeCommand is a Take task as a command for a GPU.
func (r *Runner) takeCommand(t *plan.Task, g *gpu) device.Command {
	words := uint64(r.plan.Spec.Values[t.Value].RowBytes) / 16
	n := uint64(r.batch.Rows[t.Own])
	return g.blockCall(kernel.BlockTake, (n*words+3)/4, g.base+uint64(t.Addr), g.base+uint64(t.FromAddr), r.idsOf(g), n, words)
}

// idsOf is the address of the vertex IDs of the current batch, in the memory of g.
func (r *Runner) idsOf(g *gpu) uint64 {
	return g.base + uint64(r.ahead.at(r.plan.Places.Sets.Ahead.IDs))
}

// blockCall is a launch of a kernel of kernel.Renderer.Blocks (fn: kernel.BlockTake and so on), with a thread for each of n
// elements.
func (g *gpu) blockCall(fn int, n uint64, args ...uint64) device.Command {
	blocks := min(1<<20, max(1, (n+255)/256))
	return device.Command{Call: &device.Call{Func: g.blocks[fn], Grid: [3]uint32{uint32(blocks), 1, 1}, Block: 256, Args: args}}
}
