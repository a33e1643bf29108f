package exec

import (
	"fmt"
	"math"

	"sagann/backend"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// GPUUpdate is the optimiser as GPU code (kernel.Renderer.Optimizer). A kernel updates one parameter per call.
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

// stepWords is the size in float32 of the memory for the numbers of Step and, at its end, the note.
const (
	stepWords = 64
	noteWords = 2
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

// note returns the note that the optimiser's kernels have written on the first GPU since clearNote.
func (o *optimiser) note() (note [noteWords]uint32, err error) {
	if o.calls == nil || len(o.gpus.each) == 0 {
		return note, nil
	}
	p := &o.arena.devices[0]
	err = p.dev.CopyD2H(p.queues[plan.D2H], device.Bytes(note[:]), o.gpus.each[0].memory, noteAt)
	if err == nil {
		err = p.dev.Sync()
	}
	if err != nil {
		return note, fmt.Errorf("read the optimiser's note: %w", err)
	}
	return note, nil
}

// commands adds the calls of the optimiser on one GPU.
func (o *optimiser) commands(x *commands) {
	g := x.gpu
	of := func(name string, id int) kernel.GPUArg { return at(name, g.base+uint64(o.plan.Globals[id])) }
	for _, c := range o.calls.Calls {
		args := kernel.GPUArgs{at("step", g.step), at("note", g.step+noteAt), of("w", c.Param), of("g", c.Grad)}
		f, rate := g.update, num("decay", uint64(math.Float32bits(c.Decay)))
		if c.Share > 0 {
			f, rate = g.average, num("share", uint64(math.Float32bits(c.Share)))
		}
		for k, id := range c.Moments {
			args = append(args, of([]string{"m", "v"}[k], id))
		}
		x.call(f, uint64(min(1024, (c.N+255)/256)), append(args, num("n", uint64(c.N)), rate, num("number", uint64(c.Number))))
	}
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
