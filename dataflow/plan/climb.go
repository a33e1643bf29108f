package plan

import (
	"cmp"
	"slices"
)

// Climbing: what stays on the device is changed one value or direction at a time, the
// change that shortens the epoch most, until none does by a three-hundredth.

// climbTasks bounds the tasks that climbing simulates, a third with Options.Quick. Plans of several devices have more.
const climbTasks = 500_000

func (f *search) climbTasks() int {
	n := climbTasks
	if f.o.Devices > 1 {
		n *= 4
	}
	if f.o.Quick {
		n /= 3
	}
	return n
}

// Improve is what Search does last and leaves out with Options.Quick: it begins with a plan
// that Search has found for s and its timeline. With Quick only that plan is changed, not
// those that were about as fast.
func Improve(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine, pl *Plan, line *Timeline) (*Plan, *Timeline, error) {
	f := newSearch(s, cells, o, m)
	f.best, f.line = pl, line
	err := f.climb()
	return f.best, f.line, err
}

// Glance is where Improve begins: once, memory is dealt out by the kernels of pl's phases, or
// copies are priced by them. That is most of what Improve wins, in a dozen plans, and so tells
// which of several programs to improve.
func Glance(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine, pl *Plan, line *Timeline) (*Plan, *Timeline, error) {
	f := newSearch(s, cells, o, m)
	f.best, f.line = pl, line
	if !pl.moves() || o.Stream || o.Budget == 0 || f.hidden() {
		return pl, line, nil
	}
	policies := append(pl.policy.levels(pl, line, m), pl.policy.prices(pl, line)...)
	f.aheadPolicies(pl, policies)
	for _, t := range policies {
		if f.spent > f.climbTasks() {
			break
		}
		if _, _, err := f.one(pl.Cells.P, pl.Schedule, pl.Slots, t); err != nil {
			return nil, nil, err
		}
	}
	return f.best, f.line, nil
}

// climb improves the best plan by its policy, for its number of intervals, schedule and
// slots, then tries other numbers with the policy it has come to.
func (f *search) climb() error {
	if !f.best.moves() || f.o.Stream || f.o.Budget == 0 {
		return nil
	}
	if err := f.climbOn(f.climbTasks()); err != nil || f.o.Serial {
		return err
	}
	f.early = true // nothing is lost: the best so far is the first to be tried so
	if _, _, err := f.one(f.best.Cells.P, f.best.Schedule, f.best.Slots, f.best.policy); err != nil {
		return err
	}
	return f.climbOn(f.climbTasks() / 2)
}

// climbOn climbs from the best plan and simulates about so many tasks.
func (f *search) climbOn(tasks int) error {
	f.spent = f.climbTasks() - tasks
	rivals := f.best.rivals
	if f.o.Quick {
		rivals = nil
	}
	for {
		if err := f.improve(); err != nil {
			return err
		}
		from := f.best
		if f.o.P > 0 || !from.policy.special() || f.spent > f.climbTasks() {
			break
		}
		if err := f.around(from); err != nil {
			return err
		}
		if f.best == from {
			break
		}
	}
	for _, r := range rivals {
		if err := f.challenge(r); err != nil {
			return err
		}
	}
	return nil
}

// at is a schedule with a number of intervals.
type at struct {
	schedule string
	p        int
}

// rival is a plan that was not much slower than the best, and may climb higher.
type rival struct {
	schedule string
	p, slots int
	policy   policy
	ns       int64
	tasks    int
}

// Rivals are so many at most, slower by so many percent, and so small that a climb is cheap.
const (
	rivals      = 3
	rivalBehind = 15
	rivalTasks  = 100 // so many of its size make a climb
)

// rivals lists the fastest small plans beside the best, with other numbers of intervals.
func (f *search) rivals() []rival {
	var list []rival
	for w, r := range f.reached {
		if w.p != f.best.Cells.P && rivalTasks*r.tasks <= f.climbTasks() && 100*r.ns <= (100+rivalBehind)*f.line.Wall {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b rival) int {
		return cmp.Or(cmp.Compare(a.ns, b.ns), a.p-b.p, cmp.Compare(a.schedule, b.schedule))
	})
	seen := map[int]bool{} // one of a number of intervals
	list = slices.DeleteFunc(list, func(r rival) bool {
		again := seen[r.p]
		seen[r.p] = true
		return again
	})
	return list[:min(rivals, len(list))]
}

// challenge climbs from r and takes what is faster than the best.
func (f *search) challenge(r rival) error {
	g := newSearch(f.spec, f.cells, f.o, f.m)
	if _, n, err := g.one(r.p, r.schedule, r.slots, r.policy); err != nil || n == 0 {
		return err
	}
	g.spent += f.spent
	err := g.improve()
	if f.spent = g.spent; g.line.Wall < f.line.Wall {
		f.best, f.line = g.best, g.line
	}
	return err
}

// improve changes the policy and the slots of the best plan while that helps. What is balanced comes
// when nothing else does.
func (f *search) improve() error {
	for better, levels := true, false; (better || !levels) && !f.hidden(); {
		from, at := f.line.Wall, f.best
		var policies []policy
		if levels = !better; levels {
			policies = at.policy.levels(at, f.line, f.m)
		} else {
			policies = append(at.policy.neighbours(at), at.policy.prices(at, f.line)...)
		}
		for i, t := range policies {
			if f.spent > f.climbTasks() {
				return nil
			}
			if i%aheadAtOnce == 0 {
				f.aheadPolicies(at, policies[i:min(i+aheadAtOnce, len(policies))])
			}
			if _, _, err := f.one(at.Cells.P, at.Schedule, at.Slots, t); err != nil {
				return err
			}
		}
		for k := 2; k <= 4 && f.o.Slots == 0; k++ {
			if at = f.best; k != at.Slots && f.spent <= f.climbTasks() {
				if _, _, err := f.one(at.Cells.P, at.Schedule, k, at.policy); err != nil {
					return err
				}
			}
		}
		better = 300*f.line.Wall < 299*from
	}
	return nil
}

// hidden tells that kernels wait for copies so little that what stays makes no difference.
func (f *search) hidden() bool {
	return 1000*(f.line.Exposed+f.line.Idle) < f.line.Wall && !f.best.derives()
}

// derives tells whether values are made on arrival: again where they do not stay.
func (p *Plan) derives() bool {
	return slices.ContainsFunc(p.Spec.Values, func(v Value) bool { return v.Derive != nil })
}

// around tries other numbers of intervals with the policy of pl, the best plan.
func (f *search) around(pl *Plan) error {
	sch, p := pl.Schedule, pl.Cells.P
	f.policies, f.slots = []policy{pl.policy}, []int{pl.Slots}
	f.tried = map[string]map[int]int64{sch: {p: f.line.Wall}}
	f.o.Near = p
	for _, p := range f.first() {
		if f.spent > f.climbTasks() {
			return nil
		}
		if _, _, err := f.try(p, sch); err != nil {
			return err
		}
	}
	return f.refine(trial{sch, p, f.line.Wall, f.tasks[p]})
}
