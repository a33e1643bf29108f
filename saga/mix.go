package saga

import (
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

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

// choice is a policy with values stored beside.
type choice struct {
	policy string
	store  []string
}

// triedAtOnce bounds the plans that are in the making at a time, and so their memory.
const triedAtOnce = 4

// try plans choices, side by side; nil for one that does not fit.
func (s *saving) try(list ...choice) ([]*saved, error) {
	out := make([]*saved, len(list))
	var g errgroup.Group
	g.SetLimit(min(triedAtOnce, runtime.GOMAXPROCS(0)))
	for i, c := range list {
		low, err := s.p.lowerSave(c.policy, c.store)
		if err != nil {
			return nil, errors.Join(err, g.Wait())
		}
		if low != nil {
			g.Go(func() (err error) {
				out[i], err = s.plan(&saved{policy: c.policy, store: c.store, low: low})
				return err
			})
		}
	}
	return out, g.Wait()
}

// plan plans x; nil where it does not fit.
func (s *saving) plan(x *saved) (_ *saved, err error) {
	if s.p.machine != nil {
		x.plan, x.line, err = plan.Search(x.low.Spec, s.p.cells, s.o, s.m)
	} else if x.plan, err = plan.New(x.low.Spec, s.p.cells, s.o); err == nil {
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
		begin, err := s.try(choice{from.policy, from.store})
		if err != nil {
			return nil, err
		}
		for at := begin[0]; at != nil && spent < mixTasks; {
			var next *saved
			for names := range slices.Chunk(slices.Concat(at.low.Again, at.low.Early), triedAtOnce) {
				var list []choice
				for _, name := range names {
					list = append(list, choice{at.policy, append(slices.Clone(at.store), name)})
				}
				tried, err := s.try(list...)
				if err != nil {
					return nil, err
				}
				for _, x := range tried {
					if x == nil {
						continue
					}
					spent += 2 * len(x.plan.Tasks) // two plans, mostly
					if next == nil || x.line.Wall < next.line.Wall {
						next = x
					}
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
	return top, nil
}

// again searches the number of intervals and the schedule for mixture x, which was made
// with those of another program: less that is stored lets larger chunks fit.
func (s *saving) again(x *saved) (*saved, error) {
	if x == nil || len(x.plan.Tasks) > mixTasks/4 {
		return x, nil
	}
	y, err := s.plan(&saved{policy: x.policy, store: x.store, low: x.low})
	if y == nil || err != nil || y.line.Wall >= x.line.Wall {
		return x, err
	}
	return y, nil
}
