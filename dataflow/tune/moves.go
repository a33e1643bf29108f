package tune

import (
	"math"
	"slices"

	"sagann/dataflow/plan"
)

// Move changes a decision a little. From lists the changes that it tries on e's; When tells whether it can help there.
type Move struct {
	Name string
	When func(s *search, e *Eval) bool
	From func(s *search, e *Eval) []change
	Fine bool // many changes, each of which helps little; those that help are tried together, too
}

// change is one change of a decision.
type change func(d *Decision)

// moves is the table of contents of the search: in each round every row is tried once, in this order,
// from the best that the rows before have come to.
var moves = []Move{
	{"intervals", programs, intervals, false},
	{"rule", exposed, rules, false},
	{"slots", exposed, slots, false},
	{"read ahead", exposed, readAhead, false},
	{"store one", programs, storeOne, false},
	{"save", programs, save, false},
	{"intervals", alone, intervals, false}, // what is stored has changed
	{"price", exposed, price, false},
	{"group", exposed, group, false},
	{"schedule", exposed, schedule, false},
	{"pack", programs, pack, false},
	{"keep one", exposed, keepOne, true},
}

// LeaveOut takes a move out of the table for as long as the process runs, to measure what the move wins; false: there is
// none of that name.
func LeaveOut(name string) bool {
	n := len(moves)
	moves = slices.DeleteFunc(moves, func(m Move) bool { return m.Name == name })
	return len(moves) < n
}

// The conditions.

// moving: something is copied, so memory matters.
func moving(s *search, e *Eval) bool { return e.Moves && !s.p.Options.Stream && e.budget > 0 }

// exposed: kernels wait for copies, or are run again where values do not stay.
func exposed(s *search, e *Eval) bool {
	return moving(s, e) && (1000*e.Waits >= e.Wall || e.Derives)
}

func windows(s *search, e *Eval) bool {
	return exposed(s, e) && s.p.Options.Devices <= 1 && e.Schedule != plan.DestOrder
}

func programs(s *search, e *Eval) bool { return true }

// alone: one device, which takes a third as many plans to try other numbers of intervals as several do.
func alone(s *search, e *Eval) bool { return s.p.Options.Devices <= 1 }

// The moves.

// rules begins again with each of the rules that are told apart by what counts, without what single values were told.
func rules(s *search, e *Eval) []change {
	list := []plan.Rule{{Lasting: true}, {Lasting: true, Brief: true}, {Lasting: true, Part: true}, {Lasting: true, Brief: true, Part: true}}
	if windows(s, e) {
		for _, b := range []plan.Balance{{Ahead: .1, Hidden: .02}, {Ahead: .1, Hidden: .2}, {Ahead: .5, Hidden: .02}, {Ahead: .5, Hidden: .2}} {
			list = append(list, plan.Rule{Lasting: true, Balance: b})
		}
	}
	return vary(list, func(d *Decision, r plan.Rule) {
		r.Ahead = d.Rule.Ahead
		d.Rule = r
	})
}

// manyTasks is a number of tasks: a plan of more takes a thirtieth of all work to try.
const manyTasks = 100_000

// intervals are other numbers of them, near and, where that has not too many tasks, far. For several devices they come with
// one interval more or less visited at a time, too: the two depend on each other.
func intervals(s *search, e *Eval) []change {
	if s.p.Options.P > 0 {
		return nil
	}
	var ps []int
	for _, r := range []float64{0.5, 0.67, 0.83, 0.92, 1.09, 1.2, 1.5, 2} {
		if r > 1.2 && float64(e.Tasks)*r*r > manyTasks {
			break
		}
		p := s.whole(float64(e.P) * r)
		if p == e.P {
			p = s.whole(float64(e.P) + math.Copysign(float64(s.step), r-1))
		}
		if !slices.Contains(ps, p) && p != e.P {
			ps = append(ps, p)
		}
	}
	out := vary(ps, func(d *Decision, p int) { d.P = p })
	for _, more := range []int{-1, 1} {
		if n := e.Decision.Group + more; n > 0 && s.groups() && s.p.Options.Devices > 1 {
			out = append(out, vary(ps, func(d *Decision, p int) { d.P, d.Group = p, n })...)
		}
	}
	return out
}

func slots(s *search, e *Eval) []change {
	if s.p.Options.Slots > 0 {
		return nil
	}
	return vary([]int{2, 3, 4}, func(d *Decision, n int) { d.Slots = n })
}

// groupReads is from how many reads of its sources on one device may visit groups of intervals.
const groupReads = 3

func group(s *search, e *Eval) []change {
	if !s.groups() || s.p.Options.Devices <= 1 && e.Group <= 1 && e.Sources <= groupReads {
		return nil
	}
	out := vary([]int{1, 2, 3, 4, 6, e.Decision.Group - 1, e.Decision.Group + 1}, func(d *Decision, n int) { d.Group = max(1, n) })
	return append(out, vary([]bool{!e.Rule.Even}, func(d *Decision, on bool) { d.Rule.Even = on })...)
}

func schedule(s *search, e *Eval) []change {
	return vary(s.schedules, func(d *Decision, name string) { d.Schedule = name })
}

// price counts copies by the phase they are in: more where they take longer than the kernels.
func price(_ *search, e *Eval) []change {
	prices := [][]float64{nil}
	for _, a := range []float64{0.5, 1, 2} {
		x := make([]float64, len(e.Kernels))
		for q := range x {
			x[q] = math.Pow(min(10, max(0.1, e.Copies[q]/max(1, e.Kernels[q]))), a)
			if e.Rule.Price != nil && len(e.Rule.Price) == len(x) {
				x[q] *= e.Rule.Price[q]
			}
		}
		prices = append(prices, x)
	}
	out := vary(prices, func(d *Decision, x []float64) { d.Rule.Price, d.Rule.Part = x, false })
	return append(out, vary(prices, func(d *Decision, x []float64) { d.Rule.Price, d.Rule.Part = x, true })...)
}

// keepOne says of one value or direction at a time that it comes first, or that it is not kept whole, or
// takes back what was said. Where no estimate deals memory out, to put first what stays changes nothing, nor
// does it to keep out what does not.
func keepOne(_ *search, e *Eval) []change {
	estimates := e.Rule.Balance != (plan.Balance{})
	turn := func(names []string, to func(d *Decision, name string)) []change {
		return vary(names, func(d *Decision, name string) {
			is := func(x string) bool { return x == name }
			d.Rule.First = slices.DeleteFunc(slices.Clone(d.Rule.First), is)
			d.Rule.Never = slices.DeleteFunc(slices.Clone(d.Rule.Never), is)
			to(d, name)
		})
	}
	first, never := e.Streams, e.Kept
	if estimates {
		first, never = append(slices.Clone(first), never...), append(slices.Clone(never), first...)
	}
	out := append(turn(never, func(d *Decision, n string) { d.Rule.Never = append(d.Rule.Never, n) }),
		turn(first, func(d *Decision, n string) { d.Rule.First = append(d.Rule.First, n) })...)
	return append(out, turn(append(slices.Clone(e.Rule.First), e.Rule.Never...), func(*Decision, string) {})...)
}

func readAhead(_ *search, e *Eval) []change {
	return vary([]int{0, 2, 4, 8}, func(d *Decision, n int) { d.Rule.Ahead = n })
}

// storeOne stores one value more, or makes one later, or takes that back; or another policy.
func storeOne(s *search, e *Eval) []change {
	p := s.e.programs[e.Key]
	if p == nil || !s.p.Mix {
		return nil
	}
	turn := func(d *Decision, name string) {
		had := d.Stored()
		if slices.Contains(had, name) {
			d.Key = d.With(slices.DeleteFunc(slices.Clone(had), func(x string) bool { return x == name }))
		} else {
			d.Key = d.With(append(slices.Clone(had), name))
		}
	}
	names := append(e.Stored(), p.Store...)
	out := vary(names, turn)
	if e.Rule.Balance != (plan.Balance{}) { // more that is stored may leave nothing to balance
		out = append(out, vary(names, func(d *Decision, name string) {
			turn(d, name)
			d.Rule = plan.Rule{Lasting: true, Ahead: d.Rule.Ahead}
		})...)
	}
	return out
}

// save is another policy, with nothing stored beside it, or one value: the policy that stores least may win with
// the one value that is dear to compute again.
func save(s *search, e *Eval) (out []change) {
	for _, name := range s.p.Saves {
		if name == e.Save {
			continue
		}
		k := e.Key
		k.Save, k.Store = name, ""
		out = append(out, func(d *Decision) { d.Key = k })
		p, err := s.e.program(k)
		if err != nil || p == nil || !s.p.Mix {
			continue
		}
		out = append(out, vary(p.Store, func(d *Decision, one string) { d.Key = k.With([]string{one}) })...)
	}
	return out
}

func pack(s *search, e *Eval) []change {
	return vary(s.p.Packed, func(d *Decision, on bool) { d.Packed = on })
}

// with is e's decision changed by all of list.
func (e *Eval) with(list ...change) Decision {
	d := e.Decision
	for _, f := range list {
		f(&d)
	}
	if d.Key != e.Key || d.Schedule != e.Schedule { // other phases
		d.Rule.Price = nil
	}
	return d
}

// vary changes a decision by f to each of a list.
func vary[T any](list []T, f func(d *Decision, x T)) (out []change) {
	for _, x := range list {
		out = append(out, func(d *Decision) { f(d, x) })
	}
	return out
}
