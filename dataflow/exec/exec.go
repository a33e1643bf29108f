package exec

import (
	"errors"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel/cpu"
)

// Runner runs one plan, again and again.
type Runner struct {
	arena   *Arena
	plan    *plan.Plan
	sides   [2]*chunk.Side
	needs   [2][][]uint32 // by cell: the other rows that it reads, where a task gathers them
	host    [][]byte      // by value: rows in new order, RowBytes each
	owns    []bool        // by value: those of the rank's intervals alone
	taken   taken
	kernels []*cpu.Program // on CPU devices
	gpu     onGPUs
	tasks   []task
	results [][]float32 // by plan.Spec.Results
	update  func(global func(id int) []float32) error
	base    *Runner           // whose setup it uses beside its own; nil: none
	consts  map[int]*constant // by Global of kind Const
	has     has
	batch   *Batch      // of a plan over sampled blocks
	apart   [][]float32 // gradients on the host; nil: the step updates
	ahead   ahead
	stats   []Stats // by device
	trace   *tracer // nil: off
}

// taken is the host memory that a runner has taken.
type taken struct {
	mem   []device.HostMem
	files []*device.HostFile
}

// has says what a runner's steps have left on the device.
type has struct {
	setup   bool // what stays resident is there
	ahead   bool // and was: rows there that steps write may be newer than the host's
	stepped bool // the last step has ended well
	held    bool // and what it has computed is there
}

// Stats counts what a runner has moved. Setup is what was loaded once.
type Stats struct{ H2D, D2H, D2D, Setup int64 }

// Output is value id in host memory after a step: V×RowBytes bytes in new vertex
// order, valid until the next step.
func (r *Runner) Output(id int) []byte { return r.host[id] }

// Plan is what the runner runs.
func (r *Runner) Plan() *plan.Plan { return r.plan }

// OnUpdate sets the optimiser: it runs as the plan's Update task, after the last
// gradient, on every device, with access to its Globals.
func (r *Runner) OnUpdate(f func(global func(id int) []float32) error) { r.update = f }

// Result is number i of plan.Spec.Results after a step, valid until the next.
func (r *Runner) Result(i int) []float32 { return r.results[i] }

// Stats counts what moved so far.
func (r *Runner) Stats() Stats {
	var sum Stats
	for _, s := range r.stats {
		sum.H2D, sum.D2H, sum.D2D, sum.Setup = sum.H2D+s.H2D, sum.D2H+s.D2H, sum.D2D+s.D2D, sum.Setup+s.Setup
	}
	return sum
}

// Step runs the plan once and returns when it is done.
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
	r.traceBegin()
	err := errors.Join(r.submitAll(), r.named(r.arena.sync()))
	r.traceEnd(err)
	if err == nil {
		err = r.arena.sent()
	}
	if err != nil {
		r.arena.ranks.Abort(err) // others wait for what will not come
		return err
	}
	return r.share()
}
