package exec

import (
	"fmt"
	"math"
	"slices"

	"sagann/backend"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/device/launch"
	"sagann/kernel"
)

// GPUUpdate is the optimiser as GPU code (kernel.Renderer.Optimizer).
type GPUUpdate struct {
	Kind  kernel.Optimizer
	Calls []UpdateCall     // one per parameter
	Step  func() []float32 // returns the numbers that change between steps, at most stepWords-noteWords
}

// UpdateCall is the update of one parameter of N float32. The indices are those of plan.Spec.Globals.
type UpdateCall struct {
	Param, Grad int
	Moments     []int // as many as the kind has
	N           int
	Number      int     // what the note gets if a number of the parameter is not finite (Runner.Note)
	Decay       float32 // weight decay
	Share       float32 // above 0: a running statistic, which moves towards Grad by this share of the distance
}

// stepWords is the size in float32 of the memory for the numbers of Step and, at its end, the note: the complement of the parameter's number, the
// epoch and the update.
const (
	stepWords = 64
	noteWords = 3
	noteAt    = 4 * (stepWords - noteWords) // in bytes
)

// optimiser updates the parameters: on the host, by kernels of GPUs or, with gradients on the host, apart from steps.
type optimiser struct {
	plan  *plan.Plan
	arena *Arena
	host  func(global func(id int) []float32) error // nil: nothing is updated
	calls *GPUUpdate                                // nil: the optimiser runs on the host
	gpus  *onGPUs
	apart [][]float32 // gradients on the host (Runner.Apart); nil: the step itself updates the parameters
}

// compile compiles an optimiser for GPUs.
func (o *optimiser) compile(u *GPUUpdate) error {
	for _, g := range o.gpus.each {
		f, err := backend.Compile(g.dev, o.gpus.renderer.Optimizer(u.Kind))
		if err != nil {
			return fmt.Errorf("exec: optimiser: %w", err)
		}
		g.update, g.average = f[0], f[1]
	}
	o.calls = u
	return o.clearNote()
}

// clearNote sets the note of every GPU to zero.
func (o *optimiser) clearNote() error {
	if o.calls == nil {
		return nil
	}
	for i, g := range o.gpus.each {
		p := &o.arena.devices[i]
		if err := p.dev.CopyH2D(p.queues[plan.H2D], g.memory, noteAt, device.Bytes(make([]float32, noteWords))); err != nil {
			return fmt.Errorf("clear the optimiser's note: %w", err)
		}
	}
	return o.arena.syncFor("clear the optimiser's note")
}

// note returns the parameter's number and the epoch of the note that the optimiser's kernels have written on the first GPU since clearNote.
func (o *optimiser) note() (number, epoch uint32, err error) {
	var note [noteWords]uint32
	if o.calls == nil || len(o.gpus.each) == 0 {
		return 0, 0, nil
	}
	p := &o.arena.devices[0]
	err = p.dev.CopyD2H(p.queues[plan.D2H], device.Bytes(note[:]), o.gpus.each[0].memory, noteAt)
	if err == nil {
		err = p.dev.Sync()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the optimiser's note: %w", err)
	}
	if note[0] != 0 {
		number = ^note[0]
	}
	return number, note[1], nil
}

// commands adds the calls of the optimiser on one GPU.
func (o *optimiser) commands(x *commands) {
	g := x.gpu
	var updates, averages []UpdateCall
	for _, c := range o.calls.Calls {
		if c.Share > 0 {
			c.Decay = c.Share
			averages = append(averages, c)
		} else {
			updates = append(updates, c)
		}
	}
	for calls := range slices.Chunk(updates, kernel.UpdatesTogether) {
		o.together(x, g.update, calls)
	}
	for calls := range slices.Chunk(averages, kernel.UpdatesTogether) {
		o.together(x, g.average, calls)
	}
}

// together adds the launch of kernel f for calls.
func (o *optimiser) together(x *commands, f *launch.Kernel, calls []UpdateCall) {
	args, most := kernel.GPUArgs{at("step", x.gpu.step), at("note", x.gpu.step+noteAt)}, 0
	for k := range kernel.UpdatesTogether {
		var c UpdateCall
		named := func(name string) string { return fmt.Sprint(name, k) }
		of := func(name string, id int) { args = append(args, at(named(name), x.gpu.base+uint64(o.plan.Globals[id]))) }
		if k < len(calls) {
			c = calls[k]
			of("w", c.Param)
			of("g", c.Grad)
			for m, id := range c.Moments {
				of([]string{"m", "v"}[m], id)
			}
		} else {
			for _, name := range append([]string{"w", "g"}, []string{"m", "v"}[:len(calls[0].Moments)]...) {
				args = append(args, at(named(name), 0))
			}
		}
		most = max(most, c.N)
		args = append(args, num(named("n"), uint64(c.N)), num(named("decay"), uint64(math.Float32bits(c.Decay))), num(named("number"), uint64(c.Number)))
	}
	x.call(f, uint64(min(1024, (most+255)/256)), args).Grid[1] = uint32(len(calls))
}

// submit submits the optimiser to the device of Update task k. For a GPU without a GPUUpdate it runs it on the host.
func (o *optimiser) submit(k *task, q device.Queue) error {
	if o.gpus.each != nil && o.calls == nil {
		return o.forGPU(k.t)
	}
	if o.gpus.each != nil && !o.gpus.capturing {
		if err := o.numbers(o.arena.number(k.t.Device), q); err != nil {
			return err
		}
	}
	return o.arena.on(k.t.Device).dev.Launch(q, k)
}

// run runs the optimiser as a kernel of a CPU device with memory mem.
func (o *optimiser) run(mem []byte) error {
	if o.host == nil {
		return nil
	}
	return o.host(func(id int) []float32 {
		at := o.plan.Globals[id]
		return device.View[float32](mem[at : at+o.plan.Spec.Globals[id].Bytes()])
	})
}

// numbers submits the copy of the numbers of GPUUpdate.Step to a device of the arena.
func (o *optimiser) numbers(on int, q device.Queue) error {
	x := o.calls.Step()
	if len(x) > stepWords-noteWords {
		return fmt.Errorf("exec: the optimiser has %d numbers a step, not at most %d", len(x), stepWords-noteWords)
	}
	return o.arena.devices[on].dev.CopyH2D(q, o.gpus.each[on].memory, 0, device.Bytes(x))
}

// forGPU runs the optimiser on the host for a GPU. It copies the Globals that the optimiser asks for to the host, and
// those of kind Param, which are parameters and moments, back to the GPU.
func (o *optimiser) forGPU(t *plan.Task) error {
	if o.host == nil {
		return nil
	}
	if err := o.arena.sync(); err != nil {
		return err
	}
	p := o.arena.on(t.Device)
	q := p.queues[plan.Compute]
	held := map[int][]float32{}
	var order []int
	var wrong error
	err := o.host(func(id int) []float32 {
		if x := held[id]; x != nil {
			return x
		}
		g := o.plan.Spec.Globals[id]
		x := make([]float32, g.Rows*g.Cols)
		held[id] = x
		order = append(order, id)
		if wrong == nil {
			wrong = p.dev.CopyD2H(q, device.Bytes(x), p.mem, o.plan.Globals[id])
		}
		if wrong == nil {
			wrong = p.dev.Sync()
		}
		return x
	})
	if err == nil {
		err = wrong
	}
	for _, id := range order {
		if err == nil && o.plan.Spec.Globals[id].Kind == plan.Param {
			err = p.dev.CopyH2D(q, p.mem, o.plan.Globals[id], device.Bytes(held[id]))
		}
	}
	return err
}

// onHost tells whether the optimiser runs on the host, in the middle of a step.
func (o *optimiser) onHost() bool { return o.host != nil && o.calls == nil }
