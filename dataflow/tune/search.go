package tune

import (
	"cmp"
	"maps"
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Problem is what a plan is searched for.
type Problem struct {
	Program func(Key) (*Program, error) // the same for equal keys; nil: there is no such program
	Machine *sim.Machine
	Options plan.Options // what is given: P, Slots, Group 0 and Schedule plan.Auto are free
	Packed  []bool       // what may be chosen, the first to begin with
	Slices  []int
	Saves   []string
	Store   []string  // stored beside, where the one save policy is given
	Mix     bool      // values may be stored beside, and made late
	Begin   *Decision // where to begin instead; nil: nowhere

	// Log is told of the first plan, under the name "seed", and of each that a move makes
	// the fastest so far; nil: nobody is.
	Log func(move string, e *Eval)
}

// Search finds the fastest plan. The error is a *plan.BudgetError where none fits.
func Search(p *Problem) (*plan.Plan, *sim.Timeline, Decision, error) {
	q := *p
	p = &q
	s := &search{p: p, e: newEvaluator(p), step: max(1, p.Options.Devices), schedules: []string{cmp.Or(p.Options.Schedule, plan.Sag)}, lanes: map[lane]*Eval{}}
	if p.Options.Schedule == plan.Auto {
		s.schedules = []string{plan.Sag, plan.Stage, plan.DestOrder}
	}
	best, err := s.run()
	if err != nil {
		return nil, nil, Decision{}, err
	}
	pl, line, err := s.e.plan(best.Decision)
	return pl, line, best.Decision, err
}

type search struct {
	p         *Problem
	e         *evaluator
	step      int // numbers of intervals are multiples of it
	schedules []string
	lanes     map[lane]*Eval // the fastest of each
	best      *Eval
	small     *plan.BudgetError
	short     bool // a plan was left out for lack of host memory
}

// lane is what keeps the search broad: the fastest decision of each is changed further. All lanes of a way to run a program, for any
// number p of intervals, are a kind.
type lane struct {
	slices         int
	save, schedule string
	p              int
}

// alone tells whether there is one device.
func (s *search) alone() bool { return s.p.Options.Devices <= 1 }

// groups tells whether the search chooses how many intervals are visited together.
func (s *search) groups() bool {
	o := &s.p.Options
	return o.Group == 0 && o.Groups == nil && !o.Stream
}

// counts are the numbers of intervals that a search begins with.
var counts = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}

// whole is the nearest number of intervals that may be.
func (s *search) whole(p float64) int {
	n := int(p+float64(s.step)/2) / s.step * s.step
	return max(n, s.step, (s.p.Options.MinP+s.step-1)/s.step*s.step)
}

// take evaluates decisions and remembers the fastest.
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
		l := lane{x.Slices, x.Save, x.Schedule, x.P}
		if was := s.lanes[l]; was == nil || x.score() < was.score() {
			s.lanes[l] = x
		}
		if s.best == nil || x.Wall < s.best.Wall {
			s.best, s.e.near = x, int64(passing*float64(x.InOrder))
		}
	}
	return evals, nil
}

// passing is how many times the fastest plan's step another's may take, both in the order of their tasks, and be tried with loads that
// pass each other.
const passing = 1.15

// run searches.
func (s *search) run() (*Eval, error) {
	if err := s.seed(); err != nil {
		return nil, err
	}
	if s.best == nil && s.step > 1 { // devices with unequal shares
		s.step = 1
		return s.run()
	}
	if s.best == nil && s.short { // who places its values will say so
		s.p.Options.Host.Budget, s.p.Packed = 0, s.p.Packed[:1]
		s.e = newEvaluator(s.p)
		return s.run()
	}
	if s.best == nil {
		if s.small == nil {
			return nil, plan.ErrNoIntervals
		}
		return nil, s.small
	}
	s.log("seed", nil)
	for _, r := range rounds {
		for _, x := range s.fastest(r.behind, r.kinds) {
			if x.score() > s.best.score()*(1+r.behind) { // another has become faster
				continue
			}
			if s.e.work > maxWork {
				return s.best, nil
			}
			if err := s.improve(x, r.on); err != nil {
				return nil, err
			}
		}
	}
	return s.best, nil
}

// log tells of the best decision if it is not was.
func (s *search) log(move string, was *Eval) {
	if s.p.Log != nil && s.best != was {
		s.p.Log(move, s.best)
	}
}

// rounds of the search. First the fastest decision of each kind goes once through the moves: kinds change places
// while they are far from their best. Then the fastest of each kind that is near goes through the moves until nothing helps. Where work
// is left, so does the fastest for each number of intervals, after all that are not hopeless went once through the moves.
var rounds = []struct {
	behind float64 // of the fastest, in parts of its time
	kinds  bool    // one of each
	on     bool    // until nothing helps
}{{0.15, true, false}, {0.04, true, true}, {0.3, false, false}, {0.1, false, true}}

// maxWork bounds a search: so many tasks are simulated, about. That takes three to six seconds of a processor.
var maxWork = 7_000_000

// fastest lists the fastest decision of each lane or, with kinds, of each kind, that is not behind the best by more.
func (s *search) fastest(behind float64, kinds bool) (list []*Eval) {
	of := map[lane]*Eval{}
	for l, x := range s.lanes {
		if kinds {
			l.p = 0
		}
		if x.score() <= s.best.score()*(1+behind) && (of[l] == nil || before(x, of[l]) < 0) {
			of[l] = x
		}
	}
	return slices.SortedFunc(maps.Values(of), before)
}

// before orders by score.
func before(a, b *Eval) int {
	return cmp.Or(cmp.Compare(a.score(), b.score()), cmp.Compare(a.String(), b.String()))
}

// improve goes through the moves from x, each beginning at the best decision found so far: once or, with on, for as long as a turn
// makes the step shorter by a three-hundredth.
func (s *search) improve(x *Eval, on bool) error {
	for {
		before := x
		for i := range moves {
			m := &moves[i]
			if !m.When(s, x) || s.e.work > maxWork {
				continue
			}
			was := s.best
			evals, err := s.take(m.From(s, x)...)
			if err != nil {
				return err
			}
			x = fastestOf(append(evals, x))
			s.log(m.Name, was)
		}
		if !on || x.score() > before.score()*299/300 {
			return nil
		}
	}
}
