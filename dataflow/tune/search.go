package tune

import (
	"cmp"
	"errors"
	"maps"
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
	if p.Work = cmp.Or(p.Work, maxWork); p.Begin != nil {
		p.Work /= begun
	}
	s := &search{p: p, e: newEvaluator(p), step: max(1, p.Options.Devices), schedules: []string{cmp.Or(p.Options.Schedule, plan.Sag)}, kinds: map[kind]*Eval{}}
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
	kinds     map[kind]*Eval    // the evaluation with the best score of each kind
	best      *Eval             // the evaluation with the shortest step
	small     *plan.BudgetError // of the decision that needs the least memory among those that do not fit
	short     bool              // a plan needs more host memory than there is
}

// kind is a class of decisions. The search keeps the best decision of each.
type kind struct {
	wide, packed   bool
	slices         int
	save, schedule string
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
	s.log("seed", nil)
	if err := s.walks(); err != nil {
		return nil, err
	}
	for _, x := range s.fastest(near) {
		if err := s.improve(x); err != nil {
			return nil, err
		}
	}
	return s.best, nil
}

// walks walks from the best decisions of some kinds, or from what stores all names of some kinds in the first place.
func (s *search) walks() error {
	for i := range starts {
		list := s.fastest(behind)
		x := list[i%len(list)]
		was := s.best
		evals, err := s.take(storeAll(s, x)...)
		if err != nil {
			return err
		}
		x = fastestOf(append(evals, x))
		s.log("store all", was)
		if err := s.walk(x, uint64(i), s.e.work+(s.p.Work-s.e.work)/(starts-i)); err != nil {
			return err
		}
	}
	return nil
}

// The search walks from starts best decisions of kinds whose score is at most 1+behind times the best score, and in the end tries all
// moves from those within 1+near.
const (
	starts = 6
	behind = 0.3
	near   = 0.04
)

// maxWork bounds evaluator.work where Problem.Work does not: about the number of tasks that a search simulates. So much
// work takes three to six seconds of one processor.
const maxWork = 7_000_000

// begun: a search that begins with a decision takes one part in begun of the work, as the decision is mostly what another search found.
const begun = 8

// fastest lists the best evaluation of each kind if its score is at most 1+behind times the best score. The best comes first.
func (s *search) fastest(behind float64) []*Eval {
	list := slices.SortedFunc(maps.Values(s.kinds), before)
	return slices.DeleteFunc(list, func(x *Eval) bool { return x.score() > list[0].score()*(1+behind) })
}

// improve goes through the moves, starting at x. Each move starts at the best decision that improve has found so far; those of its
// decisions that help are also tried together, the best two, the best three, and so on. It repeats this as long as a turn lowers
// the score by at least a three-hundredth.
func (s *search) improve(x *Eval) error {
	for {
		before := x
		for i := range moves {
			m := &moves[i]
			if !m.When(s, x) || s.e.work > s.p.Work {
				continue
			}
			was := s.best
			evals, err := s.take(m.From(s, x)...)
			if err != nil {
				return err
			}
			more, err := s.take(combined(x, evals)...)
			if err != nil {
				return err
			}
			x = fastestOf(slices.Concat(evals, more, []*Eval{x}))
			s.log(m.Name, was)
		}
		if x.score() > before.score()*299/300 {
			return nil
		}
	}
}
