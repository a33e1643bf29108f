package exec

import (
	"fmt"
	"math"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// GPUUpdate is the optimiser as device code. Its one kernel gets, before the
// arguments of a call, the addresses of the numbers of the step and of the note, two
// words of uint32 that it may write and Runner.Note reads.
type GPUUpdate struct {
	Kind  kernel.Optimizer
	Calls []UpdateCall     // one a parameter
	Step  func() []float32 // at most stepWords-noteWords numbers that change between steps
}

// UpdateCall is the update of one parameter of N numbers: the arguments are the
// addresses of Globals, N, and Words as they are.
type UpdateCall struct {
	Globals []int
	N       int
	Words   []uint64
	Average bool // the parameter moves by Words[0], a float32, towards the second Global
}

// stepWords is the room of the numbers of a step, in floats; the last are the note.
const (
	stepWords = 64
	noteWords = 2
	noteAt    = 4 * (stepWords - noteWords) // in bytes
)

// OnUpdateGPU sets the optimiser of runners on GPUs. Without it what OnUpdate was
// given runs on the host.
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

// ClearNote makes the note of every GPU zero; no step may be running.
func (r *Runner) ClearNote() error {
	if r.gpu.update == nil {
		return nil
	}
	for i, g := range r.gpu.each {
		p := &r.arena.devices[i]
		if err := p.dev.CopyH2D(p.queues[plan.H2D], g.memory, noteAt, bytesOf(make([]float32, noteWords))); err != nil {
			return fmt.Errorf("clear the optimiser's note: %w", err)
		}
	}
	return r.arena.syncFor("clear the optimiser's note")
}

// Note is what the optimiser's kernels have noted on the first GPU since ClearNote, and
// zero without a GPUUpdate; no step may be running.
func (r *Runner) Note() (note [noteWords]uint32, err error) {
	if r.gpu.update == nil || len(r.gpu.each) == 0 {
		return note, nil
	}
	p, x := &r.arena.devices[0], make([]float32, noteWords)
	if err := p.dev.CopyD2H(p.queues[plan.D2H], bytesOf(x), r.gpu.each[0].memory, noteAt); err != nil {
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

// submitUpdate runs the optimiser on the task's device, or for a GPU on the host.
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
		if err := r.setStep(int(t.Device)-r.arena.first, q); err != nil {
			return err
		}
	}
	return p.dev.Launch(q, k)
}

// setStep gives a device the optimiser's numbers of this step.
func (r *Runner) setStep(device int, q device.Queue) error {
	x := r.gpu.update.Step()
	if len(x) > stepWords-noteWords {
		return fmt.Errorf("exec: the optimiser has %d numbers a step, not at most %d", len(x), stepWords-noteWords)
	}
	return r.arena.devices[device].dev.CopyH2D(q, r.gpu.each[device].memory, 0, bytesOf(x))
}

// updateGPU runs the optimiser on the host: what it asks for comes down, and the
// parameters and their moments go back up.
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
			wrong = p.dev.CopyD2H(q, bytesOf(x), p.mem, r.plan.Globals[id])
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
			err = p.dev.CopyH2D(q, p.mem, r.plan.Globals[id], bytesOf(held[id]))
		}
	}
	return err
}

// hostUpdate tells whether the optimiser runs on the host, in the middle of a step.
func (r *Runner) hostUpdate() bool { return r.update != nil && r.gpu.update == nil }
