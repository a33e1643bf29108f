package layout

import (
	"cmp"
	"slices"
	"sort"

	"sagann/dataflow/plan"
)

// use is how often a phase copies an interval of something, down and up; of a move, bytes.
type use struct {
	phase    int
	down, up float64
}

// usesOf lists how phases use what key names while no window keeps it; nil: no window could.
func usesOf(s *plan.Spec, c *plan.Cells, acc [][]plan.Access, ch *Choice, key int) (out []use) {
	for q := range s.Phases {
		u := use{phase: q}
		if key < 0 {
			for _, st := range s.Phases[q].Steps {
				if st.Kind == plan.Stream && int(st.Dir) == -1-key {
					u.down++
				}
			}
			if u.down > 0 {
				out = append(out, u)
			}
			continue
		}
		a := acc[q][key]
		if a == (plan.Access{}) {
			continue
		}
		if a.OwnRead {
			u.down++
		}
		if a.Other {
			u.down += float64(c.P) - float64(c.P-1)*float64(min(ch.phase(q), c.P))/float64(c.P)
		}
		if a.OwnWrite {
			if u.up = 1; len(out) > 0 || a.OwnRead { // written again
				return nil
			}
		}
		out = append(out, u)
	}
	return out
}

// span is a window that could be, and the copies of an interval that it saves.
type span struct {
	plan.Window
	saves []use
	saved float64 // by what copies count in their phases
}

// spansOf lists the windows that could keep what key names: from a use to a later one, of what a step does not change also to one of
// the next step, or for the whole run.
func spansOf(key int, uses []use, constant, output bool) (out []span) {
	add := func(from, to int, saves []use) {
		out = append(out, span{Window: plan.Window{Key: key, From: from, To: to}, saves: saves})
	}
	for i := range uses {
		for k := i; k < len(uses); k++ {
			saves := slices.Clone(uses[i : k+1])
			if k < len(uses)-1 || output {
				saves[0].up = 0
			}
			saves[0].down = max(0, saves[0].down-1)
			add(uses[i].phase, uses[k].phase, saves)
		}
		for k := 0; constant && k < i; k++ {
			saves := slices.Concat(uses[i:], uses[:k+1])
			saves[0].down--
			add(uses[i].phase, uses[k].phase, saves)
		}
	}
	if constant && len(uses) > 0 {
		add(plan.Whole, plan.Whole, uses)
	}
	return out
}

// eachStreamed calls f for the values and directions that are not resident: whether a step leaves them as they are, and whether the host reads them.
func eachStreamed(s *plan.Spec, c *plan.Cells, ch *Choice, f func(key int, constant, output bool)) {
	for id := range s.Values {
		if v := &s.Values[id]; v.Kind != plan.Temp && !ch.resident[id] {
			f(id, v.Kind == plan.Input, v.Output)
		}
	}
	for d := range 2 {
		if c.Bytes[d] != nil && !ch.cells[d] {
			f(-1-d, true, false)
		}
	}
}

// windowsOf lists windows over several phases: those first that save most for each phase in which they take memory.
func windowsOf(s *plan.Spec, c *plan.Cells, acc [][]plan.Access, ch *Choice, t *priority) (out []span) {
	eachStreamed(s, c, ch, func(key int, constant, output bool) {
		for _, x := range spansOf(key, usesOf(s, c, acc, ch, key), constant && t.Lasting, output) {
			for _, u := range x.saves {
				x.saved += t.worth(u.phase) * (u.down + u.up)
			}
			if x.From != x.To || x.From == plan.Whole {
				out = append(out, x)
			}
		}
	})
	density := func(x span) float64 { return x.saved / float64(x.Phases(len(s.Phases))) }
	slices.SortStableFunc(out, func(x, y span) int {
		return cmp.Or(cmp.Compare(density(y), density(x)), cmp.Compare(y.saved, x.saved))
	})
	return slices.DeleteFunc(out, func(x span) bool { return x.saved <= 0 })
}

// fillIn adds windows to ch while memory is left.
func fillIn(s *plan.Spec, c *plan.Cells, acc [][]plan.Access, ch *Choice, t priority, fits func() bool) {
	for _, x := range windowsOf(s, c, acc, ch, &t) {
		for i := range ch.windows {
			if w := &ch.windows[i]; w.Key == x.Key && w.Meets(&x.Window) {
				x.First = max(x.First, w.First+w.N)
			}
		}
		if x.First == c.P {
			continue
		}
		at := len(ch.windows)
		ch.windows = append(ch.windows, x.Window)
		holds := func(n int) bool {
			ch.windows[at].N = n
			return fits()
		}
		n := 0
		if holds(1) {
			n = 1 + sort.Search(c.P-x.First-1, func(n int) bool { return !holds(n + 2) })
		}
		if ch.windows[at].N = n; n == 0 {
			ch.windows = ch.windows[:at]
		}
	}
}
