package exec

import (
	"fmt"
	"math"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// GPUUpdate is the optimiser as GPU code. A kernel updates one parameter per call. Its first two arguments are the
// address of the numbers of Step and the address of the note, two uint32 that the kernel may write and
// Runner.Note reads. The arguments of the UpdateCall follow.
type GPUUpdate struct {
	Kind  kernel.Optimizer
	Calls []UpdateCall     // one per parameter
	Step  func() []float32 // returns the numbers that change between steps, at most stepWords-noteWords
}

// UpdateCall is the update of one parameter of N float32. The kernel's arguments are the device
// addresses of Globals, then N, then Words.
type UpdateCall struct {
	Globals []int // indices into plan.Spec.Globals: the parameter, its gradient, moments
	N       int
	Words   []uint64
	Average bool // a running statistic: it moves towards the second Global by Words[0], the bits of a float32
}

// stepWords is the size in float32 of the memory for the numbers of Step and, at its end, the note.
const (
	stepWords = 64
	noteWords = 2
	noteAt    = 4 * (stepWords - noteWords) // in bytes
)

// OnUpdateGPU sets the optimiser of a runner on GPUs. Without it, the function given to OnUpdate
// runs on the host.
func (r *Runner) OnUpdateGPU(u *GPUUpdate) error {
	for _, g := range r.gpu.each {
		text := r.gpu.renderer.Optimizer(u.Kind)
		f, err := g.dev.Compile(text.Source, text.Names)
		if err != nil {
			return fmt.Errorf("exec: optimiser: %w", err)
		}
		g.update, g.average = f[0], f[1]
	}
	r.gpu.update = u
	return r.ClearNote()
}

// ClearNote sets the note of every GPU to zero. No step may be running.
func (r *Runner) ClearNote() error {
	if r.gpu.update == nil {
		return nil
	}
	for i, g := range r.gpu.each {
		p := &r.arena.devices[i]
		if err := p.dev.CopyH2D(p.queues[plan.H2D], g.memory, noteAt, device.Bytes(make([]float32, noteWords))); err != nil {
			return fmt.Errorf("clear the optimiser's note: %w", err)
		}
	}
	return r.arena.syncFor("clear the optimiser's note")
}

// Note returns the note that the optimiser's kernels have written on the first GPU since ClearNote; zero without a
// GPUUpdate. No step may be running.
func (r *Runner) Note() (note [noteWords]uint32, err error) {
	if r.gpu.update == nil || len(r.gpu.each) == 0 {
		return note, nil
	}
	p, x := &r.arena.devices[0], make([]float32, noteWords)
	if err := p.dev.CopyD2H(p.queues[plan.D2H], device.Bytes(x), r.gpu.each[0].memory, noteAt); err != nil {
		return note, fmt.Errorf("read the optimiser's note: %w", err)
	}
	if err := p.dev.Sync(); err != nil {
		return note, fmt.Errorf("read the optimiser's note: %w", err)
	}
	for i := range note {
		note[i] = math.Float32bits(x[i])
	}
	return note, nil
}

// updateCommands are the calls of the optimiser on one GPU.
func (k *task) updateCommands(g *gpu) []device.Command {
	var list []device.Command
	for _, c := range k.r.gpu.update.Calls {
		args := []uint64{g.step, g.step + noteAt}
		for _, id := range c.Globals {
			args = append(args, g.base+uint64(k.r.plan.Globals[id]))
		}
		args = append(append(args, uint64(c.N)), c.Words...)
		f := g.update
		if c.Average {
			f = g.average
		}
		list = append(list, device.Command{Call: &device.Call{Func: f,
			Grid: [3]uint32{uint32(min(1024, (c.N+255)/256)), 1, 1}, Block: 256, Args: args}})
	}
	return list
}

// submitUpdate submits the optimiser to the task's device. For a GPU without a GPUUpdate it runs it on the host.
func (k *task) submitUpdate(q device.Queue) error {
	r, t := k.r, k.t
	if r.gpu.each == nil {
		return r.arena.on(t.Device).dev.Launch(q, k)
	}
	if r.gpu.update == nil {
		return r.updateGPU(t)
	}
	p := r.arena.on(t.Device)
	if !r.gpu.capturing {
		if err := r.setStep(r.arena.number(t.Device), q); err != nil {
			return err
		}
	}
	return p.dev.Launch(q, k)
}

// setStep submits the copy of the numbers of GPUUpdate.Step to a device.
func (r *Runner) setStep(on int, q device.Queue) error {
	x := r.gpu.update.Step()
	if len(x) > stepWords-noteWords {
		return fmt.Errorf("exec: the optimiser has %d numbers a step, not at most %d", len(x), stepWords-noteWords)
	}
	return r.arena.devices[on].dev.CopyH2D(q, r.gpu.each[on].memory, 0, device.Bytes(x))
}

// updateGPU runs the optimiser on the host for a GPU. It copies the Globals that the optimiser asks for to the host, and
// those of kind Param, which are parameters and moments, back to the GPU.
func (r *Runner) updateGPU(t *plan.Task) error {
	if r.update == nil {
		return nil
	}
	if err := r.arena.sync(); err != nil {
		return err
	}
	p := r.arena.on(t.Device)
	q := p.queues[plan.Compute]
	held := map[int][]float32{}
	var order []int
	var wrong error
	err := r.update(func(id int) []float32 {
		if x := held[id]; x != nil {
			return x
		}
		g := r.plan.Spec.Globals[id]
		x := make([]float32, g.Rows*g.Cols)
		held[id] = x
		order = append(order, id)
		if wrong == nil {
			wrong = p.dev.CopyD2H(q, device.Bytes(x), p.mem, r.plan.Globals[id])
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
		if err == nil && r.plan.Spec.Globals[id].Kind == plan.Param {
			err = p.dev.CopyH2D(q, p.mem, r.plan.Globals[id], device.Bytes(held[id]))
		}
	}
	return err
}

// hostUpdate tells whether the optimiser runs on the host, in the middle of a step.
func (r *Runner) hostUpdate() bool { return r.update != nil && r.gpu.update == nil }
