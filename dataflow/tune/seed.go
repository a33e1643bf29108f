package tune

import (
	"math"
	"slices"

	"sagann/dataflow/plan"
)

// seed evaluates the decisions that the rounds begin with: for slices, schedules and groups, several numbers of intervals. It
// takes the first of Saves and Packed for which a plan fits.
func (s *search) seed() error {
	d := Decision{Slots: 2, Group: 1, Rule: plan.Rule{Brief: true}}
	if s.p.Options.Slots > 0 {
		d.Slots = s.p.Options.Slots
	}
	d.Key = d.With(s.p.Store)
	if len(s.p.Wide) > 0 {
		d.Wide = s.p.Wide[0]
	}
	if b := s.p.Begin; b != nil {
		_, err := s.take(*b)
		return err
	}
	inside := s.p.Inside
	if len(inside) == 0 {
		inside = []bool{false}
	}
	for _, d.Inside = range inside {
		for _, d.Save = range s.p.Saves {
			for _, d.Packed = range s.p.Packed {
				if err := s.programs(d); err != nil {
					return err
				}
				if s.best != nil {
					return s.others(d, inside)
				}
			}
		}
	}
	return nil
}

// others tries numbers of intervals of wide cells, and of the programs with own rows inside sums, if something moves, with d's Save and Packed and otherwise as
// in the best decision so far.
func (s *search) others(d Decision, inside []bool) error {
	if !s.best.Moves {
		return nil
	}
	near, from := s.best.P, d
	from.Slices, from.Schedule, from.Group = s.best.Slices, s.best.Schedule, 1
	for _, on := range inside {
		d := from
		d.Inside = on
		if x, err := s.p.Program(d.Key); err != nil || x == nil {
			if err != nil {
				return err
			}
			continue
		}
		if on != from.Inside {
			if _, err := s.ladder(d, near); err != nil {
				return err
			}
		}
		if len(s.p.Wide) > 1 {
			d.Wide, d.Rule.Over = s.p.Wide[1], true
			if _, err := s.ladder(d, near); err != nil {
				return err
			}
		}
	}
	return nil
}

// programs tries numbers of intervals (ladder) for each combination of slices, schedule and group, with d's Save and Packed.
func (s *search) programs(d Decision) error {
	near := 0
	for _, k := range s.p.Slices {
		for i, sch := range s.schedules {
			if i == 2 && s.best != nil { // the third schedule wins only if nothing else fits
				break
			}
			d.Slices, d.Schedule = k, sch
			for _, d.Group = range []int{1, 2, 4} {
				if d.Group > 1 && (!s.groups() || s.heavy(d)) {
					break
				}
				x, err := s.ladder(d, near)
				if err != nil {
					return err
				}
				if x == nil { // nothing fits, and larger groups take more memory
					break
				}
				near = s.best.P
			}
		}
		if s.best == nil {
			continue
		}
		p, err := s.p.Program(s.best.Key)
		if err != nil {
			return err
		}
		if long := s.e.work > s.p.Work/3 || lowering(p.Spec) > 2*placing; !s.best.Moves || s.best.Slices < k && long { // more slices will hardly help
			break
		}
	}
	return nil
}

// ladder tries numbers of intervals for d, from few to many, and returns the best evaluation; nil if none fits. It stops after
// three numbers in a row that are no faster, or at a plan of more than 2*largeSeed tasks, as plans of many intervals take long
// to simulate. If near is above 0, it tries no more than two and a half times near intervals.
func (s *search) ladder(d Decision, near int) (best *Eval, err error) {
	var ps []int
	for _, p := range counts {
		switch {
		case s.p.Options.P > 0:
			p = s.p.Options.P
		case near > 0 && 2*p > 5*near:
			continue
		default:
			p = s.whole(float64(p))
		}
		if !slices.Contains(ps, p) {
			ps = append(ps, p)
		}
	}
	top := int64(math.MaxInt64)
	below := 0 // the largest number of intervals that did not fit
	for behind := 0; len(ps) > 0 && behind < 3; {
		d.P, ps = ps[0], ps[1:]
		if best == nil {
			fits, err := s.e.fits(d)
			if err != nil {
				return nil, err
			}
			if !fits {
				below = d.P
				if len(ps) > 0 {
					continue
				}
			} else if d.P, err = s.fewest(d, below); err != nil {
				return nil, err
			}
		}
		list := s.seeds(d)
		if s.heavy(d) {
			list = list[:1]
		}
		evals, err := s.take(list...)
		if err != nil {
			return nil, err
		}
		x := fastestOf(evals)
		if x == nil {
			continue
		}
		if best == nil || x.score() < best.score() {
			best = x
		}
		switch {
		case x.Tasks > 2*largeSeed:
			return best, nil
		case x.Wall < top-top/50, x.Wall < top && x.Tasks < largeSeed:
			top, behind = x.Wall, 0
		default:
			behind++
		}
	}
	return best, nil
}

// fewest finds by bisection the smallest number of intervals with which d fits. It does not fit with below intervals, and fits
// with d.P.
func (s *search) fewest(d Decision, below int) (int, error) {
	most := d.P
	for s.p.Options.P == 0 && most-below > s.step {
		d.P = s.whole(float64(below+most) / 2)
		if d.P <= below || d.P >= most {
			break
		}
		fits, err := s.e.fits(d)
		if err != nil {
			return 0, err
		}
		if fits {
			most = d.P
		} else {
			below = d.P
		}
	}
	return most, nil
}

// seeds are d, and two variants of d that mostly help if copies take about as long as kernels: four slots, cells read
// ahead and, on one device, windows first; with Rule.Brief off and on.
func (s *search) seeds(d Decision) []Decision {
	eager := d
	if s.p.Options.Slots == 0 {
		eager.Slots = 4
	}
	eager.Rule = plan.Rule{Ahead: 4, Over: d.Rule.Over, Move: d.Rule.Move}
	if s.alone() {
		eager.Rule.First = plan.WindowsFirst
	}
	brief := eager
	brief.Rule.Brief = true
	return []Decision{d, eager, brief}
}

// largeSeed is a number of tasks. For plans of more tasks, ladder counts a step as faster only if it is so by two percent, as
// the number of tasks grows with the square of the intervals.
const largeSeed = 5000

// fastestOf is the first of list with the best score; nil if none has a plan.
func fastestOf(list []*Eval) (top *Eval) {
	for _, x := range list {
		if x.ok() && (top == nil || x.score() < top.score()) {
			top = x
		}
	}
	return top
}
