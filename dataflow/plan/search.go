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
// First all candidates are tried with two and four slots, or those from half to two and a half times
// Options.Near, and the smallest numbers with which one slot or so many fit, where copies
// begin to hide. Then, for each schedule that is not far behind, the numbers between its best and
// their neighbours, in steps that shrink to a twenty-fourth of the number: within a budget
// the smallest that fits is often the best, and a candidate may lie far above it. Last come
// three slots, for the fastest few. With Options.HostMem the timelines know the disk, and
// plans that cannot do with it are left out, unless all are.
func Search(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine) (*Plan, *Timeline, error) {
	f := newSearch(s, cells, o, m)
	for {
		for _, p := range f.first() {
			if err := f.all(p); err != nil {
				return nil, nil, err
			}
		}
		if f.best != nil || f.step == 1 {
			break
		}
		f.step = 1 // devices with unequal shares
	}
	if f.best == nil && f.short { // who places its values will say so
		o.HostMem = 0
		return Search(s, cells, o, m)
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
			if 4*t.ns > 5*f.line.Wall || f.far(t.ns, t.tasks) { // other numbers will not make up for that
				continue
			}
			if err := f.refine(t); err != nil {
				return nil, nil, err
			}
		}
	}
	if o.Slots == 0 && f.best.moves() {
		f.slots, f.last = []int{2, 3, 4}, true
		for _, t := range f.fastest(4, false) {
			if _, _, err := f.try(t.p, t.schedule); err != nil {
				return nil, nil, err
			}
		}
	}
	f.best.rivals = f.rivals()
	if !o.Quick {
		err := f.climb()
		return f.best, f.line, err
	}
	return f.best, f.line, nil
}

func newSearch(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine) *search {
	f := &search{spec: s, cells: cells, o: o, m: m, schedules: []string{o.Schedule}, slots: []int{o.Slots}, step: max(1, o.Devices),
		tried: map[string]map[int]int64{}, behind: map[string]int{}, tastes: []taste{{}, {brief: true}}, seen: map[string]seen{}, tasks: map[int]int{}, before: map[string]int64{}, made: map[string]*answer{}, sized: newSized(), grids: map[int]*Cells{}, won: map[string]int{}, ways: map[at]rival{}}
	if o.P == 0 {
		f.tastes = append(f.tastes, taste{ahead: 4})
	}
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
	behind    map[string]int           // numbers in a row with which a schedule was far behind the best
	ways      map[at]rival             // the fastest
	won       map[string]int           // by schedule which taste and number of slots was the fastest
	before    map[string]int64         // by schedule what the last number of intervals took
	last      bool                     // what is tried now is tried in every way
	step      int                      // numbers of intervals are multiples of it
	seen      map[string]seen          // by layout
	tasks     map[int]int              // by number of intervals the most tasks
	early     bool                     // loads in the order of their deadlines
	spent     int                      // tasks simulated
	best      *Plan
	tastes    []taste
	line      *Timeline
	small     *BudgetError
	sized     []*sized           // by worker
	made      map[string]*answer // ahead of their use
	grids     map[int]*Cells     // of plans that are made ahead
	short     bool               // a plan was left out for lack of host memory
}

// seen is a plan that has been simulated.
type seen struct {
	ns    int64
	tasks int
	moves bool
}

// Bounds of a search: with how many numbers of intervals in a row a schedule may take
// twice the time of the fastest, and get slower, before it is given up, after how many simulated tasks
// refining ends (less than a second), and with how many a plan is large.
const (
	patience    = 3
	searchTasks = 1_000_000
	manyTasks   = 10_000
)

// first lists the numbers of intervals that a search begins with.
func (f *search) first() []int {
	try := candidates
	switch o := &f.o; {
	case o.P > 0:
		return []int{o.P}
	case o.Near > 0:
		try = []int{o.Near}
		for _, p := range candidates {
			if p != o.Near && 2*p >= o.Near && 2*p <= 5*o.Near {
				try = append(try, p)
			}
		}
		slices.Sort(try)
	}
	return slices.DeleteFunc(evenly(try, f.step), func(p int) bool { return p < f.o.MinP || p < f.o.Devices })
}

// all tries p intervals with every schedule that has not been given up.
func (f *search) all(p int) error {
	if f.best != nil && f.spent > searchTasks && f.o.P == 0 && f.o.Near > 0 {
		return nil
	}
	took := map[string]int64{}
	f.aheadAll(f.schedules, p)
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
	for sch, ns := range took {
		if f.behind[sch]++; ns <= 2*f.line.Wall || ns < f.before[sch] {
			f.behind[sch] = 0
		}
		f.before[sch] = ns
	}
	return nil
}

// try simulates the plans of p intervals and one schedule, a plan a taste and number of
// slots, and returns the fastest's ns, -1 when none fits; still tells that nothing moves.
// What was fastest with the number before comes first: of large plans it is the only one.
func (f *search) try(p int, sch string) (fastest int64, still bool, err error) {
	fastest = -1
	tasks, won, n := 0, f.won[sch], len(f.slots)*len(f.tastes)
	for i := range n {
		if i > 0 && (still || fastest >= 0 && (f.far(fastest, tasks) || f.full(tasks))) {
			break
		}
		if i == 1 {
			var rest []way
			for k := 1; k < n; k++ {
				x, _ := f.nth(p, sch, won, k)
				rest = append(rest, x)
			}
			f.ahead(rest...)
		}
		next, w := f.nth(p, sch, won, i)
		t, k := next.taste, next.slots
		x, fits, err := f.one(p, sch, k, t)
		if err != nil {
			return 0, false, err
		}
		if fits == 0 {
			if t.ahead == 0 {
				break // fewer slots have been tried
			}
			continue
		}
		if tasks = x.tasks; fastest < 0 || x.ns < fastest {
			fastest, f.won[sch] = x.ns, w
			if w, ok := f.ways[at{sch, p}]; !ok || x.ns < w.ns {
				f.ways[at{sch, p}] = rival{sch, p, k, t, x.ns, x.tasks}
			}
		}
		still = x.tasks > 0 && !x.moves
	}
	if f.tried[sch] == nil {
		f.tried[sch] = map[int]int64{}
	}
	if old, ok := f.tried[sch][p]; !ok || old < 0 || fastest >= 0 && fastest < old {
		f.tried[sch][p] = fastest
	}
	f.tasks[p] = max(f.tasks[p], tasks)
	return fastest, still, nil
}

// nth is the i-th way to plan p intervals and one schedule, and which of all it is: the
// one that won before, then the others in order.
func (f *search) nth(p int, sch string, won, i int) (way, int) {
	w := i
	if won < len(f.slots)*len(f.tastes) && i <= won {
		w = (i + won) % (won + 1)
	}
	return way{p, sch, f.slots[w%len(f.slots)], f.tastes[w/len(f.slots)]}, w
}

// full tells that plans of so many tasks are tried in one way only.
func (f *search) full(tasks int) bool {
	return tasks > 5*manyTasks && !f.last || tasks > manyTasks && f.spent > searchTasks && f.o.P == 0
}

// far tells that a plan of so many tasks is too slow to be worth more of that size: the
// more they are, the closer it has to be to the best.
func (f *search) far(ns int64, tasks int) bool {
	slack := 1.0
	if tasks > manyTasks && !f.last {
		slack *= manyTasks / float64(tasks)
	}
	return float64(ns) > (1+slack)*float64(f.line.Wall)
}

// one simulates one plan, unless an equal one has been, and says how many slots it has;
// 0: it does not fit.
func (f *search) one(p int, sch string, slots int, t taste) (seen, int, error) {
	a := f.answer(way{p, sch, slots, t})
	if a.err != nil {
		return seen{}, 0, a.err
	}
	if a.need > 0 {
		if f.small == nil || a.need < f.small.Smallest {
			f.small = &BudgetError{f.o.Budget, a.need, p}
		}
		return seen{}, 0, nil
	}
	if x, ok := f.seen[a.layout]; ok {
		return x, a.ch.slots, nil
	}
	a.make(f.m)
	pl, line := a.plan, a.line
	if pl.short {
		f.short = true
		f.spent += len(pl.Tasks) / 2
		return seen{}, 0, nil
	}
	f.spent += len(pl.Tasks)
	if f.best == nil || line.Wall < f.line.Wall {
		f.best, f.line = pl, line
	}
	x := seen{line.Wall, len(pl.Tasks), pl.moves()}
	f.seen[a.layout] = x
	return x, a.ch.slots, nil
}

// fitting is for p intervals and one schedule.
func (f *search) fitting(p int, sch string, slots int, t taste) (*fitting, error) {
	o := f.o
	o.P, o.Schedule, o.Slots, o.More, o.Windows, o.Diagonal, o.taste = p, sch, slots, f.o.Slots == 0 || f.o.More, true, !f.o.Stream, t
	if f.early {
		o.Early = f.m
	}
	s, err := o.prepare(f.spec)
	if err != nil {
		return nil, err
	}
	c := f.grids[p]
	if c == nil {
		if c, err = f.cells(p); err != nil {
			return nil, err
		}
	}
	return newFitting(s, c, o), nil
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
			if hi == 0 || lo == 0 && hi < 2*f.step { // never, or always
				continue
			}
			lo = max(lo, (f.o.MinP-1)/f.step*f.step)
			for hi-lo > f.step {
				mid := (lo + hi) / (2 * f.step) * f.step
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

// room tells whether p intervals leave room for k slots of everything that streams.
func (f *search) room(p int, sch string, k int) (bool, error) {
	fit, err := f.fitting(p, sch, k, taste{})
	if err != nil {
		return false, err
	}
	fit.sized = f.sized[0]
	ch := choice{resident: make([]bool, len(fit.spec.Values)), slots: k}
	return fit.ok(fit.narrow(&ch)) && ch.slots == k, nil
}

// moves tells whether a step copies anything, but for its results.
func (p *Plan) moves() bool { return p.H2D+p.D2H+p.D2D > 0 || p.Devices > 1 }

// trial is a schedule with a number of intervals, and what its fastest plan takes.
type trial struct {
	schedule string
	p        int
	ns       int64
	tasks    int
}

// fastest lists up to n trials, the fastest first; with each only the best of a schedule.
func (f *search) fastest(n int, each bool) []trial {
	var list []trial
	for sch, by := range f.tried {
		for p, ns := range by {
			if ns >= 0 {
				list = append(list, trial{sch, p, ns, f.tasks[p]})
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
			if step := max(f.step, t.p/24); gap > step || -gap > step {
				next = append(next, t.p+gap/(2*f.step)*f.step)
			}
		}
		if len(next) == 0 {
			return nil
		}
		f.aheadAll([]string{t.schedule}, next...)
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
