package tune

import (
	"math"
	"slices"
	"strings"

	"sagann/dataflow/plan"
)

// Move changes a decision a little. From lists the decisions that it tries starting at e. When tells whether it can help there.
type Move struct {
	Name string
	When func(s *search, e *Eval) bool
	From func(s *search, e *Eval) []Decision
}

// moves is the table of all moves. A turn of the search tries every row once, in this order, each from the best decision that
// the rows above it have found.
var moves = []Move{
	{otherCounts, programs, intervals},
	{"rule", exposed, rules},
	{"slots", exposed, slots},
	{"read ahead", exposed, readAhead},
	{"arrive", exposed, arrive},
	{"store one", programs, storeOne},
	{"save", programs, save},
	{"price", exposed, price},
	{"group", exposed, group},
	{"schedule", exposed, schedule},
	{"pack", programs, pack},
	{otherCells, exposed, wide},
	{"over", exposed, over},
}

// The names of the moves that try other numbers of intervals, and other cells.
const (
	otherCounts = "intervals"
	otherCells  = "wide"
)

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
		r.Ahead, r.Over, r.Move = d.Rule.Ahead, d.Rule.Over, d.Rule.Move
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

func group(s *search, e *Eval) []Decision {
	if !s.groups() {
		return nil
	}
	return vary(e, []int{1, 2, 3, 4, 6, max(1, e.Decision.Group-1), e.Decision.Group + 1}, func(d *Decision, n int) { d.Group = n })
}

func schedule(s *search, e *Eval) []Decision {
	return vary(e, s.schedules, func(d *Decision, name string) { d.Schedule = name })
}

// price tries other weights of the copies of each phase: the more time a phase's loads take compared with its kernels, the more
// a saved copy counts there. The first candidate has no prices.
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

func readAhead(_ *search, e *Eval) []Decision {
	return vary(e, []int{0, 2, 4, 8}, func(d *Decision, n int) { d.Rule.Ahead = n })
}

// poor is by how much a name of Store makes the score worse that storeOne does not try again from the same decision on.
const poor = 0.02

// storeOne adds one name to Store, so that one more value is stored, delayed or computed elsewhere, or removes one name. Of the names that help
// alone, it also tries the best two together, the best three, and so on.
func storeOne(s *search, e *Eval) []Decision {
	p, err := s.p.Program(e.Key)
	if err != nil || p == nil || !s.p.Mix {
		return nil
	}
	names := slices.DeleteFunc(append(e.Stored(), p.Store...), func(name string) bool { return s.poor[name] })
	toggle := func(d *Decision, name string) {
		others := slices.DeleteFunc(d.Stored(), func(x string) bool { return x == name })
		if len(others) == len(d.Stored()) {
			others = append(others, name)
		}
		d.Key = d.With(others)
	}
	list := vary(e, names, toggle)
	evals, err := s.take(list...)
	if err != nil {
		return list // taking it again is the same error
	}
	var good []int // those that help, the best first
	for i, x := range evals {
		switch {
		case !x.ok() || x.score() > e.score()*(1+poor):
			s.poor[names[i]] = true
		case x.score() < e.score():
			good = append(good, i)
		}
	}
	slices.SortStableFunc(good, func(i, k int) int { return before(evals[i], evals[k]) })
	for n := 2; n <= len(good); n++ {
		list = append(list, vary(e, []int{n}, func(d *Decision, n int) {
			for _, i := range good[:n] {
				toggle(d, names[i])
			}
		})...)
	}
	return list
}

// arrive adds all names to Store that Program.Arriving lists.
func arrive(s *search, e *Eval) []Decision {
	p, err := s.p.Program(e.Key)
	if err != nil || p == nil || !s.p.Mix || len(p.Arriving) == 0 {
		return nil
	}
	return vary(e, []Key{e.With(append(e.Stored(), p.Arriving...))}, func(d *Decision, k Key) { d.Key = k })
}

// save tries every other policy, alone and with each single name in Store. The policy that stores least may win if the one value
// that is expensive to compute again is stored. Names with a prefix move the work only, which storeOne tries.
func save(s *search, e *Eval) (out []Decision) {
	for _, name := range s.p.Saves {
		k := e.Key
		k.Save, k.Store = name, ""
		stored := []string{""}
		if p, err := s.p.Program(k); err == nil && p != nil && s.p.Mix && !s.heavy(e.Decision) {
			stored = append(stored, slices.DeleteFunc(slices.Clone(p.Store), func(x string) bool { return strings.Contains(x, ":") })...)
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

// over has values take the place of those that a phase reads last, or not, and what stays from step to step lie at two addresses.
func over(s *search, e *Eval) []Decision {
	if !s.alone() {
		return nil
	}
	list := [][2]bool{{false, false}, {true, false}, {true, true}}
	list = slices.DeleteFunc(list, func(x [2]bool) bool { return x == [2]bool{e.Rule.Over, e.Rule.Move} })
	return vary(e, list, func(d *Decision, x [2]bool) { d.Rule.Over, d.Rule.Move = x[0], x[1] })
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
		if d.Key != e.Key || d.Schedule != e.Schedule { // prices are by phase, and the phases are others now
			d.Rule.Price = nil
		}
		out = append(out, d)
	}
	return out
}
