package layout

import (
	"cmp"
	"slices"
	"sort"

	"sagann/dataflow/plan"
)

// windowGain is a window that could be, and what it saves.
type windowGain struct {
	plan.Window
	saved float64 // copies of an interval that it saves
}

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

// windowsOf lists candidates: those first that save most for each phase in which they
// take memory.
func windowsOf(s *plan.Spec, c *plan.Cells, acc [][]plan.Access, ch *Choice, t *priority) []windowGain {
	var out []windowGain
	add := func(key int, touch []int, saved func(a, b int) float64) {
		for i := range touch {
			for k := i + 1; k < len(touch); k++ {
				out = append(out, windowGain{plan.Window{Key: key, From: touch[i], To: touch[k]}, saved(i, k)})
			}
		}
	}
	lasting := func(key int, touch []int, loads []float64) { // of what a step does not change
		all, n := 0.0, len(touch)
		for _, x := range loads {
			all += x
		}
		out = append(out, windowGain{plan.Window{Key: key, From: plan.Whole, To: plan.Whole}, all})
		for a := 1; a < n; a++ {
			for b := range a {
				x := all - t.worth(touch[a])
				for k := b + 1; k < a; k++ {
					x -= loads[k]
				}
				out = append(out, windowGain{plan.Window{Key: key, From: touch[a], To: touch[b]}, x})
			}
		}
	}
	phases := func(key int) (touch []int, loads, saves []float64) {
		for _, u := range usesOf(s, c, acc, ch, key) {
			w := t.worth(u.phase)
			touch, loads, saves = append(touch, u.phase), append(loads, w*u.down), append(saves, w*u.up)
		}
		return touch, loads, saves
	}
	for id := range s.Values {
		v := &s.Values[id]
		if v.Kind == plan.Temp || ch.resident[id] {
			continue
		}
		touch, loads, saves := phases(id)
		add(id, touch, func(a, b int) float64 {
			n := 0.0
			for k := a; k <= b; k++ {
				n += loads[k]
			}
			if saves[a] == 0 {
				return n - t.worth(touch[a])
			}
			if b == len(touch)-1 && !v.Output {
				n += saves[a]
			}
			return n
		})
		if v.Kind == plan.Input && t.Lasting {
			lasting(id, touch, loads)
		}
	}
	for d := range 2 {
		if c.Bytes[d] == nil || ch.cells[d] {
			continue
		}
		touch, loads, _ := phases(-1 - d)
		add(-1-d, touch, func(a, b int) float64 {
			n := -t.worth(touch[a])
			for k := a; k <= b; k++ {
				n += loads[k]
			}
			return n
		})
		if t.Lasting {
			lasting(-1-d, touch, loads)
		}
	}
	density := func(x windowGain) float64 { return x.saved / float64(x.Phases(len(s.Phases))) }
	slices.SortStableFunc(out, func(x, y windowGain) int {
		return cmp.Or(cmp.Compare(density(y), density(x)), cmp.Compare(y.saved, x.saved))
	})
	return slices.DeleteFunc(out, func(x windowGain) bool { return x.saved <= 0 })
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
