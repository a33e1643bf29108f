package saga

import (
	"errors"
	"slices"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// saved is a training program that stores some values for the backward pass, and its plan.
type saved struct {
	policy string
	store  []string
	slices int
	low    *dataflow.Lowered
	plan   *plan.Plan
	line   *plan.Timeline
}

// beats: x is faster than y by a hundredth.
func (x *saved) beats(y *saved) bool { return 100*x.line.Wall <= 99*y.line.Wall }

// saving tries what may be stored.
type saving struct {
	p *Program
	o plan.Options
	m *plan.Machine
}

// mixTasks bounds the plans of mixtures by the tasks in them, which is about their time.
const mixTasks = 500_000

// around lets searches begin with pl's number of intervals; without Config.Machine the
// number is chosen already.
func (s *saving) around(pl *plan.Plan) {
	s.o.Near = pl.Cells.P
	if s.p.machine == nil {
		s.o.P, s.o.Schedule = pl.Cells.P, pl.Schedule
	}
}

// try plans a policy with some values stored beside; nil where it does not fit.
func (s *saving) try(policy string, store []string) (*saved, error) {
	low, err := s.p.lowerSave(policy, store)
	if err != nil || low == nil {
		return nil, err
	}
	x := &saved{policy: policy, store: store, low: low}
	if s.p.machine != nil {
		x.plan, x.line, err = plan.Search(low.Spec, s.p.cells, s.o, s.m)
	} else if x.plan, err = plan.New(low.Spec, s.p.cells, s.o); err == nil {
		x.line = plan.Simulate(x.plan, s.m)
	}
	var small *plan.BudgetError
	if errors.As(err, &small) {
		return nil, nil
	}
	return x, err
}

// mix begins with the fastest policy and with the one that stores least, and stores one
// value more at a time, or makes one later, the one that helps most, while that makes the epoch shorter by a
// two-hundredth. nil: nothing to mix.
func (s *saving) mix(best *saved, all []*saved) (*saved, error) {
	asked := s.o
	defer func() { s.o = asked }()
	s.o.P, s.o.Schedule, s.o.Early = best.plan.Cells.P, best.plan.Schedule, s.p.machine
	if s.o.Slots == 0 {
		s.o.Slots, s.o.More = best.plan.Slots, true
	}
	spent := 0
	var top *saved
	for _, from := range all {
		if from != best && from.policy != SaveNone || from.policy == SaveAll {
			continue
		}
		at, err := s.try(from.policy, from.store)
		if err != nil {
			return nil, err
		}
		for at != nil && spent < mixTasks {
			var next *saved
			for _, name := range slices.Concat(at.low.Again, at.low.Early) {
				x, err := s.try(at.policy, append(slices.Clone(at.store), name))
				if err != nil {
					return nil, err
				}
				if x == nil {
					continue
				}
				spent += 2 * len(x.plan.Tasks) // two plans, mostly
				if next == nil || x.line.Wall < next.line.Wall {
					next = x
				}
				if spent >= mixTasks {
					break
				}
			}
			if next == nil || 200*next.line.Wall > 199*at.line.Wall {
				break
			}
			if at = next; top == nil || at.line.Wall < top.line.Wall {
				top = at
			}
		}
	}
	if top == nil {
		return nil, nil
	}
	return top, nil
}
