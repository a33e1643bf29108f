package exec

import (
	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// kernels runs tasks of a plan as kernels on the arena's devices.
type kernels struct {
	plan     *plan.Plan
	arena    *Arena
	copies   *copies // has the cells
	now      *current
	update   *optimiser
	programs []*cpu.Program  // on CPU devices
	short    map[int][]short // by program: operands that have fewer rows than launches
	gpus     onGPUs
}

// open compiles the programs for the arena's devices.
func (x *kernels) open(programs []*kernel.Program) error {
	programs, x.short = padded(x.plan, indexed(x.plan, programs))
	if x.arena.onGPU() {
		rows, edges := x.copies.largest()
		return x.gpus.open(x.arena, x.plan, programs, rows, edges, x.now.bytes > 0)
	}
	for _, k := range programs {
		c, err := cpu.Compile(k)
		if err != nil {
			return err
		}
		x.programs = append(x.programs, c)
	}
	return nil
}

// task is a task of the plan as a kernel that devices run (device.HostKernel, device.GPUKernel).
type task struct {
	on    *kernels
	t     *plan.Task
	event device.Event // recorded after the task; nil: no queue waits for it
	more  bool         // a message: the device's next message crosses at the same time
	l     *cpu.Launch  // on the CPU; nil until bind
	view  chunk.View   // the cell of l
}

// Name says what the task is, for errors.
func (k *task) Name() string { return k.on.plan.DescribeTask(k.t) }

// Run computes the task on the CPU device.
func (k *task) Run(arena []byte) error {
	x, t := k.on, k.t
	mem := x.arena.on(t.Device).mem.In(arena)
	switch t.Kind {
	case plan.Zero:
		at, bytes := x.now.cleared(t)
		clear(mem[at : at+bytes])
		return nil
	case plan.Take:
		x.take(t, mem)
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
		return x.update.run(mem)
	}
	if k.l == nil || x.now.bytes > 0 {
		k.bind(mem)
	}
	if x.now.batch != nil {
		k.bindBatch(mem)
	}
	x.programs[t.Kernel].Run(k.l)
	return nil
}

// bind sets the buffers and the cell of a launch on the CPU. Once is enough, as the arena does not move, unless batches
// change buffers.
func (k *task) bind(mem []byte) {
	x, t := k.on, k.t
	floats := device.View[float32](mem[:len(mem)&^3])
	k.l = &cpu.Launch{Rows: int(t.Rows), First: t.Is.First, Last: t.Is.Last}
	for _, at := range x.plan.Args[t.Args[0]:t.Args[1]] {
		k.l.Bufs = append(k.l.Bufs, floats[x.now.at(at)/4:])
	}
	if t.Other >= 0 && x.plan.Places.Sets == nil {
		c := x.copies.cell(t)
		k.view = chunk.ViewOf(c, mem[t.Cell:t.Cell+c.Bytes])
		k.l.Cell = &k.view
	}
}

// bindBatch sets what the current batch determines of a launch on the CPU.
func (k *task) bindBatch(mem []byte) {
	now := k.on.now
	rows, c := now.of(k.t)
	if k.l.Rows, k.l.Live = rows, k.on.live(k.t); len(now.batch.IDs) > 0 {
		k.l.Index = now.batch.IDs[now.plan.Places.Sets.IDsOf(now.index(k.t)):]
	}
	if c != nil {
		at := now.at(k.t.Cell)
		k.view = chunk.ViewOf(&c.Cell, mem[at:at+c.Bytes])
		k.l.Cell = &k.view
	}
}

// take runs a Take task on the CPU: it copies the rows of the batch's vertices out of a table.
func (x *kernels) take(t *plan.Task, mem []byte) {
	row, b := x.plan.Spec.Values[t.Value].RowBytes, x.now.batch
	z := x.plan.Places.Sets
	for i, v := range b.IDs[z.IDsOf(z.TypeOf(int(t.Own))):][:b.Rows[t.Own]] {
		copy(mem[t.Addr+int64(i)*row:][:row], mem[t.FromAddr+int64(v)*row:])
	}
}
