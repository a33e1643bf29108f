package order

import (
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
)

// How tasks use windows: an interval in a window is loaded once, and later uses find it there.

// openWindow is a window while tasks are emitted.
type openWindow struct {
	plan.Window
	layout.WindowPlace
	here []bool // by interval, or by cell: it is there
}

// openWindows are the windows of a layout. Those that last are full when a step begins.
func openWindows(l *layout.Layout) []openWindow {
	out := make([]openWindow, len(l.Places))
	for i := range out {
		w := &out[i]
		w.Window, w.WindowPlace = l.Plan.Places.Windows[i], l.Places[i]
		n := w.First + w.N
		if w.Key < 0 {
			n *= l.Plan.Cells.P
		}
		w.here = make([]bool, n)
		for k := range w.here {
			w.here[k] = w.Lasts()
		}
	}
	return out
}

// inWindow is the window of the current phase that keeps interval i of value id, and the interval's
// address there; nil if there is none.
func (e *emitter) inWindow(id, i int) (at int64, w *openWindow) {
	if w = e.window(id, i); w == nil {
		return 0, nil
	}
	switch {
	case w.Late != nil && e.phase >= w.From:
		return w.At + w.Late[i-w.First], w
	case w.Chunks != nil:
		return w.At + w.Chunks[i-w.First], w
	}
	return w.At + int64(i-w.First)*e.p.Cells.ChunkBytes(&e.p.Spec.Values[id]), w
}

// window is the window of the current phase that keeps interval i of key (plan.Window.Key); nil if
// there is none.
func (e *emitter) window(key, i int) *openWindow {
	for _, w := range e.opens(key) {
		if w.Has(i) {
			return w
		}
	}
	return nil
}

// opens are the windows of key that are open in the current phase.
func (e *emitter) opens(key int) []*openWindow { return e.open[key+len(e.p.Cells.Bytes)] }

// fill loads interval i of value id into its window unless it is there.
func (e *emitter) fill(w *openWindow, id, i int, at int64) {
	if !w.here[i] {
		w.here[i] = true
		e.load(id, i, 0, at)
	}
}

// cellAt is the address of cell n in a window.
func (w *openWindow) cellAt(n, p int) int64 { return w.At + w.Cells[n-w.First*p] }

// opened are the windows that are open in a phase, by key plus the number of directions. A window from this phase into the next step begins
// empty: since the step before left it, others have used its memory.
func (e *emitter) opened(phase int) [][]*openWindow {
	open := make([][]*openWindow, len(e.p.Cells.Bytes)+len(e.p.Spec.Values))
	for i := range e.windows {
		w := &e.windows[i]
		if !w.Live(phase) {
			continue
		}
		if w.From > w.To && w.From == phase {
			clear(w.here)
		}
		k := w.Key + len(e.p.Cells.Bytes)
		open[k] = append(open[k], w)
	}
	return open
}

// refill loads, at the end of a step, the intervals of windows into the next step that no task has loaded.
func (e *emitter) refill() {
	for i := range e.windows {
		w := &e.windows[i]
		if w.From <= w.To {
			continue
		}
		if w.Key >= 0 {
			for j := w.First; j < w.First+w.N; j++ {
				at, _ := e.inWindow(w.Key, j)
				switch {
				case e.p.Cells.Rows(j) == 0:
				case w.Late == nil || w.Late[j-w.First] == w.Chunks[j-w.First]:
					e.fill(w, w.Key, j, at)
				case w.here[j]: // the next step begins with it elsewhere
					e.copy(plan.Task{Kind: plan.Copy, Queue: plan.Compute, Value: int32(w.Key), Own: int32(j), Other: -1, FromAddr: at, Addr: w.At + w.Chunks[j-w.First], Bytes: e.rowBytes(w.Key, j)})
				default:
					e.fill(w, w.Key, j, w.At+w.Chunks[j-w.First])
				}
			}
			continue
		}
		for k := range w.Cells {
			if n := w.First*e.p.Cells.P + k; !w.here[n] && e.p.Cells.Bytes[-1-w.Key][n] > 0 {
				e.fillCell(w, plan.Dir(-1-w.Key), n)
			}
		}
	}
}

// fillCell loads cell n into its window.
func (e *emitter) fillCell(w *openWindow, dir plan.Dir, n int) {
	w.here[n] = true
	p := e.p.Cells.P
	e.loadCell(dir, n/p, n%p, w.cellAt(n, p), e.p.Cells.Bytes[dir][n])
}

// stays tells whether interval j of stored value id, computed in the current phase, is in a window
// up to the last phase that reads it, so that it need not be saved.
func (e *emitter) stays(id, j int) bool {
	w := e.window(id, j)
	return w != nil && w.To >= e.ends[id]
}
