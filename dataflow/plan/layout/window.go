package layout

import "sagann/dataflow/plan"

// rest is how many intervals of a value, or own intervals of a direction, are in no window that is
// open in phase.
func (l *Layout) rest(phase, key int) int {
	p := l.Plan
	n := plan.KeySpan(p.Spec, p.Cells, key).N
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; w.Key == key && w.Live(phase) {
			n -= w.N
		}
	}
	return n
}

// windowBytes is the device memory in bytes that w takes.
func (l *Layout) windowBytes(w *plan.Window) int64 {
	p := l.Plan
	if w.Key >= 0 {
		return int64(w.N) * p.Cells.ChunkBytes(&p.Spec.Values[w.Key])
	}
	upTo := l.Largest.upTo[-1-w.Key]
	return upTo[w.First+w.N] - upTo[w.First]
}

// name is the name of w's buffer.
func (l *Layout) name(w *plan.Window) string {
	if w.Key >= 0 {
		return "part of " + l.Plan.Spec.Values[w.Key].Name
	}
	return "part of cells " + plan.Dir(-1-w.Key).String()
}

// placeWhole places the windows that stay for the whole run.
func (l *Layout) placeWhole(add func(string, int64) int64) {
	p := l.Plan
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; w.From == plan.Whole {
			name := ""
			if !l.sizing {
				name = l.name(w)
			}
			l.openAt(i, add(name, l.windowBytes(w)))
		}
	}
}

// placeLasting places the windows that stay from one step to the next. They lie below everything else
// of a step, as plans that have this one as base leave alone what lies below Places.Lasting.
func (l *Layout) placeLasting(f *fitter, floor int64) {
	p := l.Plan
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; w.From > w.To {
			at, n := f.top, plan.Align(l.windowBytes(w))
			f.put(at, n, w.From, w.To)
			if !l.sizing {
				l.book(l.name(w), floor+at, n, w.From, len(p.Spec.Phases)-1)
				l.book(l.name(w), floor+at, n, 0, w.To)
			}
			l.openAt(i, floor+at)
			p.Places.Lasting = floor + f.top
		}
	}
}

// placeWindows places the windows that open and close within a step.
func (l *Layout) placeWindows(f *fitter, floor int64) {
	p := l.Plan
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; !w.Lasts() {
			n := plan.Align(l.windowBytes(w))
			at := floor + f.hold(n, w.From, w.To)
			if !l.sizing {
				l.book(l.name(w), at, n, w.From, w.To)
			}
			l.openAt(i, at)
		}
	}
}

// openAt sets the address of window i. If the window is open when a step begins, openAt adds its loads to Plan.Setup.
func (l *Layout) openAt(i int, at int64) {
	p, w, to := l.Plan, &l.Plan.Places.Windows[i], &l.Places[i]
	if to.At = at; l.sizing {
		return
	}
	if w.Key >= 0 {
		if w.Lasts() {
			l.setupValue(w.Key, at, w.First, w.N)
		}
		return
	}
	d, end := plan.Dir(-1-w.Key), int64(0)
	for k, b := range p.Cells.Bytes[d][w.First*p.Cells.P : (w.First+w.N)*p.Cells.P] {
		to.Cells = append(to.Cells, end)
		if b > 0 && w.Lasts() {
			l.setupCell(d, w.First*p.Cells.P+k, at+end, b)
		}
		end += plan.Align(b)
	}
}
