package exec

import (
	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel/cpu"
)

func (k *task) submit(q device.Queue) error {
	r, t := k.r, k.t
	switch t.Kind {
	case plan.Load, plan.Save, plan.Copy:
		switch {
		case r.plan.Places.Sets == nil:
		case t.Kind == plan.Load && r.ahead.bytes > 0: // it was loaded ahead
			return nil
		default:
			return r.copyBatch(r.batch, r.ahead.room, t, q)
		}
		switch s := &r.stats[r.arena.number(t.Device)]; t.Kind {
		case plan.Load:
			s.H2D += t.Bytes
		case plan.Save:
			s.D2H += t.Bytes
		default:
			s.D2D += t.Bytes
		}
		return r.copy(t)
	case plan.Results:
		if r.gpu.capturing {
			return nil
		}
		return r.fetch(r.arena.number(t.Device), q)
	case plan.Send, plan.Receive:
		return r.ranks.submit(t, q)
	}
	if t.Kind == plan.Update {
		if r.apart != nil {
			return r.bringGradients(q)
		}
		return k.submitUpdate(q)
	}
	return r.arena.on(t.Device).dev.Launch(q, k)
}

// fetch brings the results of a step to the host.
func (r *Runner) fetch(on int, q device.Queue) error {
	p := &r.arena.devices[on]
	for i, id := range r.plan.Spec.Results {
		if err := p.dev.CopyD2H(q, device.Bytes(r.results[i]), p.mem, r.plan.Globals[id]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) copy(t *plan.Task) error {
	a := r.arena.on(t.Device)
	q := a.queues[t.Queue]
	switch {
	case t.Kind == plan.Copy:
		from := r.arena.on(t.From)
		return a.dev.CopyD2D(q, a.mem, t.Addr, from.dev, from.mem, t.FromAddr, t.Bytes)
	case t.Value < 0:
		side := r.sides[t.Dir]
		return a.dev.CopyH2D(q, a.mem, t.Addr, side.Block(int(t.Own)*side.P+int(t.Other)))
	}
	rows, err := r.host.interval(int(t.Value), int(t.Own))
	if err != nil {
		return err
	}
	if t.Is.Gather {
		return a.dev.CopyRows(q, a.mem, t.Addr, rows, r.plan.Spec.Values[t.Value].RowBytes, r.needs[t.Dir][int(t.Other)*r.plan.Cells.P+int(t.Own)])
	}
	if t.Kind == plan.Save {
		return a.dev.CopyD2H(q, rows, a.mem, t.Addr)
	}
	return a.dev.CopyH2D(q, a.mem, t.Addr, rows)
}

// Name says what the task is, for errors.
func (k *task) Name() string { return k.r.plan.DescribeTask(k.t) }

// Run computes the task on the CPU device.
func (k *task) Run(arena []byte) error {
	r, t := k.r, k.t
	mem := r.arena.on(t.Device).mem.In(arena)
	switch t.Kind {
	case plan.Zero:
		at, bytes := t.Addr, t.Bytes
		if t.Value >= 0 {
			at, bytes = r.tail(t)
		}
		clear(mem[at : at+bytes])
		return nil
	case plan.Take:
		r.takeRows(t, mem)
		return nil
	case plan.Add:
		floats := device.View[float32](mem[:len(mem)&^3])
		n := t.Bytes / 4
		dst, src := floats[t.Addr/4:t.Addr/4+n], floats[t.FromAddr/4:t.FromAddr/4+n]
		if t.Is.Max {
			cpu.MaxOrdered(dst, src)
		} else {
			cpu.AddTo(dst, src)
		}
		return nil
	case plan.Update:
		if r.update == nil {
			return nil
		}
		return r.update(func(id int) []float32 {
			at := r.plan.Globals[id]
			return device.View[float32](mem[at : at+r.plan.Spec.Globals[id].Bytes()])
		})
	}
	if k.l == nil || r.ahead.bytes > 0 {
		k.bind(mem)
	}
	if r.batch != nil {
		k.bindBatch(mem)
	}
	r.kernels[t.Kernel].Run(k.l)
	return nil
}

// bind sets the buffers and the cell of a launch on the CPU. Once is enough, as the arena does not move, unless batches
// change rooms.
func (k *task) bind(mem []byte) {
	r, t := k.r, k.t
	floats := device.View[float32](mem[:len(mem)&^3])
	k.l = k.operands(floats)
	if t.Other >= 0 && r.plan.Places.Sets == nil {
		side := r.sides[t.Dir]
		c := &side.Cells[int(t.Own)*side.P+int(t.Other)]
		k.view = chunk.ViewOf(c, mem[t.Cell:t.Cell+c.Bytes])
		k.l.Cell = &k.view
	}
}

// task is a task of the plan as a kernel that devices run (device.HostKernel, device.GPUKernel).
type task struct {
	r     *Runner
	t     *plan.Task
	event device.Event // recorded after the task; nil: no queue waits for it
	more  bool         // a message: the device's next message crosses at the same time
	l     *cpu.Launch  // on the CPU; nil until bind
	view  chunk.View   // the cell of l
}
