package tune

import (
	"math"
	"slices"

	"sagann/dataflow/plan"
)

// Move changes a decision a little. From lists the decisions that it tries beside e's; When tells whether it can help there.
type Move struct {
	Name string
	When func(s *search, e *Eval) bool
	From func(s *search, e *Eval) []Decision
	Fine bool // many changes, each of which helps little: not for kinds that are far from their best
}

// moves is the table of contents of the search: in each turn every row is tried once, in this order,
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

// exposed: memory matters, and kernels wait for copies, or are run again where values do not stay.
func exposed(s *search, e *Eval) bool {
	return e.Moves && !s.p.Options.Stream && e.budget > 0 && (1000*e.Waits >= e.Wall || e.Derives)
}

func programs(s *search, e *Eval) bool { return true }

// alone: one device, which takes a third as many plans to try other numbers of intervals as several do.
func alone(s *search, e *Eval) bool { return s.p.Options.Devices <= 1 }

// The moves.

// rules begins again without prices: by copies saved and, on one device, by the estimate of a step, where hidden copies
// count little or more.
func rules(s *search, e *Eval) []Decision {
	list := []plan.Rule{{Brief: true}}
	if alone(s, e) && e.Schedule != plan.DestOrder {
		list = append(list, plan.Rule{Hidden: 0.02}, plan.Rule{Hidden: 0.2})
	}
	return vary(e, list, func(d *Decision, r plan.Rule) {
		r.Ahead = d.Rule.Ahead
		d.Rule = r
	})
}

// manyTasks is a number of tasks: a plan of more takes a thirtieth of all work to try.
const manyTasks = 100_000

// intervals are other numbers of them, near and, where that has not too many tasks, far. For several devices they come with
// one interval more or less visited at a time, too: the two depend on each other.
func intervals(s *search, e *Eval) []Decision {
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
		ps = append(ps, p)
	}
	out := vary(e, ps, func(d *Decision, p int) { d.P = p })
	for _, more := range []int{-1, 1} {
		if n := e.Decision.Group + more; n > 0 && s.groups() && !alone(s, e) {
			out = append(out, vary(e, ps, func(d *Decision, p int) { d.P, d.Group = p, n })...)
		}
	}
	return out
}

func slots(s *search, e *Eval) []Decision {
	if s.p.Options.Slots > 0 {
		return nil
	}
	return vary(e, []int{2, 3, 4}, func(d *Decision, n int) { d.Slots = n })
}

// groupReads is from how many reads of its sources on one device may visit groups of intervals.
const groupReads = 3

func group(s *search, e *Eval) []Decision {
	if !s.groups() || alone(s, e) && e.Group <= 1 && e.Sources <= groupReads {
		return nil
	}
	return vary(e, []int{1, 2, 3, 4, 6, max(1, e.Decision.Group-1), e.Decision.Group + 1}, func(d *Decision, n int) { d.Group = n })
}

func schedule(s *search, e *Eval) []Decision {
	return vary(e, s.schedules, func(d *Decision, name string) { d.Schedule = name })
}

// price counts copies by the phase they are in: more where they take longer than the kernels.
func price(_ *search, e *Eval) []Decision {
	prices := [][]float64{nil}
	for _, a := range []float64{0.5, 1, 2} {
		x := make([]float64, len(e.Kernels))
		for q := range x {
			x[q] = math.Pow(min(10, max(0.1, e.Copies[q]/max(1, e.Kernels[q]))), a)
			if e.Rule.Price != nil {
				x[q] *= e.Rule.Price[q]
			}
		}
		prices = append(prices, x)
	}
	return vary(e, prices, func(d *Decision, x []float64) { d.Rule.Price = x })
}

// keepOne says of one value or direction that it comes first, or that it is not kept whole, or takes back what was said. Where no
// estimate deals memory out, to put first what stays changes nothing, nor does it to keep out what does not.
func keepOne(_ *search, e *Eval) []Decision {
	first, never := e.Streams, e.Kept
	if e.Rule.Hidden > 0 {
		first = slices.Concat(first, never)
		never = first
	}
	turn := func(names []string, to func(r *plan.Rule, name string)) []Decision {
		return vary(e, names, func(d *Decision, name string) {
			is := func(x string) bool { return x == name }
			d.Rule.First, d.Rule.Never = slices.DeleteFunc(slices.Clone(d.Rule.First), is), slices.DeleteFunc(slices.Clone(d.Rule.Never), is)
			to(&d.Rule, name)
		})
	}
	return slices.Concat(turn(never, func(r *plan.Rule, name string) { r.Never = append(r.Never, name) }),
		turn(first, func(r *plan.Rule, name string) { r.First = append(r.First, name) }),
		turn(slices.Concat(e.Rule.First, e.Rule.Never), func(*plan.Rule, string) {}))
}

func readAhead(_ *search, e *Eval) []Decision {
	return vary(e, []int{0, 2, 4, 8}, func(d *Decision, n int) { d.Rule.Ahead = n })
}

// storeOne stores one value more, or makes one later, or takes that back. As more that is stored may leave nothing for an estimate
// to deal out, it tries that without one, too.
func storeOne(s *search, e *Eval) []Decision {
	p := s.e.programs[e.Key]
	if p == nil || !s.p.Mix {
		return nil
	}
	out := vary(e, append(e.Stored(), p.Store...), func(d *Decision, name string) {
		others := slices.DeleteFunc(d.Stored(), func(x string) bool { return x == name })
		if len(others) == len(d.Stored()) {
			others = append(others, name)
		}
		d.Key = d.With(others)
	})
	if e.Rule.Hidden > 0 {
		for _, d := range out {
			d.Rule = plan.Rule{Ahead: d.Rule.Ahead}
			out = append(out, d)
		}
	}
	return out
}

// save is another policy, with nothing stored beside it, or one value: the policy that stores least may win with
// the one value that is dear to compute again.
func save(s *search, e *Eval) (out []Decision) {
	for _, name := range s.p.Saves {
		k := e.Key
		k.Save, k.Store = name, ""
		stored := []string{""}
		if p, err := s.e.program(k); err == nil && p != nil && s.p.Mix {
			stored = append(stored, p.Store...)
		}
		if name != e.Save {
			out = append(out, vary(e, stored, func(d *Decision, one string) { d.Key, d.Store = k, one })...)
		}
	}
	return out
}

func pack(s *search, e *Eval) []Decision {
	return vary(e, s.p.Packed, func(d *Decision, on bool) { d.Packed = on })
}

// vary changes e's decision by f to each of a list.
func vary[T any](e *Eval, list []T, f func(d *Decision, x T)) (out []Decision) {
	for _, x := range list {
		d := e.Decision
		f(&d, x)
		if d.Key != e.Key || d.Schedule != e.Schedule { // other phases
			d.Rule.Price = nil
		}
		out = append(out, d)
	}
	return out
}
