package layout

import "sagann/dataflow/plan"

// rest is how many intervals of a value, or own intervals of a direction, are in no window that is
// open in phase.
func (l *Layout) rest(phase, key int) int {
	p := l.Plan
	n := plan.KeySpan(p.Spec, p.Cells, key).N
	for i := l.windows.first(key); i >= 0; i = l.windows.next[i] {
		if w := &p.Places.Windows[i]; w.Live(phase) {
			n -= w.N
		}
	}
	return n
}

// byKey finds the windows of a key.
type byKey struct {
	heads []int // by value and, after those, by direction: the last window, plus one; 0: none
	next  []int // by window: the one before of the same key; -1: none
	n     int   // values
}

// find lists the windows of a plan of so many values and directions.
func (b *byKey) find(windows []plan.Window, values, dirs int) {
	b.heads, b.next, b.n = zeroed(b.heads, values+dirs), b.next[:0], values
	for i := range windows {
		b.push(windows[i].Key)
	}
}

// push adds a window of key behind the others, pop removes it.
func (b *byKey) push(key int) {
	k := b.at(key)
	b.next = append(b.next, b.heads[k]-1)
	b.heads[k] = len(b.next)
}

func (b *byKey) pop(key int) {
	i := len(b.next) - 1
	b.heads[b.at(key)], b.next = b.next[i]+1, b.next[:i]
}

func (b *byKey) at(key int) int {
	if key < 0 {
		return b.n - 1 - key
	}
	return key
}

// first is the last window of key; -1: there is none.
func (b *byKey) first(key int) int { return b.heads[b.at(key)] - 1 }

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
			f.rank = len(p.Spec.Values) + i
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
