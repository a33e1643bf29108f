package saga

import (
	"cmp"
	"errors"
	"fmt"
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
	glance *saved // improved a little; nil: not
}

// beats: x is faster than y by a hundredth.
func (x *saved) beats(y *saved) bool { return 100*x.ns() <= 99*y.ns() }

// ns is the time by which x is compared.
func (x *saved) ns() int64 { return cmp.Or(x.glance, x).line.Wall }

// saving tries what may be stored.
type saving struct {
	p        *Program
	o, asked plan.Options
	m        *plan.Machine
	all      []*saved // what has been tried
	best     *saved   // the fastest of them
}

// add takes x among what has been tried.
func (s *saving) add(x *saved) {
	if s.all = append(s.all, x); s.best == nil || x.beats(s.best) {
		s.best = x
	}
}

// tryAll tries choices and adds those that fit.
func (s *saving) tryAll(list ...choice) error {
	tried, err := s.try(list...)
	for _, x := range tried {
		if x != nil && x.plan != nil {
			s.add(x)
		}
	}
	return err
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

// glance finds what all plans take when they have been improved a little and returns the
// fastest: how plans compare as they are says little of how they compare in the end.
func (s *saving) glance() (best *saved, err error) {
	for _, x := range s.all {
		if len(x.plan.Tasks) <= glanceTasks && !x.hopeless(s.best) {
			y := *x
			if y.plan, y.line, err = plan.Glance(x.low.Spec, s.p.cells, s.o, s.m, x.plan, x.line); err != nil {
				return nil, err
			}
			x.glance = &y
		}
		if best == nil || x.beats(best) {
			best = x
		}
	}
	return best, nil
}

// mix begins with the fastest policy and with those that store least, with the intervals and the schedule
// of each of them, and stores one value more at a time, or makes one later, the one that helps most, while
// that makes the epoch shorter by a two-hundredth. nil: nothing to mix.
func (s *saving) mix(best *saved) (*saved, error) {
	asked := s.o
	defer func() { s.o = asked }()
	s.o.Early = s.p.machine
	from := []*saved{best}
	for _, x := range s.all {
		if x != best && x.policy == SaveNone {
			from = append(from, x)
		}
	}
	var top *saved
	spent, seen := 0, map[string]bool{}
	for _, grid := range from {
		s.o.P, s.o.Schedule = grid.plan.Cells.P, grid.plan.Schedule
		if asked.Slots == 0 {
			s.o.Slots, s.o.More = grid.plan.Slots, true
		}
		for _, x := range from {
			key := fmt.Sprint(s.o.P, s.o.Schedule, x.policy, x.store)
			if x.policy == SaveAll || seen[key] {
				continue
			}
			seen[key] = true
			y, err := s.ascend(choice{x.policy, x.store}, &spent)
			if err != nil {
				return nil, err
			}
			if y != nil && (top == nil || y.line.Wall < top.line.Wall) {
				top = y
			}
		}
	}
	return top, nil
}

// ascend is what mix comes to from c; nil: nothing better. spent counts the tasks of what it plans.
func (s *saving) ascend(c choice, spent *int) (top *saved, err error) {
	begin, err := s.try(c)
	if err != nil {
		return nil, err
	}
	for at := begin[0]; at != nil && *spent < mixTasks; {
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
				*spent += 2 * len(x.plan.Tasks) // two plans, mostly
				if next == nil || x.line.Wall < next.line.Wall {
					next = x
				}
			}
			if *spent >= mixTasks {
				break
			}
		}
		if next == nil || 200*next.line.Wall > 199*at.line.Wall {
			break
		}
		at, top = next, next
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
