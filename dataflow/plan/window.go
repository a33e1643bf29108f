package plan

import (
	"cmp"
	"slices"
	"sort"
)

// Windows: what does not stay on the device for its whole life may stay for a part of it.
// A window keeps the first N intervals of a value, or the cells of the first N
// destinations (sources) of a direction, from one phase that touches them to a later one:
// they come once, or are made there, and every later use inside the window costs no copy.
// Windows fill the memory that phases have left when residency and slots are decided, so
// they only ever take bytes off the links. Where a window lies the sweep of its later
// phases begins without copies, which gives the others time to come.

// Window is one of a plan.
type Window struct {
	Key      int // a value, or -1-dir: the cells of a direction
	From, To int // phases
	N        int // intervals

	at    int64
	cells []int64      // offset of each cell
	here  map[int]bool // chunks, or cells, that have come
}

// window is the one of a phase that keeps a part of what key names, nil without.
func (p *Plan) window(phase, key int) *Window {
	for i := range p.Windows {
		if w := &p.Windows[i]; w.Key == key && w.From <= phase && phase <= w.To {
			return w
		}
	}
	return nil
}

// rest is how many intervals of a value, or destinations of a direction, no window
// of phase keeps.
func (p *Plan) rest(phase, key int) int {
	if w := p.window(phase, key); w != nil {
		return p.Cells.P - w.N
	}
	return p.Cells.P
}

// placeWindows gives the windows of c their memory.
func (p *Plan) placeWindows(c choice, f *fitter) {
	p.Windows = append(p.Windows[:0], c.windows...)
	for i := range p.Windows {
		w := &p.Windows[i]
		if !p.sizing {
			w.here = map[int]bool{}
		}
		if w.Key >= 0 {
			v := &p.Spec.Values[w.Key]
			w.at = f.add(p.named("part of ", v.Name), int64(w.N)*p.Cells.chunkBytes(v), w.From, w.To)
			continue
		}
		if !p.sizing {
			var end int64
			for _, b := range p.Cells.Bytes[-1-w.Key][:w.N*p.Cells.P] {
				w.cells = append(w.cells, end)
				end += align(b)
			}
		}
		w.at = f.add(p.named("part of cells ", Dir(-1-w.Key).String()), p.most.upTo[-1-w.Key][w.N], w.From, w.To)
	}
}

// named is a buffer's name, for who prints it.
func (p *Plan) named(what, of string) string {
	if p.sizing {
		return what
	}
	return what + of
}

// inWindow is the window of this phase that keeps interval i of value id, and its address
// there; nil without.
func (e *emitter) inWindow(id, i int) (at int64, w *Window) {
	if w = e.open[id]; w == nil || i >= w.N {
		return 0, nil
	}
	return w.at + int64(i)*e.p.Cells.chunkBytes(&e.p.Spec.Values[id]), w
}

// fill loads interval i of value id into its window when it has not come yet.
func (e *emitter) fill(w *Window, id, i int, at int64) {
	if !w.here[i] {
		w.here[i] = true
		e.load(id, i, 0, at)
	}
}

// opened are the windows of a phase by key.
func (p *Plan) opened(phase int) map[int]*Window {
	open := map[int]*Window{}
	for i := range p.Windows {
		if w := &p.Windows[i]; w.From <= phase && phase <= w.To {
			open[w.Key] = w
		}
	}
	return open
}

// stays tells whether interval j of stored value id, made in this phase, is read from a
// window only.
func (e *emitter) stays(id, j int) bool {
	w := e.open[id]
	return w != nil && j < w.N && w.To >= e.ends[id]
}

// candidate is a window that could be.
type candidate struct {
	Window
	saved float64 // copies of an interval that it saves
}

// windowsOf lists candidates: those first that save most for each phase in which they
// take memory.
func windowsOf(s *Spec, c *Cells, acc []map[int]access, ch *choice, t *taste) []candidate {
	var out []candidate
	add := func(key int, touch []int, saved func(a, b int) float64) {
		for i := range touch {
			for k := i + 1; k < len(touch); k++ {
				out = append(out, candidate{Window{Key: key, From: touch[i], To: touch[k]}, saved(i, k)})
			}
		}
	}
	for id := range s.Values {
		v := &s.Values[id]
		if v.Kind == Temp || ch.resident[id] {
			continue
		}
		var touch []int
		var loads, saves []float64
		once := true // written in its first phase only
		for q := range acc {
			a, ok := acc[q][id]
			if !ok {
				continue
			}
			n, up := 0.0, 0.0
			if a.ownRead {
				n++
			}
			if a.other {
				n += float64(c.P) - float64(c.P-1)*float64(min(ch.phase(q), c.P))/float64(c.P)
			}
			if a.ownWrite {
				up = 1
				once = once && len(touch) == 0 && !a.ownRead
			}
			w := t.worth(q)
			touch, loads, saves = append(touch, q), append(loads, w*n), append(saves, w*up)
		}
		if !once {
			continue
		}
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
	}
	for d := range 2 {
		if c.Bytes[d] == nil || ch.cells[d] {
			continue
		}
		var touch []int
		for q := range s.Phases {
			for _, st := range s.Phases[q].Steps {
				if st.Kind == Stream && int(st.Dir) == d {
					touch = append(touch, q)
				}
			}
		}
		add(-1-d, slices.Compact(touch), func(a, b int) float64 {
			n := 0.0
			for _, q := range slices.Compact(touch)[a+1 : b+1] {
				n += t.worth(q)
			}
			return n
		})
	}
	density := func(x candidate) float64 { return x.saved / float64(x.To-x.From+1) }
	slices.SortStableFunc(out, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(density(y), density(x)), cmp.Compare(y.saved, x.saved))
	})
	return slices.DeleteFunc(out, func(x candidate) bool { return x.saved <= 0 })
}

// fillIn adds windows to ch while memory is left.
func fillIn(s *Spec, c *Cells, acc []map[int]access, ch *choice, t taste, fits func() bool) {
	for _, x := range windowsOf(s, c, acc, ch, &t) {
		if slices.ContainsFunc(ch.windows, func(w Window) bool { return w.Key == x.Key && w.From <= x.To && x.From <= w.To }) {
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
			n = 1 + sort.Search(c.P-1, func(n int) bool { return !holds(n + 2) })
		}
		if ch.windows[at].N = n; n == 0 {
			ch.windows = ch.windows[:at]
		}
	}
}
