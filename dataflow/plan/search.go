package plan

import "errors"

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
	return newSearch(s, cells, o, m).search()
}

// groupReads is from how many reads of its sources on one device may visit groups of intervals.
const groupReads = 3

// Grouped searches around pl, the plan of one device, for a faster one that visits groups of
// intervals, where sources come often enough: those of several devices Search has looked for.
// pl and line are what it gives where it finds none.
func Grouped(s *Spec, cells func(p int) (*Cells, error), o Options, m *Machine, pl *Plan, line *Timeline) (*Plan, *Timeline, error) {
	if !o.groups() || o.Devices > 1 || pl.Group > 1 || pl.SourceReads() <= groupReads {
		return pl, line, nil
	}
	o.Quick, o.Near = false, pl.Cells.P
	f := newSearch(s, cells, o, m)
	f.policies = groupPolicies
	other, end, err := f.search()
	var small *BudgetError
	switch {
	case errors.As(err, &small), err == nil && (end.Wall >= line.Wall || other.short): // the disk's time is not in what is short of host memory
		return pl, line, nil
	case err != nil:
		return nil, nil, err
	}
	return other, end, nil
}

// groupPolicies are the rules for groups of intervals.
var groupPolicies = []policy{{group: 2}, {group: 3}, {group: 4}, {group: 6}}

// groups tells whether the choice of groups is free.
func (o *Options) groups() bool { return o.Group == 0 && o.Groups == nil && !o.Stream }

// search is Search with the policies and slots that f begins with.
func (f *search) search() (*Plan, *Timeline, error) {
	s, cells, o, m := f.spec, f.cells, f.o, f.m
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
		pl, line, err := Search(s, cells, o, m)
		if pl != nil {
			pl.short = true
		}
		return pl, line, err
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
	if o.Slots == 0 && f.best.moves() && (o.Like == nil || !f.full(len(f.best.Tasks))) {
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
		tried: map[string]map[int]int64{}, behind: map[string]int{}, policies: []policy{{lasting: true}, {brief: true, lasting: true}}, seen: map[string]seen{}, tasks: map[int]int{}, before: map[string]int64{}, made: map[string]*evaluation{}, sized: newSized(), grids: map[int]*Cells{}, won: map[string]int{}, reached: map[at]rival{}}
	if o.P == 0 {
		f.policies = append(f.policies, policy{ahead: 4})
	}
	if o.groups() && o.Devices > 1 {
		f.policies = append(f.policies, groupPolicies...)
	}
	if l := o.Like; l != nil {
		f.policies = append([]policy{l.policy}, f.policies...)
	}
	if o.Schedule == Auto {
		f.schedules = []string{Sag, Stage, DestOrder}
	}
	switch {
	case o.Slots == 0 && o.Like != nil:
		f.slots = []int{o.Like.Slots, 2, 4}
	case o.Slots == 0:
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
	reached   map[at]rival             // the fastest
	won       map[string]int           // by schedule which policy and number of slots was the fastest
	before    map[string]int64         // by schedule what the last number of intervals took
	last      bool                     // what is tried now is tried in every way
	step      int                      // numbers of intervals are multiples of it
	seen      map[string]seen          // by layout
	tasks     map[int]int              // by number of intervals the most tasks
	early     bool                     // loads in the order of their deadlines
	spent     int                      // tasks simulated
	best      *Plan
	policies  []policy
	line      *Timeline
	small     *BudgetError
	sized     []*sized               // by worker
	made      map[string]*evaluation // ahead of their use
	grids     map[int]*Cells         // of plans that are made ahead
	short     bool                   // a plan was left out for lack of host memory
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

// moves tells whether a step copies anything, but for its results.
func (p *Plan) moves() bool { return p.H2D+p.D2H+p.D2D > 0 || p.Devices > 1 }
