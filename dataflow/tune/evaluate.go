package tune

import (
	"cmp"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
)

// Program is a lowered training program.
type Program struct {
	Spec, Beside *plan.Spec                       // Beside must fit too, planned with the plan of Spec as base (plan.Options.Beside)
	Budget       int64                            // bytes of each device's memory that a plan may use; 0: no bound
	Cells        func(p int) (*plan.Cells, error) // sizes of the grid for p intervals
	Store        []string                         // names that Key.Store may have
	Arriving     []string                         // those of them that mostly help together (dataflow.Arrive)
}

// Eval is a decision with the result of its simulation.
type Eval struct {
	Decision
	*sim.Profile       // nil: no plan of the decision fits
	Need         int64 // device memory in bytes that would be enough, if no plan fits; else 0
	budget       int64
}

// ok tells whether the decision has a plan that fits device and host memory.
func (e *Eval) ok() bool { return e.Profile != nil && !e.Short }

// score is what the search compares decisions by, lower is better: the time of a step, plus a thousandth of it for every
// two thousand tasks. Plans of many tasks are penalised because each further move from them takes longer to try.
func (e *Eval) score() float64 { return e.time() * (1 + float64(e.Tasks)/2e6) }

// doubt is by how much a step of wide cells may take longer than it is expected to. On an H200 sage took 29.0 ms where 25.1 were expected and, with
// divided cells, 27.6 where 26.1 were (the shape of ogbn-mag at half its memory). With cells that reach over some intervals half the memory of gcn and ggnn took
// 46.2 and 90.2 ms where 45.9 and 85.3 were expected, with divided ones 44.2 and 87.4 where 45.0 and 85.5 were (builds 9fe14df7 and 73892f44, command in bench/results/offload.md).
const (
	doubt = 1.1 // of all intervals
	some  = 1.03
)

// time is the time of a step that plans are compared by, in ns.
func (e *Eval) time() float64 {
	switch {
	case e.Wide >= e.P:
		return doubt * float64(e.Wall)
	case e.Wide > 0:
		return some * float64(e.Wall)
	}
	return float64(e.Wall)
}

// before compares by score, then by name.
func before(a, b *Eval) int {
	return cmp.Or(cmp.Compare(a.score(), b.score()), cmp.Compare(a.String(), b.String()))
}

// evaluator plans and simulates decisions, each once.
type evaluator struct {
	p        *Problem
	seen     map[string]*Eval // by decision
	memo     *Memo
	setting  digest             // of what is the same for all plans of the search
	decoders []*planner.Decoder // by worker
	work     int                // work so far, in simulated tasks; each placement counts as placing tasks

	// near is a time in ns. Loads of a plan may pass each other only if its step, simulated in task order, takes no longer.
	near int64
}

func newEvaluator(p *Problem) *evaluator {
	e := &evaluator{p: p, near: math.MaxInt64, seen: map[string]*Eval{}, memo: p.Memo, setting: settingOf(p)}
	if e.memo == nil {
		e.memo = NewMemo()
	}
	for range min(8, runtime.GOMAXPROCS(0)) { // a move has too few decisions for more than eight workers
		e.decoders = append(e.decoders, planner.NewDecoder(p.Machine))
	}
	return e
}

// job is a decision with the inputs of its evaluation.
type job struct {
	*Eval
	lowered, spec *plan.Spec // as Program has it, and as plans have it; nil: the model has no program for the decision's Key
	cells         *plan.Cells
	o             plan.Options
}

// all evaluates decisions in parallel and returns the results in the order of the list. The results
// do not depend on the number of processors.
func (e *evaluator) all(list ...Decision) ([]*Eval, error) {
	out := make([]*Eval, len(list))
	var fresh, jobs []*job
	for i, d := range list {
		name := d.String()
		if out[i] = e.seen[name]; out[i] == nil {
			j := &job{Eval: &Eval{Decision: d}}
			out[i], e.seen[name], fresh = j.Eval, j.Eval, append(fresh, j)
		}
	}
	errs := make([]error, len(fresh))
	e.sideBySide(len(fresh), func(_, i int) { errs[i] = e.prepare(fresh[i]) })
	for i, j := range fresh {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if j.spec != nil {
			jobs = append(jobs, j)
		}
	}
	e.sideBySide(len(jobs), func(worker, i int) { e.evaluate(worker, jobs[i]) })
	for _, j := range jobs {
		e.work += placing + lowering(j.spec)
		if j.Profile == nil {
			continue
		}
		if e.work += j.Tasks; j.InOrder <= e.near {
			e.work += j.Tasks
		}
	}
	return out, nil
}

// evaluate makes j's plan and simulates it.
func (e *evaluator) evaluate(worker int, j *job) {
	x := e.decode(worker, j)
	if j.Need = x.Need; j.Need > 0 {
		return
	}
	k := e.keyOf(j, x)
	if j.Profile = e.memo.find(k, e.near); j.Profile != nil {
		return
	}
	pl, line, inOrder := x.Simulated(e.near)
	if j.Profile = (&sim.Profile{Short: true, Tasks: len(pl.Tasks)}); line != nil {
		j.Profile = sim.ProfileOf(pl, line)
		j.InOrder = inOrder
	}
	e.memo.keep(k, pl, j.Profile, e.near)
}

// placing is the work of one call of the decoder, in tasks whose simulation takes as long.
const placing = 2000

// lowering is the work of making and placing a program of many values, as one over many relations, beyond that of a usual one. With it GAT over 8 relations takes 1.6
// times the time of GAT over one (189 values; saga plan at half of the memory), 2.4 times with half of it.
func lowering(s *plan.Spec) int {
	const usual, each = 100, 80 // values of a program; tasks for each value more
	return each * max(0, len(s.Values)-usual)
}

// prepare makes the program of j's decision. j.spec stays nil if the model has none for its Key.
func (e *evaluator) prepare(j *job) error {
	d := &j.Decision
	p, err := e.p.Program(d.Key)
	if err != nil || p == nil || d.Wide > 0 && d.Schedule == plan.DestOrder {
		return err
	}
	j.o = e.p.Options
	o := &j.o
	o.P, o.Schedule, o.Slots, o.More = d.P, d.Schedule, d.Slots, o.Slots == 0
	o.Windows, o.Diagonal = true, !o.Stream
	if o.Group == 0 {
		o.Group = d.Group
	}
	j.budget, o.Budget, o.Beside = p.Budget, p.Budget, p.Beside
	if j.cells, err = p.Cells(d.P); err != nil {
		return err
	}
	j.lowered = p.Spec
	j.spec, err = o.Prepare(p.Spec)
	return err
}

// jobOf is a new job of d, prepared.
func (e *evaluator) jobOf(d Decision) (*job, error) {
	j := &job{Eval: &Eval{Decision: d}}
	return j, e.prepare(j)
}

// decode decides what stays on the device in j's plan.
func (e *evaluator) decode(worker int, j *job) *planner.Decoded {
	return e.decoders[worker].Decode(j.spec, j.cells, j.o, j.Rule)
}

// fits tells whether d has a plan that fits device memory.
func (e *evaluator) fits(d Decision) (bool, error) {
	j, err := e.jobOf(d)
	if err != nil || j.spec == nil {
		return false, err
	}
	e.work += placing
	return e.decoders[0].Fits(j.spec, j.cells, j.o, j.Rule), nil
}

// plan makes the plan of d and its timeline. The plan must fit.
func (e *evaluator) plan(d Decision) (*plan.Plan, *sim.Timeline, error) {
	j, err := e.jobOf(d)
	if err != nil {
		return nil, nil, err
	}
	pl, line, _ := e.decode(0, j).Simulated(math.MaxInt64)
	return pl, line, nil
}

// sideBySide calls f for 0..n-1, with one goroutine per decoder.
func (e *evaluator) sideBySide(n int, f func(worker, i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range min(len(e.decoders), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(w, i)
			}
		})
	}
	wg.Wait()
}

// alone tells whether there is one device.
func (s *search) alone() bool { return s.p.Options.Devices <= 1 }

// groups tells whether the search chooses Decision.Group.
func (s *search) groups() bool {
	o := &s.p.Options
	return o.Group == 0 && o.Groups == nil && !o.Stream
}

// heavy tells whether d's program has so many values, as one over many relations, that deciding what stays on the device takes most of the
// time. The search then tries fewer decisions: seeds of one variant and group, the policies without single names, and two rounds.
func (s *search) heavy(d Decision) bool {
	p, err := s.p.Program(d.Key)
	return err == nil && p != nil && s.alone() && lowering(p.Spec) > 4*placing
}

// whole rounds p to an allowed number of intervals: a multiple of step, at least Options.MinP.
func (s *search) whole(p float64) int {
	n := int(p+float64(s.step)/2) / s.step * s.step
	return max(n, s.step, (s.p.Options.MinP+s.step-1)/s.step*s.step)
}

// take evaluates decisions and updates best, lanes, small and short.
func (s *search) take(list ...Decision) ([]*Eval, error) {
	evals, err := s.e.all(list...)
	if err != nil {
		return nil, err
	}
	for _, x := range evals {
		if x.Need > 0 && (s.small == nil || x.Need < s.small.Smallest) {
			s.small = &plan.BudgetError{Budget: x.budget, Smallest: x.Need, P: x.P}
		}
		if !x.ok() {
			s.short = s.short || x.Profile != nil
			continue
		}
		l := lane{x.Wide, x.Inside, x.Slices, x.Save, x.Schedule, x.P}
		if was := s.lanes[l]; was == nil || x.score() < was.score() {
			s.lanes[l] = x
		}
		if s.best == nil || x.time() < s.best.time() {
			s.best, s.e.near = x, int64(passing*float64(x.InOrder))
		}
	}
	return evals, nil
}
