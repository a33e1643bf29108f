package layout

import (
	"slices"

	"sagann/dataflow/plan"
)

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

// placeLasting places the windows that stay from one step to the next, unless they are scattered. They lie below everything else
// of a step, as plans that have this one as base leave alone what lies below Places.Lasting.
func (l *Layout) placeLasting(f *fitter, floor int64) {
	p := l.Plan
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; w.From > w.To && !l.scattered(w) {
			at, list := f.top, l.windowPieces(w)
			f.put(at, list)
			l.bookWindow(w, floor+at, list)
			l.openAt(i, floor+at)
			p.Places.Lasting = floor + f.top
		}
	}
}

// placeWindows places the windows that open and close within a step, and those that are scattered.
func (l *Layout) placeWindows(f *fitter, floor int64, c *Choice) {
	for i := range l.Plan.Places.Windows {
		w := &l.Plan.Places.Windows[i]
		scattered := l.scattered(w)
		if w.Lasts() && !scattered {
			continue
		}
		f.rank = len(l.Plan.Spec.Values) + i
		list := l.windowPieces(w)
		if !scattered {
			at := floor + f.hold(list...)
			l.bookWindow(w, at, list)
			l.openAt(i, at)
			continue
		}
		f.scatter(list, c.move && w.Key >= 0)
		if w.Lasts() {
			l.Plan.Places.Lasting = max(l.Plan.Places.Lasting, floor+endNext(list))
		}
		l.bookWindow(w, floor, list)
		l.scatterAt(i, floor, list)
	}
}

// bookWindow is book for window w. One that lasts from one step to the next has a buffer for each half.
func (l *Layout) bookWindow(w *plan.Window, at int64, list []piece) {
	if l.sizing {
		return
	}
	last := len(l.Plan.Spec.Phases) - 1
	if w.From <= w.To {
		l.bookPieces(l.name(w), at, w.From, w.To, list)
		return
	}
	list = slices.Clone(list)
	starts := make([]int, len(list))
	for i := range list {
		starts[i], list[i].to = list[i].to, l.clock.end(last)
	}
	l.bookPieces(l.name(w), at, w.From, last, list)
	for i := range list {
		list[i].from, list[i].to = 0, starts[i]
		if l.scattered(w) {
			list[i].off = list[i].next
		}
	}
	l.bookPieces(l.name(w), at, 0, w.To, list)
}

// scatterAt is openAt for a scattered window: the pieces of list begin so many bytes above floor.
func (l *Layout) scatterAt(i int, floor int64, list []piece) {
	w, to := &l.Plan.Places.Windows[i], &l.Places[i]
	if to.At = floor; l.sizing {
		return
	}
	moved := false
	for k := range l.runs(w) {
		run := l.run(w, k)
		if w.Key < 0 {
			l.openCells(&run, to, floor, list[k].off)
			continue
		}
		for j := range run.N {
			off := int64(j) * l.Plan.Cells.ChunkBytes(&l.Plan.Spec.Values[w.Key])
			to.Chunks, to.Late = append(to.Chunks, list[k].next+off), append(to.Late, list[k].off+off)
		}
		moved = moved || list[k].next != list[k].off
	}
	if !moved {
		to.Late = nil
	}
	if w.Key >= 0 && w.Lasts() {
		l.setupValue(w.Key, floor, w.First, w.N, to.Chunks)
	}
}

// openAt sets the address of window i. If the window is open when a step begins, openAt adds its loads to Plan.Setup.
func (l *Layout) openAt(i int, at int64) {
	w, to := &l.Plan.Places.Windows[i], &l.Places[i]
	if to.At = at; l.sizing {
		return
	}
	if w.Key < 0 {
		l.openCells(w, to, at, 0)
	} else if w.Lasts() {
		l.setupValue(w.Key, at, w.First, w.N, nil)
	}
}

// openCells adds the cells of window w, whose first one begins off bytes behind address at, to where those of to lie. If the window is open when a
// step begins, openCells adds their loads to Plan.Setup.
func (l *Layout) openCells(w *plan.Window, to *WindowPlace, at, off int64) {
	p := l.Plan
	d := plan.Dir(-1 - w.Key)
	for k, b := range p.Cells.Bytes[d][w.First*p.Cells.P : (w.First+w.N)*p.Cells.P] {
		to.Cells = append(to.Cells, off)
		if b > 0 && w.Lasts() {
			l.setupCell(d, w.First*p.Cells.P+k, at+off, b)
		}
		off += plan.Align(b)
	}
}
