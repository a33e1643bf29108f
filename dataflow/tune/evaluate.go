package tune

import (
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

// ok tells whether there is a plan.
func (e *Eval) ok() bool { return e.Profile != nil && !e.Short }

// score is what decisions are compared by while they are changed: each two thousand tasks count a thousandth more,
// for every further change of a large plan takes longer to try.
func (e *Eval) score() float64 { return float64(e.Wall) * (1 + float64(e.Tasks)/2e6) }

// evaluator turns decisions into plans and times them, each once.
type evaluator struct {
	p        *Problem
	seen     map[string]*Eval   // by decision
	decoders []*planner.Decoder // by worker
	work     int                // tasks simulated, and placements, which take about as long as so many tasks
	near     int64              // ns: where a step takes longer in the order of its tasks, loads are not tried to pass each other
}

func newEvaluator(p *Problem) *evaluator {
	e := &evaluator{p: p, near: math.MaxInt64, seen: map[string]*Eval{}}
	for range min(8, runtime.GOMAXPROCS(0)) { // more processors than eight have no candidates to work on
		e.decoders = append(e.decoders, planner.NewDecoder(p.Machine))
	}
	return e
}

// job is a decision on its way to a plan.
type job struct {
	*Eval
	spec  *plan.Spec // nil: there is no such program
	cells *plan.Cells
	o     plan.Options
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
		if out[i] = j.Eval; j.spec != nil {
			jobs = append(jobs, j)
		}
		e.seen[name] = j.Eval
	}
	e.sideBySide(len(jobs), func(worker, i int) { e.evaluate(worker, jobs[i]) })
	for _, j := range jobs {
		e.work += placing
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
	pl, line, inOrder := x.Simulated(e.near)
	if line == nil {
		j.Profile = &sim.Profile{Short: true, Tasks: len(pl.Tasks)}
		return
	}
	j.Profile = sim.ProfileOf(pl, line)
	j.InOrder = inOrder
}

// placing is the work of deciding what stays, in tasks.
const placing = 2000

// prepare finds what the evaluation of d needs.
func (e *evaluator) prepare(d Decision) (*job, error) {
	j := &job{Eval: &Eval{Decision: d}, o: e.p.Options}
	p, err := e.p.Program(d.Key)
	if err != nil || p == nil {
		return j, err
	}
	o := &j.o
	o.P, o.Schedule, o.Slots, o.More = d.P, d.Schedule, d.Slots, o.Slots == 0
	o.Windows, o.Diagonal = true, !o.Stream
	if o.Group == 0 {
		o.Group = d.Group
	}
	j.budget, o.Budget, o.Beside = p.Budget, p.Budget, p.Beside
	if j.cells, err = p.Cells(d.P); err != nil {
		return nil, err
	}
	j.spec, err = o.Prepare(p.Spec)
	return j, err
}

// decode decides what stays in j's plan.
func (e *evaluator) decode(worker int, j *job) *planner.Decoded {
	return e.decoders[worker].Decode(j.spec, j.cells, j.o, j.Rule)
}

// fits tells whether there is a plan of d.
func (e *evaluator) fits(d Decision) (bool, error) {
	j, err := e.prepare(d)
	if err != nil || j.spec == nil {
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
