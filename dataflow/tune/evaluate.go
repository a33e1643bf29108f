package tune

import (
	"fmt"
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
	Spec, Beside *plan.Spec // Beside: what must fit, too, with its plan as base
	Budget       int64      // bytes of a device that its plans may use; 0: no bound
	Cells        func(p int) (*plan.Cells, error)
	Store        []string // names that Key.Store may take
}

// Eval is what a decision leads to.
type Eval struct {
	Decision
	*sim.Profile       // nil: it does not fit
	Need         int64 // bytes of the smallest choice when none fits
	budget       int64
}

// wall is the simulated time of a step, the longest there is where no plan fits.
func (e *Eval) wall() int64 {
	if e.Profile == nil || e.Short {
		return math.MaxInt64
	}
	return e.Wall
}

// score is what decisions are compared by while they are changed: each two thousand tasks count a thousandth more,
// for every further change of a large plan takes longer to try.
func (e *Eval) score() float64 { return float64(e.Wall) * (1 + float64(e.Tasks)/2e6) }

// evaluator turns decisions into plans and times them, each once.
type evaluator struct {
	p        *Problem
	programs map[Key]*program
	seen     map[string]*Eval   // by decision
	decoders []*planner.Decoder // by worker
	work     int                // tasks simulated, and placements, which take about as long as so many tasks
	near     int64              // ns: where a step takes longer in the order of its tasks, loads are not tried to pass each other
}

// program is a Program with what evaluations of it share.
type program struct {
	*Program
	cut    map[string]*cut
	phases map[string][]float64 // kernels' times, by schedule and intervals
}

// cut is a program cut for a schedule.
type cut struct{ spec, beside *plan.Spec }

func newEvaluator(p *Problem) *evaluator {
	e := &evaluator{p: p, near: math.MaxInt64, programs: map[Key]*program{}, seen: map[string]*Eval{}}
	for range min(8, runtime.GOMAXPROCS(0)) { // more processors than eight have no candidates to work on
		e.decoders = append(e.decoders, planner.NewDecoder(p.Machine))
	}
	return e
}

// program lowers k, once; nil where there is no such program.
func (e *evaluator) program(k Key) (*program, error) {
	if p, ok := e.programs[k]; ok {
		return p, nil
	}
	x, err := e.p.Program(k)
	if err != nil {
		return nil, err
	}
	if x != nil {
		e.programs[k] = &program{x, map[string]*cut{}, map[string][]float64{}}
	}
	return e.programs[k], nil
}

// job is a decision on its way to a plan.
type job struct {
	*Eval
	program *program
	cut     *cut
	cells   *plan.Cells
	kernels []float64
}

// all evaluates decisions, side by side, in the order in which they are given. The results do not
// depend on the number of processors.
func (e *evaluator) all(list ...Decision) ([]*Eval, error) {
	out := make([]*Eval, len(list))
	var jobs []*job
	for i, d := range list {
		name := d.String()
		if out[i] = e.seen[name]; out[i] != nil {
			continue
		}
		j, err := e.prepare(d)
		if err != nil {
			return nil, err
		}
		if out[i] = j.Eval; j.program != nil {
			jobs = append(jobs, j)
		}
		e.seen[name] = j.Eval
	}
	e.sideBySide(len(jobs), func(worker, i int) { e.evaluate(worker, jobs[i]) })
	for _, j := range jobs {
		if e.work += placing; j.kernels != nil {
			e.work += dealing
		}
		if j.Profile == nil {
			continue
		}
		if e.work += j.Tasks; e.passes() && j.InOrder <= e.near {
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
	pl, line, inOrder := x.Simulated(e.near)
	if line == nil {
		j.Profile = &sim.Profile{Short: true, Tasks: len(pl.Tasks)}
		return
	}
	j.Profile = sim.ProfileOf(pl, line)
	j.InOrder = inOrder
}

// placing is the work of deciding what stays, and dealing that of dealing memory out by an estimate, in tasks.
const placing, dealing = 600, 5000

// prepare finds what the evaluation of d needs; its program is nil where d cannot be.
func (e *evaluator) prepare(d Decision) (*job, error) {
	j := &job{Eval: &Eval{Decision: d}}
	p, err := e.program(d.Key)
	if err != nil || p == nil {
		return j, err
	}
	j.budget = p.Budget
	if j.cut = p.cut[d.Schedule]; j.cut == nil {
		j.cut = &cut{}
		if j.cut.spec, err = plan.Cut(p.Spec, d.Schedule); err != nil {
			return nil, err
		}
		if p.Beside != nil {
			if j.cut.beside, err = plan.Cut(p.Beside, d.Schedule); err != nil {
				return nil, err
			}
		}
		p.cut[d.Schedule] = j.cut
	}
	if j.cells, err = p.Cells(d.P); err != nil {
		return nil, err
	}
	if d.Rule.Hidden > 0 {
		k := fmt.Sprint(d.Schedule, d.P)
		if j.kernels = p.phases[k]; j.kernels == nil {
			j.kernels = sim.PhaseTimes(j.cut.spec, j.cells, e.p.Machine)
			p.phases[k] = j.kernels
		}
	}
	j.program = p
	return j, nil
}

// options are those of j's plan.
func (e *evaluator) options(j *job) plan.Options {
	o := e.p.Options
	o.P, o.Schedule, o.Slots, o.More = j.P, j.Schedule, j.Decision.Slots, e.p.Options.Slots == 0
	o.Windows, o.Diagonal = true, !o.Stream
	if o.Group == 0 {
		o.Group = j.Decision.Group
	}
	o.Budget, o.Beside = j.program.Budget, j.cut.beside
	return o
}

// decode decides what stays in j's plan.
func (e *evaluator) decode(worker int, j *job) *planner.Decoded {
	return e.decoders[worker].Decode(j.cut.spec, j.cells, e.options(j), planner.How{Rule: j.Rule, Kernels: j.kernels, EDF: e.passes()})
}

// passes tells whether loads may pass each other.
func (e *evaluator) passes() bool { return !e.p.Options.Serial && !e.p.Options.Stream }

// fits tells whether there is a plan of d.
func (e *evaluator) fits(d Decision) (bool, error) {
	j, err := e.prepare(d)
	if err != nil || j.program == nil {
		return false, err
	}
	e.work += placing
	return e.decode(0, j).Need == 0, nil
}

// plan is the plan of d, and its timeline.
func (e *evaluator) plan(d Decision) (*plan.Plan, *sim.Timeline, error) {
	j, err := e.prepare(d)
	if err != nil {
		return nil, nil, err
	}
	pl, line, _ := e.decode(0, j).Simulated(math.MaxInt64)
	return pl, line, nil
}

// sideBySide calls f for 0..n-1 from a goroutine a decoder.
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
