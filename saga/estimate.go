package saga

import (
	"errors"
	"math"
	"math/bits"
	"time"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// Cells of a real graph cost a pass over its edges for every number of intervals. On a
// large graph the number and the schedule are chosen for expected cells, from the degrees
// of its vertices, and the plan is made for the real cells of that choice.

// estimateFrom is the number of edges from which statistics choose: a pass over fewer
// takes less than a second.
var estimateFrom = 1 << 24

// guesses is how many numbers of intervals are tried on real cells, each an eighth
// above the one before, when the choice does not fit.
const guesses = 4

// guess is what statistics have chosen; p is 0 without. What is stored is chosen where a
// machine model is there.
type guess struct {
	p        int
	schedule string
	save     string
	store    []string
	low      *dataflow.Lowered // the program that stores that; nil: not chosen
	plan     *plan.Plan
}

// spread is a distribution of degrees.
type spread struct{ degree, vertices []float64 }

// spreadOf sorts degrees into bins: up to 63 one each, then 32 for every doubling.
func spreadOf(degrees []uint32) *spread {
	const exact, lead = 64, 5
	var count, sum [exact + 32<<lead]float64
	for _, d := range degrees {
		bin := int(d)
		if d >= exact {
			shift := bits.Len32(d) - 1 - lead
			bin = exact + shift<<lead + int(d>>shift) - 1<<lead
		}
		count[bin]++
		sum[bin] += float64(d)
	}
	s := &spread{}
	for i, n := range count {
		if n > 0 {
			s.degree, s.vertices = append(s.degree, sum[i]/n), append(s.vertices, n)
		}
	}
	return s
}

// nonEmpty is the expected number of an interval's rows with an edge in one of p cells.
func (s *spread) nonEmpty(width, p int) int {
	sum := 0.0
	for i, d := range s.degree {
		sum += s.vertices[i] * -math.Expm1(-d/float64(p))
	}
	return min(width, int(math.Round(sum/float64(p))))
}

// makeAll runs what is computed once and makes the plans.
func (p *Program) makeAll(once func() error) error {
	run := func() error {
		if err := once(); err != nil {
			return err
		}
		return p.timedPlan()
	}
	if p.cfg.Chunks > 0 || p.in.edges.E() < estimateFrom {
		return run()
	}
	low := p.train.low
	p.guess = guess{}
	defer func() { p.guess.low, p.guess.plan = nil, nil }() // their memory
	err := p.choose()
	var small *plan.BudgetError
	if err != nil && !errors.As(err, &small) {
		return err
	}
	for range guesses {
		if p.guess.p == 0 { // does not fit even as expected
			break
		}
		p.train.low = low
		if err := run(); !errors.As(err, &small) {
			return err
		}
		k := p.cfg.devices()
		p.guess.p += max(k, p.guess.p/8/k*k)
	}
	p.train.low, p.guess = low, guess{}
	return run()
}

// timedPlan is plan, whose time goes to Stages.Plan.
func (p *Program) timedPlan() error {
	before, start := p.stages, time.Now()
	defer func() { p.timePlan(before, start) }()
	return p.plan()
}

// timePlan adds the time since start to Stages.Plan, without what had a stage of its own.
func (p *Program) timePlan(before Stages, start time.Time) {
	p.stages.Plan += time.Since(start) - (p.stages.Order - before.Order) - (p.stages.Count - before.Count)
}

// statistics are those of the graph's degrees.
func (p *Program) statistics() *Shape {
	e := p.in.edges
	return &Shape{Vertices: e.V, Edges: int64(e.E()), in: spreadOf(e.InDegrees()), out: spreadOf(e.OutDegrees())}
}

// choose plans for expected cells and remembers the number of intervals, the schedule and what is stored.
func (p *Program) choose() error {
	p.expected = p.statistics()
	defer p.doneExpecting()
	if err := p.timedPlan(); err != nil {
		return err
	}
	p.guess = guess{p: p.train.plan.Cells.P, schedule: p.train.plan.Schedule}
	if p.machine != nil {
		p.guess.save, p.guess.store, p.guess.low, p.guess.plan = p.saved, p.store, p.train.low, p.train.plan
	}
	p.train.plan, p.eval.plan = nil, nil // of no real cells
	return nil
}

// doneExpecting ends what expected cells are for.
func (p *Program) doneExpecting() {
	p.expected = nil
	clear(p.likely)
}
