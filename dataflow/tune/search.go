package tune

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Problem is the input of a search.
type Problem struct {
	Program func(Key) (*Program, error) // lowers the model; equal results for equal keys; nil: the model has no such program; safe for concurrent use, as Program.Cells is
	Machine *sim.Machine
	Options plan.Options // fixed choices; the search chooses P, Slots and Group if they are 0, and Schedule if it is plan.Auto
	Packed  []bool       // allowed values of Key.Packed; seeds try them in this order until one fits
	Inside  []bool       // allowed values of Key.Inside; seeds begin with the first, and try the next where something moves or nothing fits; nil: false
	Wide    []int        // allowed values of Key.Wide; seeds begin with the first, and then try the next; nil: 0
	Slices  []int        // allowed values of Key.Slices, fewest first
	Saves   []string     // allowed values of Key.Save; seeds try them in this order until one fits
	Store   []string     // Key.Store of the seeds
	Mix     bool         // moves may change Key.Store
	Begin   *Decision    // the only seed; nil: seeds are made from the lists above
	Work    int          // about the number of tasks that the search simulates; 0: maxWork
	Memo    *Memo        // shared with other searches; nil: the search has its own

	// Log is called for the first plan with the name "seed", and for each plan that is the fastest so
	// far with the name of the move that found it; nil: no log.
	Log func(move string, e *Eval)
}

// ErrHostMemory says that plans fit the memory of the devices, and none that was found fits host memory.
var ErrHostMemory = errors.New("tune: no plan was found that fits host memory")

// Search returns the fastest plan that it finds, the plan's simulated timeline, and its decision. The error is a
// *plan.BudgetError if no plan fits the budget, ErrHostMemory if only host memory is too small, and plan.ErrNoIntervals if no
// number of intervals could be tried.
func Search(p *Problem) (*plan.Plan, *sim.Timeline, Decision, error) {
	q := *p
	p = &q
	p.Work = cmp.Or(p.Work, maxWork)
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
	step      int // every number of intervals is a multiple of step
	schedules []string
	lanes     map[lane]*Eval    // the evaluation with the best score of each lane
	best      *Eval             // the evaluation with the shortest step
	small     *plan.BudgetError // of the decision that needs the least memory among those that do not fit
	poor      map[string]bool   // names of Store that made a step longer since improve began
	count     bool              // improve keeps the number of intervals, and cells
	short     bool              // a plan needs more host memory than there is
}

// lane is a class of decisions. The search keeps the best decision of each lane and improves several of them, so that it does not get
// stuck at the first good one. Lanes that differ only in p are a kind.
type lane struct {
	wide           int
	inside         bool
	slices         int
	save, schedule string
	p              int // number of intervals
}

// counts are the numbers of intervals that seeds try.
var counts = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}

// passing bounds which plans are also simulated with loads that pass each other: those whose step, simulated in task order, takes
// at most passing times as long as the fastest plan's.
const passing = 1.15

// run searches.
func (s *search) run() (*Eval, error) {
	if err := s.seed(); err != nil {
		return nil, err
	}
	if s.best == nil && s.step > 1 { // nothing fits: allow devices with unequal numbers of intervals
		s.step = 1
		return s.run()
	}
	if s.best == nil && s.short {
		return nil, ErrHostMemory
	}
	if s.best == nil {
		if s.small == nil {
			return nil, plan.ErrNoIntervals
		}
		return nil, s.small
	}
	if err := s.late(); err != nil {
		return nil, err
	}
	s.log("seed", nil)
	if err := s.rounds(); err != nil {
		return nil, err
	}
	return s.best, s.again()
}

// rounds goes through the rounds, as long as there is work left.
func (s *search) rounds() error {
	for i, r := range rounds {
		if i >= few && s.heavy(s.best.Decision) {
			break
		}
		for _, x := range s.fastest(r.behind, r.kinds) {
			if x.score() > s.best.score()*(1+r.behind) { // the best has become much faster since the list was made
				continue
			}
			if s.enough() {
				return nil
			}
			if err := s.improve(x, r.on); err != nil {
				return err
			}
		}
	}
	return nil
}

// enough tells whether the rounds have worked as much as they may: Problem.Work or, if nothing moves in the best plan, so that only kernels could become
// shorter, half of it. Over many relations a turn of all names in Store takes a tenth of Problem.Work.
func (s *search) enough() bool {
	work := s.p.Work
	if !s.best.Moves {
		work /= 2
	}
	return s.e.work > work
}

// late tries for heavy programs, from the best seed of each kind, the names that mostly help together, without which kinds do not compare,
// and then the variants that light programs try with each number of intervals.
func (s *search) late() error {
	if !s.best.Moves || !s.heavy(s.best.Decision) {
		return nil
	}
	for _, x := range s.fastest(half, true) {
		evals, err := s.take(arrive(s, x)...)
		if err != nil {
			return err
		}
		x = fastestOf(append(evals, x))
		if _, err = s.take(s.seeds(x.Decision)...); err != nil {
			return err
		}
	}
	return nil
}

// half is by how much the best seed of a kind that late tries may take longer than the best of all.
const half = 0.5

// log calls Problem.Log if the best evaluation is no longer was.
func (s *search) log(move string, was *Eval) {
	if s.p.Log != nil && s.best != was {
		s.p.Log(move, s.best)
	}
}

// rounds of the search. Each takes the best decisions whose score is at most 1+behind times the best score:
//
//  1. The best of each kind goes once through the moves: a kind may overtake another while both are far from their optimum.
//  2. The best of each kind goes through the moves until no move helps.
//  3. The best of each lane, that is for each number of intervals, goes once through the moves.
//  4. The best of each lane goes through the moves until no move helps.
//
// The rounds end when their work exceeds Problem.Work, in whatever round it is. Then again has a quarter of it more.
var rounds = []struct {
	behind float64
	kinds  bool // one decision per kind; false: one per lane
	on     bool // until no move helps; false: once
}{{0.15, true, false}, {0.04, true, true}, {0.3, false, false}, {0.1, false, true}}

// few is the number of rounds for heavy programs.
const few = 2

// maxWork bounds evaluator.work where Problem.Work does not: about the number of tasks that a search simulates. So much
// work takes three to six seconds of one processor.
const maxWork = 7_000_000

// fastest lists the best evaluation of each lane or, with kinds, of each kind, if its score is at most 1+behind times the
// best score. The best comes first. Where nothing moves, it lists one of two schedules with which a step takes as long.
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
	for _, x := range slices.SortedFunc(maps.Values(of), before) {
		if !slices.ContainsFunc(list, func(y *Eval) bool { return s.twin(x, y.Schedule) }) {
			list = append(list, x)
		}
	}
	return list
}

// twin tells whether x, in whose plan nothing moves, takes as long with another schedule: what improves one improves the other, too.
func (s *search) twin(x *Eval, schedule string) bool {
	d := x.Decision
	d.Schedule = schedule
	y := s.e.seen[d.String()]
	return schedule != x.Schedule && !x.Moves && y != nil && y.ok() && !y.Moves && y.Wall == x.Wall
}

// improve goes through the moves, starting at x. Each move starts at the best decision that improve has found so far. With on it
// repeats this as long as a turn lowers the score by at least a three-hundredth, or a thirtieth for heavy programs.
func (s *search) improve(x *Eval, on bool) error {
	s.poor = map[string]bool{}
	for {
		if s.count {
			s.poor = map[string]bool{} // a name may help only beside one that the turn before has taken
		}
		before := x
		for i := range moves {
			m := &moves[i]
			if !m.When(s, x) || s.enough() || s.count && (m.Name == otherCounts || m.Name == otherCells) {
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
		least := 1.0 / 300
		if s.heavy(x.Decision) {
			least *= 10
		}
		if !on || x.score() > before.score()*(1-least) {
			return nil
		}
	}
}

// again goes on with the best of other numbers of intervals (counted) as long as a quarter of Problem.Work is left, each by moves that keep the number, and cells, and then with
// all moves from the best of all, whose turns the bound on the work may have cut off; nothing if the number is given. The rounds leave numbers of intervals early: a plan with few of them, and few
// launches, often needs two or three names of Store before it is faster than one with more, to which the first move of a turn goes.
func (s *search) again() error {
	if !s.best.Moves || s.p.Begin != nil || s.p.Options.P > 0 || s.heavy(s.best.Decision) {
		return nil
	}
	done := []*Eval{s.best}
	s.p.Work = min(s.e.work, s.p.Work) + s.p.Work/4
	for s.e.work <= s.p.Work {
		x := s.counted(done)
		if x == nil {
			break
		}
		done, s.count = append(done, x), true
		err := s.improve(x, true)
		if s.count = false; err != nil {
			return err
		}
	}
	s.p.Work = max(s.e.work, s.p.Work) + s.p.Work/16
	return s.improve(s.best, true)
}

// counted is the most promising of the decisions that take at most countedBehind longer than the best and differ from all that are done by their cells, program or by much in
// their number of intervals; nil: none is left. The best of them is judged by its step and by what its kernels take alone, which must be less than the best step.
func (s *search) counted(done []*Eval) (top *Eval) {
	promise := func(x *Eval) float64 { return math.Sqrt(x.score() * x.kernels()) }
	for _, x := range s.fastest(countedBehind, false) {
		if x.kernels() < s.best.time() && !x.near(done) && (top == nil || promise(x) < promise(top)) {
			top = x
		}
	}
	return top
}

// countedBehind is by how much the step of a number of intervals may take longer than the best for again to try it, and apart the least ratio of two numbers.
const (
	countedBehind = 0.3
	apart         = 1.15
)

// kernels is the part of time in which kernels run.
func (e *Eval) kernels() float64 { return e.time() * float64(e.Wall-e.Waits) / float64(e.Wall) }

// near tells whether one of list has nearly as many intervals as e, and programs of the same kind.
func (e *Eval) near(list []*Eval) bool {
	for _, x := range list {
		p, q := float64(min(e.P, x.P)), float64(max(e.P, x.P))
		if e.Wide == x.Wide && e.Inside == x.Inside && e.Slices == x.Slices && e.Schedule == x.Schedule && q < apart*p {
			return true
		}
	}
	return false
}
