package tune

import (
	"maps"
	"math"
	"slices"
	"strings"

	"sagann/dataflow/plan"
)

// Move changes a decision a little. From lists the decisions that it tries starting at e. When tells whether it can help there.
type Move struct {
	Name  string
	Share int // of the changes that a walk draws, in hundredths
	When  func(s *search, e *Eval) bool
	From  func(s *search, e *Eval) []Decision
}

// moves is the table of all moves. A walk draws one of them and one of the decisions that it lists. A turn tries all that every row
// lists, in this order, each row from the best decision that the rows above it have found.
var moves = []Move{
	{"intervals", 20, programs, intervals},
	{"rule", 10, exposed, rules},
	{"slots", 6, exposed, slots},
	{"read ahead", 5, exposed, readAhead},
	{"store all", 5, programs, storeAll},
	{"store one", 35, programs, storeOne},
	{"save", 2, programs, save},
	{"price", 10, exposed, price},
	{"group", 3, exposed, group},
	{"schedule", 2, exposed, schedule},
	{"pack", 3, programs, pack},
	{"wide", 4, exposed, wide},
	{"over", 4, exposed, over},
	{"spare", 5, exposed, spare},
}

// LeaveOut removes a move from the table until the process ends, to measure the gain of the move. It returns false if no
// move has that name.
func LeaveOut(name string) bool {
	n := len(moves)
	moves = slices.DeleteFunc(moves, func(m Move) bool { return m.Name == name })
	return len(moves) < n
}

// The conditions.

// exposed tells whether another use of memory could make the step shorter: the plan copies data under a bounded budget, and either
// no kernel runs for at least a thousandth of the step, or values are computed again each time a chunk arrives.
func exposed(s *search, e *Eval) bool {
	return e.Moves && !s.p.Options.Stream && e.budget > 0 && (1000*e.Waits >= e.Wall || e.Derives)
}

func programs(s *search, e *Eval) bool { return true }

// The moves.

// rules tries every plan.First with Brief on and off, and drops prices.
func rules(s *search, e *Eval) []Decision {
	var list []plan.Rule
	for _, first := range []plan.First{plan.WholeFirst, plan.WindowsFirst, plan.SlotsFirst} {
		if first != plan.WindowsFirst || s.alone() {
			list = append(list, plan.Rule{First: first, Brief: true}, plan.Rule{First: first})
		}
	}
	return vary(e, list, func(d *Decision, r plan.Rule) {
		r.Ahead, r.Over = d.Rule.Ahead, d.Rule.Over
		d.Rule = r
	})
}

// manyTasks is the largest number of tasks for which the search goes far beyond the present number of intervals: to try a plan of
// so many tasks takes about a thirtieth of maxWork.
const manyTasks = 100_000

// intervals tries other numbers of intervals: from half to 1.2 times as many, and up to twice as many unless the plan would
// then have more than manyTasks tasks. With several devices it also tries each number with a group larger or smaller by one,
// as the best group depends on the number of intervals.
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
		if n := e.Decision.Group + more; n > 0 && s.groups() && !s.alone() {
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

// group tries other groups, each also with the rules of rules: what is best to keep depends on how many intervals are visited together.
func group(s *search, e *Eval) (out []Decision) {
	if !s.groups() {
		return nil
	}
	out = vary(e, []int{1, 2, 3, 4, 6, max(1, e.Decision.Group-1), e.Decision.Group + 1}, func(d *Decision, n int) { d.Group = n })
	for _, d := range out[:5] {
		x := *e
		x.Decision = d
		out = append(out, rules(s, &x)...)
	}
	return out
}

func schedule(s *search, e *Eval) []Decision {
	return vary(e, s.schedules, func(d *Decision, name string) { d.Schedule = name })
}

// price tries other weights of the copies of each phase, and none.
func price(_ *search, e *Eval) []Decision {
	none := e.Decision
	none.Rule.Price = nil
	return append(priced(e, 0.5, 1, 2), none)
}

// priced are e's decision with weights: the more time a phase's loads take compared with its kernels, to the given power, the more
// a saved copy counts there.
func priced(e *Eval, powers ...float64) []Decision {
	return vary(e, powers, func(d *Decision, a float64) {
		x := make([]float64, len(e.Kernels))
		for q := range x {
			x[q] = math.Pow(min(10, max(0.1, e.Copies[q]/max(1, e.Kernels[q]))), a)
			if len(e.Rule.Price) == len(x) {
				x[q] *= e.Rule.Price[q]
			}
		}
		d.Rule.Price = x
	})
}

func readAhead(_ *search, e *Eval) []Decision {
	return vary(e, []int{0, 2, 4, 8}, func(d *Decision, n int) { d.Rule.Ahead = n })
}

// names lists what Store may have at k, and what it has.
func (s *search) names(k Key) []string {
	p, err := s.p.Program(k)
	if err != nil || p == nil || !s.p.Mix {
		return nil
	}
	return append(k.Stored(), p.Store...)
}

// storeOne adds one name to Store, so that one more value is stored, delayed or computed elsewhere, or removes one name.
func storeOne(s *search, e *Eval) []Decision {
	return vary(e, s.names(e.Key), func(d *Decision, name string) {
		others := slices.DeleteFunc(d.Stored(), func(x string) bool { return x == name })
		if len(others) == len(d.Stored()) {
			others = append(others, name)
		}
		d.Key = d.With(others)
	})
}

// storeAll adds all names of some kinds to Store, or removes all of one kind. Names with one prefix are a kind: they move the same
// work. Each alone may bring little, as the memory for which values compete is short before and after.
func storeAll(s *search, e *Eval) (out []Decision) {
	kinds := map[string][]string{}
	for _, name := range s.names(e.Key) {
		if k, _, ok := strings.Cut(name, ":"); ok {
			kinds[k] = append(kinds[k], name)
		}
	}
	list := slices.Sorted(maps.Keys(kinds))
	for set := 1; set < 1<<len(list); set++ {
		names := e.Stored()
		for i, k := range list {
			if set>>i&1 > 0 {
				names = append(names, kinds[k]...)
			}
		}
		out = append(out, vary(e, []Key{e.With(names)}, func(d *Decision, k Key) { d.Key = k })...)
	}
	return append(out, vary(e, list, func(d *Decision, kind string) {
		d.Key = d.With(slices.DeleteFunc(d.Stored(), func(x string) bool { return strings.HasPrefix(x, kind+":") }))
	})...)
}

// save tries every other policy, with Store as it is and empty.
func save(s *search, e *Eval) (out []Decision) {
	for _, name := range s.p.Saves {
		k := e.Key
		if k.Save = name; name == e.Save {
			continue
		}
		out = append(out, vary(e, []Key{s.valid(k), k.With(nil)}, func(d *Decision, k Key) { d.Key = k })...)
	}
	return out
}

// valid is k without those names of Store that no program with k's other choices has.
func (s *search) valid(k Key) Key {
	all := s.names(k.With(nil))
	return k.With(slices.DeleteFunc(k.Stored(), func(x string) bool { return !slices.Contains(all, x) }))
}

func pack(s *search, e *Eval) []Decision {
	return vary(e, s.p.Packed, func(d *Decision, on bool) { d.Packed = on })
}

// over has values take the place of those that a phase reads last, or not.
func over(s *search, e *Eval) []Decision {
	if !s.alone() {
		return nil
	}
	return vary(e, []bool{!e.Rule.Over}, func(d *Decision, on bool) { d.Rule.Over = on })
}

// spare leaves some memory free. The rule then keeps other values, and a little less memory is sometimes better used.
func spare(s *search, e *Eval) []Decision {
	return vary(e, []int{0, 2, 5, 10, 20, 40}, func(d *Decision, n int) { d.Spare = n })
}

// wide tries cells that reach over several intervals at the far end.
func wide(s *search, e *Eval) []Decision {
	return vary(e, s.p.Wide, func(d *Decision, n int) { d.Wide = n })
}

// vary makes one decision per element of list: e's, changed by f.
func vary[T any](e *Eval, list []T, f func(d *Decision, x T)) (out []Decision) {
	for _, x := range list {
		d := e.Decision
		f(&d, x)
		out = append(out, d)
	}
	return out
}

// combined are, of the changes from e to list that make the step shorter, the best two together, the best three, and so on.
func combined(e *Eval, list []*Eval) (out []Decision) {
	list = slices.DeleteFunc(slices.Clone(list), func(x *Eval) bool { return !x.ok() || x.score() >= e.score() })
	slices.SortStableFunc(list, before)
	for i, x := range list {
		d := x.Decision
		if i > 0 {
			d = out[i-1]
			d.change(&e.Decision, &x.Decision)
		}
		out = append(out, d)
	}
	return out
}
