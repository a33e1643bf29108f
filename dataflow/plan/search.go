package plan

import (
	"cmp"
	"errors"
	"slices"
)

// Auto as Options.Schedule lets Search choose the schedule.
const Auto = "auto"

// Search plans s for candidate numbers of intervals and, where o leaves it open, every
// schedule and every number of slots, simulates each plan on m, and returns the fastest
// with its timeline. Planning and simulating are cheap enough to need no second model of
// cost.
//
// First all candidates are tried with two and four slots, or those around Options.Near. Then the
// numbers between the best and its neighbours are tried, in steps that shrink to a
// twenty-fourth of the number: within a budget the smallest that fits is often the best,
// and a candidate may lie far above it. Last come other numbers of slots, for the
// fastest few.
func Search(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine) (*Plan, *Timeline, error) {
	f := &search{spec: s, cells: cells, o: o, m: m, schedules: []string{o.Schedule}, slots: []int{o.Slots}, tried: map[int]int64{}, behind: map[string]int{}}
	if o.Schedule == Auto {
		f.schedules = []string{Sag, Stage, DestOrder}
	}
	if o.Slots == 0 {
		f.slots = []int{2, 4}
	}
	try := candidates
	switch {
	case o.P > 0:
		try = []int{o.P}
	case o.Near > 0:
		try = []int{max(1, o.Near/2), o.Near, min(2*o.Near, max(o.Near, candidates[len(candidates)-1]))}
	}
	for _, p := range try {
		if p < o.MinP || p < o.Devices {
			continue
		}
		if _, err := f.try(p); err != nil {
			return nil, nil, err
		}
	}
	if f.best == nil {
		if f.small == nil {
			return nil, nil, errors.New("plan: no number of intervals to try")
		}
		return nil, nil, f.small
	}
	if o.P == 0 {
		if err := f.refine(); err != nil {
			return nil, nil, err
		}
	}
	if o.Slots == 0 && f.best.H2D+f.best.D2H+f.best.D2D > 0 {
		f.slots, f.behind = []int{3}, map[string]int{}
		for _, p := range f.fastest(4) {
			if _, err := f.try(p); err != nil {
				return nil, nil, err
			}
		}
	}
	return f.best, f.line, nil
}

// search is the state of Search.
type search struct {
	spec      *Spec
	cells     func(p int) (*Cells, error)
	o         Options
	m         *Machine
	schedules []string
	slots     []int
	tried     map[int]int64  // fastest by number of intervals, -1: none fits
	behind    map[string]int // numbers in a row with which a schedule took twice the best
	best      *Plan
	line      *Timeline
	small     *BudgetError
}

// patience is with how many numbers of intervals in a row a schedule may take twice the
// time of the fastest before it is given up.
const patience = 3

// try simulates the plans of p intervals and returns the fastest's ns, -1 when none fits.
func (f *search) try(p int) (fastest int64, err error) {
	fastest = -1
	took := map[string]int64{}
	for _, sch := range f.schedules {
		if f.behind[sch] >= patience {
			continue
		}
		some, still, err := f.schedule(p, sch)
		if err != nil {
			return 0, err
		}
		if some >= 0 {
			took[sch] = some
			if fastest < 0 || some < fastest {
				fastest = some
			}
		}
		if still {
			break // nothing streams: slots and schedules make no difference
		}
	}
	for sch, ns := range took {
		if f.behind[sch]++; ns <= 2*fastest {
			f.behind[sch] = 0
		}
	}
	f.tried[p] = fastest
	return fastest, nil
}

// schedule simulates the plans of p intervals and one schedule, a plan a number of
// slots; still tells that nothing moves.
func (f *search) schedule(p int, sch string) (fastest int64, still bool, err error) {
	fastest = -1
	for _, k := range f.slots {
		one := f.o
		one.P, one.Schedule, one.Slots, one.More = p, sch, k, f.o.Slots == 0
		pl, err := New(f.spec, f.cells, one)
		var e *BudgetError
		if errors.As(err, &e) {
			if f.small == nil || e.Smallest < f.small.Smallest {
				f.small = e
			}
			return fastest, false, nil // more slots take more
		}
		if err != nil {
			return 0, false, err
		}
		t := Simulate(pl, f.m)
		if fastest < 0 || t.Wall < fastest {
			fastest = t.Wall
		}
		if f.best == nil || t.Wall < f.line.Wall {
			f.best, f.line = pl, t
		}
		if len(pl.Tasks) > 0 && pl.H2D+pl.D2H+pl.D2D == 0 && pl.Devices == 1 {
			return fastest, true, nil
		}
		if pl.Slots < k {
			break // more do not fit either
		}
	}
	return fastest, false, nil
}

// fastest lists up to n numbers of intervals, the fastest first.
func (f *search) fastest(n int) []int {
	var ps []int
	for p, ns := range f.tried {
		if ns >= 0 {
			ps = append(ps, p)
		}
	}
	slices.SortFunc(ps, func(a, b int) int { return cmp.Or(cmp.Compare(f.tried[a], f.tried[b]), a-b) })
	return ps[:min(n, len(ps))]
}

// refine tries numbers between the best and its neighbours.
func (f *search) refine() error {
	for {
		at := f.best.Cells.P
		var ps []int
		for p := range f.tried {
			ps = append(ps, p)
		}
		slices.Sort(ps)
		i, _ := slices.BinarySearch(ps, at)
		var next []int
		for _, n := range []int{i - 1, i + 1} {
			if n < 0 || n >= len(ps) {
				continue
			}
			gap := ps[n] - at
			if step := max(1, at/24); gap > step || -gap > step {
				next = append(next, at+gap/2)
			}
		}
		if len(next) == 0 {
			return nil
		}
		for _, p := range next {
			if p >= f.o.MinP {
				if _, err := f.try(p); err != nil {
					return err
				}
			}
		}
	}
}
