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
func (f *fitting) usesOf(key int) (out []use) {
	for q := range f.spec.Phases {
		u := use{phase: q}
		if key < 0 {
			for _, st := range f.spec.Phases[q].Steps {
				if st.Kind == plan.Stream && int(st.Dir) == -1-key {
					u.down++
				}
			}
			if u.down > 0 {
				out = append(out, u)
			}
			continue
		}
		a := f.usage.Acc[q][key]
		if a == (plan.Access{}) {
			continue
		}
		if a.OwnRead {
			u.down++
		}
		if a.Other {
			u.down += float64(f.c.P) - float64(f.c.P-1)*float64(min(f.ch.phase(q), f.c.P))/float64(f.c.P)
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

// eachStreamed calls do for the values and directions that are not resident: whether a step leaves them as they are, and whether the host reads them.
func (f *fitting) eachStreamed(do func(key int, constant, output bool)) {
	for id := range f.spec.Values {
		if v := &f.spec.Values[id]; v.Kind != plan.Temp && !f.ch.resident[id] {
			do(id, v.Kind == plan.Input, v.Output)
		}
	}
	for d := range 2 {
		if f.c.Bytes[d] != nil && !f.ch.cells[d] {
			do(-1-d, true, false)
		}
	}
}

// windowsOf lists windows over several phases: those first that save most for each phase in which they take memory.
func (f *fitting) windowsOf() (out []span) {
	f.eachStreamed(func(key int, constant, output bool) {
		for _, x := range spansOf(key, f.usesOf(key), constant, output) {
			for _, u := range x.saves {
				x.saved += f.worth(u.phase) * (u.down + u.up)
			}
			if x.saved > 0 && (x.From != x.To || x.From == plan.Whole) {
				out = append(out, x)
			}
		}
	})
	density := func(x span) float64 { return x.saved / float64(x.Phases(len(f.spec.Phases))) }
	slices.SortStableFunc(out, func(x, y span) int {
		return cmp.Or(cmp.Compare(density(y), density(x)), cmp.Compare(y.saved, x.saved))
	})
	return out
}

// fillIn adds windows to the choice while memory is left.
func (f *fitting) fillIn() {
	ch := &f.ch
	for _, x := range f.windowsOf() {
		for i := range ch.windows {
			if w := &ch.windows[i]; w.Key == x.Key && w.Meets(&x.Window) {
				x.First = max(x.First, w.First+w.N)
			}
		}
		if x.First == f.c.P {
			continue
		}
		at, n := len(ch.windows), 0
		ch.windows = append(ch.windows, x.Window)
		holds := func(n int) bool {
			ch.windows[at].N = n
			return f.fits()
		}
		if holds(1) {
			n = 1 + sort.Search(f.c.P-x.First-1, func(n int) bool { return !holds(n + 2) })
		}
		if ch.windows[at].N = n; n == 0 {
			ch.windows = ch.windows[:at]
		}
	}
}
