package exec

import (
	"errors"
	"fmt"

	"sagann/dataflow/plan"
	"sagann/device"
)

// loader brings batches of sampled blocks to the device, and what a step computes of a batch back.
type loader struct {
	plan   *plan.Plan
	arena  *Arena
	names  names
	host   *hosted
	copies *copies // counts
	gpu    *gpu    // nil: on the CPU
	once   once    // launches of the last load
	now    *current
	next   *Batch // the batch in the buffer after the current one, loaded or being loaded; nil: none
	after  *Batch // the batch in the buffer after next's, likewise

	come   []device.Event // by buffer: all data of its batch is loaded
	copied device.Event   // the data of a batch sampled on the GPU is copied: the sampler may overwrite it
	listed device.Event   // FarMark has found which rows must come over the link
	others device.Event   // all data of a batch except rows over the link is loaded
	far    far
}

// stage starts loading b to the device while the current step runs, if the plan has rooms for that.
func (l *loader) stage(b *Batch) error {
	if l.now.bytes == 0 {
		return nil
	}
	if err := b.fits(l.plan); err != nil {
		return err
	}
	buffer, to := l.now.behind(1), &l.next
	if l.next != nil {
		if buffer, to = l.now.behind(2), &l.after; l.after != nil || l.now.count < 3 {
			return errors.New("exec: there is no room for so many batches")
		}
	}
	err := l.load(b, buffer)
	if err == nil {
		*to = b
	}
	return err
}

// arrive moves on to the buffer of the batch that is current now. If that batch was not staged, arrive loads it and returns false.
func (l *loader) arrive() (staged bool, err error) {
	x := l.now
	next := l.next
	l.next, l.after = l.after, nil
	if next == x.batch {
		x.buffer = x.behind(1)
		return true, nil
	}
	if next != nil {
		l.next, l.far.match = nil, matched{} // the staged batches are dropped: their rows cannot be used
	} else if l.far.match[0] != 0 { // nothing is staged, as at the start of an epoch: keep the rows of the batch before
		x.buffer = x.behind(1)
	}
	return false, l.load(x.batch, x.buffer)
}

// lose notes that device memory has no batches any more.
func (l *loader) lose() { l.next, l.after, l.far.match = nil, nil, matched{} }

// load submits the copies and kernels that bring b to a buffer.
func (l *loader) load(b *Batch, buffer int) error {
	l.once.release()
	if err := l.warm(); err != nil {
		return err
	}
	l.far.tag++
	var far bool // the batch has rows that come over the link
	last := -1
	for i := range l.plan.Tasks {
		t := &l.plan.Tasks[i]
		if t.Kind != plan.Load {
			continue
		}
		q := l.arena.on(t.Device).queues[t.Queue]
		q.SetTag(int64(i))
		if err := l.copy(b, buffer, t, q); err != nil {
			return l.names.task(i, err)
		}
		last, far = i, far || l.farTable(t) != nil
	}
	if err := l.drawNext(b); err != nil {
		return err
	}
	if far {
		if err := l.takeNear(b, buffer); err != nil {
			return err
		}
	}
	if f := &l.far; !f.alone {
		f.match = matched{f.tag, f.match[0], f.match[1]}
	}
	if err := l.loaded(buffer, far); err != nil {
		return l.names.task(last, err)
	}
	return nil
}

// loaded records the event come of a buffer. A task that depends on one load of a batch waits for all of them: a plan leaves out
// dependences on loads that precede another awaited load in their queue. With far, the event is on the queue of the rows over the
// link, so that copies of the next batch need not wait for these rows.
func (l *loader) loaded(buffer int, far bool) (err error) {
	p := &l.arena.devices[0]
	q := p.queues[plan.H2D]
	if far {
		if err := p.follow(q, p.queues[plan.D2D], &l.others); err != nil {
			return err
		}
		q = p.queues[plan.D2D]
	}
	if l.come[buffer] == nil {
		if l.come[buffer], err = p.dev.NewEvent(); err != nil {
			return err
		}
	}
	return p.dev.Record(q, l.come[buffer])
}

// copy submits the Load or Save task t for batch b. A load goes to a buffer.
func (l *loader) copy(b *Batch, buffer int, t *plan.Task, q device.Queue) error {
	a, s := l.arena.on(t.Device), l.copies.of(t)
	var from []byte
	if table := l.farTable(t); table != nil {
		return l.takeFar(b, buffer, t, table, q)
	}
	if t.Kind == plan.Load && b.Drawn != nil {
		if done, err := l.copyDrawn(b, buffer, t, q); done || err != nil {
			return err
		}
	}
	switch {
	case t.Kind == plan.Save:
		rows := l.output(int(t.Value))
		s.D2H += int64(len(rows))
		return a.dev.CopyD2H(q, rows, a.mem, l.now.at(t.Addr))
	case t.Value >= 0:
		from = b.Inputs[int(t.Value)]
	case t.Own < 0:
		from = device.Bytes(b.IDs)
	default:
		c := &b.Cells[t.Own][t.Dir.Way()]
		from = c.Mem[:c.Bytes]
	}
	s.H2D += int64(len(from))
	return a.dev.CopyH2D(q, a.mem, l.now.in(buffer, t.Addr), from)
}

// output is the rows of value id that the current batch has, in host memory.
func (l *loader) output(id int) []byte {
	b, v := l.now.batch, &l.plan.Spec.Values[id]
	if v.Kind == plan.Input && !v.Output {
		return b.Inputs[id]
	}
	return l.host.rows[id][:int64(b.Rows[v.Set])*v.RowBytes]
}

// setTable sets the rows of all vertices of input id, for which the plan has a table.
func (l *loader) setTable(id int, rows []byte) error {
	t, v := l.plan.Places.Sets.TableOf(id), &l.plan.Spec.Values[id]
	if t == nil || int64(len(rows)) != int64(t.Rows)*v.RowBytes {
		return fmt.Errorf("exec: a table of %s of %d bytes; the plan has none of that size", v.Name, len(rows))
	}
	l.host.rows[id] = rows
	if t.Host {
		return l.arena.pin(rows)
	}
	return nil
}
