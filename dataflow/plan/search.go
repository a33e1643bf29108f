package plan

import (
	"cmp"
	"errors"
	"slices"
)

// Auto as Options.Schedule lets Search choose the schedule.
const Auto = "auto"

// Search plans s for candidate numbers of intervals and, where o leaves it open, every
// schedule and several numbers of slots, simulates each plan on m, and returns the fastest
// with its timeline. Planning and simulating are cheap enough to need no second model of
// cost.
//
// First all candidates are tried with two and four slots, or those from half to twice
// Options.Near, and the smallest numbers with which one slot or so many fit, where copies
// begin to hide. Then, for each schedule that is not far behind, the numbers between its best and
// their neighbours, in steps that shrink to a twenty-fourth of the number: within a budget
// the smallest that fits is often the best, and a candidate may lie far above it. Last come
// three slots, for the fastest few.
func Search(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine) (*Plan, *Timeline, error) {
	f := newSearch(s, cells, o, m)
	for _, p := range f.first() {
		if err := f.all(p); err != nil {
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
		if err := f.thresholds(); err != nil {
			return nil, nil, err
		}
		for _, t := range f.fastest(len(f.tried), true) {
			if 4*t.ns > 5*f.line.Wall { // other numbers will not make up for that
				break
			}
			if err := f.refine(t); err != nil {
				return nil, nil, err
			}
		}
	}
	if o.Slots == 0 && f.best.moves() {
		f.slots = []int{3}
		for _, t := range f.fastest(4, false) {
			if _, _, err := f.try(t.p, t.schedule); err != nil {
				return nil, nil, err
			}
		}
	}
	if !o.Quick {
		err := f.climb()
		return f.best, f.line, err
	}
	return f.best, f.line, nil
}

func newSearch(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine) *search {
	f := &search{spec: s, cells: cells, o: o, m: m, schedules: []string{o.Schedule}, slots: []int{o.Slots},
		tried: map[string]map[int]int64{}, behind: map[string]int{}, tastes: []taste{{}, {brief: true}}}
	if o.Schedule == Auto {
		f.schedules = []string{Sag, Stage, DestOrder}
	}
	if o.Slots == 0 {
		f.slots = []int{2, 4}
	}
	return f
}

// search is the state of Search.
type search struct {
	spec      *Spec
	cells     func(p int) (*Cells, error)
	o         Options
	m         *Machine
	schedules []string
	slots     []int
	tried     map[string]map[int]int64 // by schedule and number of intervals the fastest, ns
	behind    map[string]int           // numbers in a row with which a schedule took twice the best
	early     bool                     // loads in the order of their deadlines
	spent     int                      // tasks simulated
	best      *Plan
	tastes    []taste
	line      *Timeline
	small     *BudgetError
}

// Bounds of a search: with how many numbers of intervals in a row a schedule may take
// twice the time of the fastest before it is given up, and after how many simulated tasks
// refining ends (about a second).
const (
	patience    = 3
	searchTasks = 2_000_000
)

// first lists the numbers of intervals that a search begins with.
func (f *search) first() []int {
	try := candidates
	switch o := &f.o; {
	case o.P > 0:
		try = []int{o.P}
	case o.Near > 0:
		try = []int{o.Near}
		for _, p := range candidates {
			if p != o.Near && 2*p >= o.Near && p <= 2*o.Near {
				try = append(try, p)
			}
		}
		slices.Sort(try)
	}
	return slices.DeleteFunc(slices.Clone(try), func(p int) bool { return f.o.P == 0 && (p < f.o.MinP || p < f.o.Devices) })
}

// all tries p intervals with every schedule that has not been given up.
func (f *search) all(p int) error {
	took := map[string]int64{}
	for _, sch := range f.schedules {
		if f.behind[sch] >= patience {
			continue
		}
		ns, still, err := f.try(p, sch)
		if err != nil {
			return err
		}
		if ns >= 0 {
			took[sch] = ns
		}
		if still {
			break // nothing streams: slots and schedules make no difference
		}
	}
	fastest := int64(-1)
	for _, ns := range took {
		if fastest < 0 || ns < fastest {
			fastest = ns
		}
	}
	for sch, ns := range took {
		if f.behind[sch]++; ns <= 2*fastest {
			f.behind[sch] = 0
		}
	}
	return nil
}

// try simulates the plans of p intervals and one schedule, a plan a number of slots, and
// returns the fastest's ns, -1 when none fits; still tells that nothing moves.
func (f *search) try(p int, sch string) (fastest int64, still bool, err error) {
	fastest = -1
	for n, t := range f.tastes {
		if n > 0 && (still || fastest < 0 || 2*fastest > 3*f.line.Wall) {
			break
		}
		for _, k := range f.slots {
			pl, ns, err := f.one(p, sch, k, t)
			if err != nil {
				return 0, false, err
			}
			if pl == nil {
				break // more slots take more
			}
			if fastest < 0 || ns < fastest {
				fastest = ns
			}
			if still = len(pl.Tasks) > 0 && !pl.moves(); still || pl.Slots < k {
				break // more make no difference, or do not fit either
			}
		}
	}
	if f.tried[sch] == nil {
		f.tried[sch] = map[int]int64{}
	}
	if old, ok := f.tried[sch][p]; !ok || old < 0 || fastest >= 0 && fastest < old {
		f.tried[sch][p] = fastest
	}
	return fastest, still, nil
}

// one simulates one plan, nil when it does not fit.
func (f *search) one(p int, sch string, slots int, t taste) (*Plan, int64, error) {
	o := f.o
	o.P, o.Schedule, o.Slots, o.More, o.Windows, o.taste = p, sch, slots, f.o.Slots == 0 || f.o.More, true, t
	if f.early {
		o.Early = f.m
	}
	pl, err := New(f.spec, f.cells, o)
	var e *BudgetError
	if errors.As(err, &e) {
		if f.small == nil || e.Smallest < f.small.Smallest {
			f.small = e
		}
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	line := Simulate(pl, f.m)
	f.spent += len(pl.Tasks)
	if f.best == nil || line.Wall < f.line.Wall {
		f.best, f.line = pl, line
	}
	return pl, line.Wall, nil
}

// thresholds tries, for every schedule, the smallest numbers of intervals with which each
// number of slots fits, where they lie between candidates.
func (f *search) thresholds() error {
	for _, sch := range f.schedules {
		var ps []int
		for p := range f.tried[sch] {
			ps = append(ps, p)
		}
		slices.Sort(ps)
		for _, k := range append([]int{1}, f.slots...) {
			lo, hi := 0, 0
			for _, p := range ps {
				ok, err := f.room(p, sch, k)
				if err != nil {
					return err
				}
				if ok {
					hi = p
					break
				}
				lo = p
			}
			if lo == 0 || hi == 0 { // always, or never
				continue
			}
			for hi-lo > 1 {
				mid := (lo + hi) / 2
				ok, err := f.room(mid, sch, k)
				if err != nil {
					return err
				}
				if ok {
					hi = mid
				} else {
					lo = mid
				}
			}
			if _, done := f.tried[sch][hi]; !done && f.spent < searchTasks {
				if _, _, err := f.try(hi, sch); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// room tells whether p intervals leave room for k slots of everything that streams when
// nothing stays.
func (f *search) room(p int, sch string, k int) (bool, error) {
	c, err := f.cells(p)
	if err != nil || f.o.Budget == 0 {
		return err == nil, err
	}
	s := f.spec
	if sch == Stage || sch == DestOrder {
		s = staged(s, sch == DestOrder)
	}
	pl := &Plan{Spec: s, Cells: c, Devices: max(1, f.o.Devices), sizing: true}
	pl.place(choice{resident: make([]bool, len(s.Values)), slots: k}, f.o.Base)
	return pl.Peak <= f.o.Budget, nil
}

// moves tells whether a step copies anything, but for its results.
func (p *Plan) moves() bool { return p.H2D+p.D2H+p.D2D > 0 || p.Devices > 1 }

// trial is a schedule with a number of intervals, and what its fastest plan takes.
type trial struct {
	schedule string
	p        int
	ns       int64
}

// fastest lists up to n trials, the fastest first; with each only the best of a schedule.
func (f *search) fastest(n int, each bool) []trial {
	var list []trial
	for sch, by := range f.tried {
		for p, ns := range by {
			if ns >= 0 {
				list = append(list, trial{sch, p, ns})
			}
		}
	}
	slices.SortFunc(list, func(a, b trial) int {
		return cmp.Or(cmp.Compare(a.ns, b.ns), a.p-b.p, cmp.Compare(a.schedule, b.schedule))
	})
	if each {
		seen := map[string]bool{}
		list = slices.DeleteFunc(list, func(t trial) bool {
			again := seen[t.schedule]
			seen[t.schedule] = true
			return again
		})
	}
	return list[:min(n, len(list))]
}

// refine tries numbers between the best of a schedule and its neighbours.
func (f *search) refine(t trial) error {
	for f.spent < searchTasks {
		by := f.tried[t.schedule]
		var ps []int
		for p, ns := range by {
			ps = append(ps, p)
			if ns >= 0 && (ns < t.ns || ns == t.ns && p < t.p) {
				t.p, t.ns = p, ns
			}
		}
		slices.Sort(ps)
		i, _ := slices.BinarySearch(ps, t.p)
		var next []int
		for _, n := range []int{i - 1, i + 1} {
			if n < 0 || n >= len(ps) {
				continue
			}
			gap := ps[n] - t.p
			if step := max(1, t.p/24); gap > step || -gap > step {
				next = append(next, t.p+gap/2)
			}
		}
		if len(next) == 0 {
			return nil
		}
		for _, p := range next {
			if p < f.o.MinP {
				by[p] = -1
				continue
			}
			if _, _, err := f.try(p, t.schedule); err != nil {
				return err
			}
		}
	}
	return nil
}
