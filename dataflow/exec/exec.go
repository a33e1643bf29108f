package exec

import (
	"errors"

	"sagann/dataflow/plan"
)

// Runner runs the steps of one plan.
type Runner struct {
	arena    *Arena
	plan     *plan.Plan
	base     *Runner // the runner of the plan's base, whose setup this one also uses; nil: none
	names    names
	host     *hosted
	ranks    *messages
	copies   *copies
	kernels  *kernels
	update   *optimiser
	now      current
	load     *loader
	tasks    []task
	globals  *globals
	has      has
	captured *captured   // a step on one GPU; nil before the first
	steps    batchGraphs // steps of batches
	trace    *tracer     // nil: off
}

// has says what a runner's steps have left on the device.
type has struct {
	setup   bool // the setup is loaded
	ahead   bool // the setup was loaded once: resident inputs that steps write may be newer on the device than on the host
	windows bool // windows that last from one step to the next have what the setup loaded, or a step left
	stepped bool // the last step ended without an error
	held    bool // the values that the last step computed are still in device memory
}

// Stats counts the bytes that a runner has copied. Setup counts loads of the plan's setup, which are not in H2D.
type Stats struct{ H2D, D2H, D2D, Setup int64 }

// Output is value id in host memory after a step: V×RowBytes bytes in new vertex
// order, valid until the next step.
func (r *Runner) Output(id int) []byte { return r.host.rows[id] }

// Plan is the plan that the runner runs.
func (r *Runner) Plan() *plan.Plan { return r.plan }

// OnUpdate sets the optimiser, a function on the host. It runs as the Update task of each device, when all gradients are
// summed. global returns the numbers of a Global of that device; what f writes to Globals of kind Param is kept.
func (r *Runner) OnUpdate(f func(global func(id int) []float32) error) { r.update.host = f }

// OnUpdateGPU sets the optimiser of a runner on GPUs. Without it, the function given to OnUpdate
// runs on the host.
func (r *Runner) OnUpdateGPU(u *GPUUpdate) error { return r.update.compile(u) }

// ClearNote sets the note of every GPU to zero. No step may be running.
func (r *Runner) ClearNote() error { return r.update.clearNote() }

// Note returns the number of the parameter and the epoch of the note that the optimiser's kernels have written on the first GPU since
// ClearNote; zeros without a GPUUpdate. No step may be running.
func (r *Runner) Note() (number, epoch uint32, err error) { return r.update.note() }

// Apart makes steps copy gradients to the host instead of updating. Call it once, before the first step.
func (r *Runner) Apart() error { return r.update.separate(r.host) }

// Gradients are the gradients of the last step, in the order of plan.Spec.Updates, valid until the next step. They may
// be changed and passed to Apply.
func (r *Runner) Gradients() [][]float32 { return r.update.apart }

// Apply updates the parameters by grads, in the order of plan.Spec.Updates, and returns when the update has ended. It
// overwrites Gradients and, where another runner of the arena has run since, what that runner held.
func (r *Runner) Apply(grads [][]float32) error {
	if err := r.own(); err != nil {
		return err
	}
	return errors.Join(r.update.apply(grads, r.tasks, r.names), r.names.named(r.arena.sync()))
}

// Result is the Global plan.Spec.Results[i] after a step, in row-major order, valid until the next step.
func (r *Runner) Result(i int) []float32 { return r.host.results[i] }

// Stats is the sum over the runner's devices, since NewRunner.
func (r *Runner) Stats() Stats {
	var sum Stats
	for _, s := range r.copies.stats {
		sum.H2D, sum.D2H, sum.D2D, sum.Setup = sum.H2D+s.H2D, sum.D2H+s.D2H, sum.D2D+s.D2D, sum.Setup+s.Setup
	}
	return sum
}

// Step runs the plan once and returns when all tasks have ended. Over sampled blocks it works on the batch of SetBatch.
func (r *Runner) Step() error {
	if r.plan.Places.Sets != nil {
		return r.StepBatch(nil)
	}
	err := r.Load()
	if err == nil {
		err = r.step()
	}
	r.ended(err)
	return err
}

func (r *Runner) step() error {
	if done, err := r.replay(); done {
		return err
	}
	r.trace.begin(r.arena.devices, len(r.tasks))
	err := errors.Join(r.submitAll(), r.names.named(r.arena.sync()))
	r.trace.end(r.arena.devices, err)
	if err == nil {
		err = r.arena.sent()
	}
	if err != nil {
		r.arena.ranks.Abort(err) // otherwise the other ranks would wait forever for its messages
		return err
	}
	return r.ranks.share()
}
