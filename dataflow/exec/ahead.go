package exec

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Loading batches ahead. If a plan has several buffers for the data of a batch (plan.Ahead), the next batch is loaded while the
// step of another runs: Stage starts the copies, Step computes. If kernels read rows from host memory over the link, there are three
// buffers and two batches are loaded ahead, so that the link is never idle. The buffers are used in turn, so the rows of a batch stay on
// the device until the third batch after it is loaded, and the next two batches copy the rows that they share with it from there. With
// a fourth buffer three batches do.

// SetBatch sets the batch of the next steps, and keeps it. The error is an *OverflowError if the batch has more rows or
// edges than the plan has memory for.
func (r *Runner) SetBatch(b *Batch) error {
	err := b.fits(r.plan)
	if err == nil {
		r.now.batch = b
	}
	return err
}

// Stage starts loading b to the device while the current step runs, so that a later step of b need not load it. It
// keeps b. A step of a batch other than the first staged one drops all staged batches. Without plan.Ahead, Stage does nothing.
// The error is an *OverflowError if b has more rows or edges than the plan has memory for. Stage also fails
// if Ahead batches are staged already.
func (r *Runner) Stage(b *Batch) error { return r.load.stage(b) }

// Staged tells whether b is staged and its step has not begun.
func (r *Runner) Staged(b *Batch) bool { return b == r.load.next || b == r.load.after }

// Ahead is how many batches can be staged.
func (r *Runner) Ahead() int { return max(0, min(r.now.count-1, 2)) }

// SetTable sets the rows of all vertices of input id, for which the plan has a table. The slice must have Table.Rows×RowBytes bytes;
// it is kept and must not change.
func (r *Runner) SetTable(id int, rows []byte) error { return r.load.setTable(id, rows) }

// SetHot sets the rows of the table of input id that stay on the device. There must be Table.Hot of them. Call it before the first
// batch is loaded.
func (r *Runner) SetHot(id int, rows []uint32) error { return r.load.setHot(id, rows) }

// Alone turns off copies from the batches before: all rows that are not hot are read over the link.
func (r *Runner) Alone() { r.load.far.alone = true }

// FarRows returns three counts of rows of tables in host memory, over all batches so far: rows read over the link, hot rows, and
// rows copied from the batches before. No step may be running.
func (r *Runner) FarRows() ([plan.FarCounts]uint64, error) { return r.load.farRows() }

// Buffer returns pinned host memory for the data of a batch, laid out as a buffer on the device: what the plan has at
// device offset a is at index a minus the second result. It is nil for plans without plan.Ahead, and valid until
// Close. Each call returns new memory.
func (r *Runner) Buffer() ([]byte, int64, error) {
	if r.now.bytes == 0 {
		return nil, 0, nil
	}
	b, err := r.host.pinned(r.now.bytes)
	return b, r.now.from, err
}

// StepBatch is Step for a plan over sampled blocks. It works on the batch of SetBatch. If meanwhile is not nil, StepBatch calls
// it while the device computes. meanwhile may call Stage until Ahead batches are staged.
func (r *Runner) StepBatch(meanwhile func() error) error {
	if r.now.batch == nil {
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

// arrive brings the current batch to the device, unless it was staged or the plan has no buffers, so that the step's tasks load it.
func (r *Runner) arrive() error {
	if r.now.bytes == 0 {
		return nil
	}
	staged, err := r.load.arrive()
	if !staged {
		r.steps.of = nil
	}
	return err
}

// finish waits for the step. If rows come over the link, finish does not wait for those of later batches: steps wait mostly for
// the link, so the next load should be submitted before the link is idle.
func (r *Runner) finish(err error) error {
	p := &r.arena.devices[0]
	if r.steps.flying = err == nil && r.load.far.comes && r.trace == nil && !r.arena.OneByOne; r.steps.flying {
		if err = p.follow(p.queues[plan.Compute], p.queues[plan.D2H], &r.steps.ended); err == nil {
			err = p.dev.Record(p.queues[plan.D2H], r.steps.ended)
		}
		if err == nil {
			err = device.Await(p.dev, r.steps.ended)
		}
		if err == nil {
			return nil
		}
	}
	r.steps.flying = false
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
		if r.steps.ran { // a graph records no events of tasks
			if err := p.follow(p.queues[plan.Compute], q, &r.steps.end); err != nil {
				return r.names.task(i, err)
			}
			return r.copies.results(r.arena.number(k.t.Device), q)
		}
		for _, d := range r.plan.Deps[k.t.Deps[0]:k.t.Deps[1]] {
			if err := p.dev.Wait(q, r.awaited(int(d))); err != nil {
				return r.names.task(i, err)
			}
		}
		if err := r.copies.results(r.arena.number(k.t.Device), q); err != nil {
			return r.names.task(i, err)
		}
	}
	return nil
}

// BatchOutput is value id in host memory after a step: RowBytes for each row that its set has in the batch.
func (r *Runner) BatchOutput(id int) []byte { return r.load.output(id) }

// OutputRows is the first rows of output id in host memory after a step. Unlike BatchOutput it does not read the step's batch,
// whose memory the caller may already use for another batch.
func (r *Runner) OutputRows(id, rows int) []byte {
	return r.host.rows[id][:int64(rows)*r.plan.Spec.Values[id].RowBytes]
}
