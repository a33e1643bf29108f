package exec

import (
	"errors"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/kernel/cpu"
)

// Runner runs the steps of one plan.
type Runner struct {
	arena   *Arena
	plan    *plan.Plan
	sides   [2]*chunk.Side
	needs   [2][][]uint32 // by plan.Dir and cell: the rows of the other interval that a gathering load copies; nil: none does
	names   names
	host    *hosted
	ranks   *messages
	kernels []*cpu.Program // on CPU devices
	gpu     onGPUs
	tasks   []task
	results [][]float32                               // by plan.Spec.Results
	update  func(global func(id int) []float32) error // the optimiser on the host (OnUpdate)
	base    *Runner                                   // the runner of the plan's base, whose setup this one also uses; nil: none
	consts  map[int]*constant                         // by Global of kind Const
	has     has
	batch   *Batch      // of a plan over sampled blocks
	apart   [][]float32 // gradients on the host (Apart); nil: the step itself updates the parameters
	ahead   ahead
	stats   []Stats // by device
	trace   *tracer // nil: off
}

// has says what a runner's steps have left on the device.
type has struct {
	setup   bool // the setup is loaded
	ahead   bool // the setup was loaded once: resident inputs that steps write may be newer on the device than on the host
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
func (r *Runner) OnUpdate(f func(global func(id int) []float32) error) { r.update = f }

// Result is the Global plan.Spec.Results[i] after a step, in row-major order, valid until the next step.
func (r *Runner) Result(i int) []float32 { return r.results[i] }

// Stats is the sum over the runner's devices, since NewRunner.
func (r *Runner) Stats() Stats {
	var sum Stats
	for _, s := range r.stats {
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
	return r.ranks.share(r.results)
}
