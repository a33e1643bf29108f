package plan

// Windows: what does not stay on the device for its whole life may stay for a part of it.
// A window keeps the first N intervals of a value, or the cells of the first N
// destinations (sources) of a direction, from one phase that touches them to a later one:
// they come once, or are made there, and every later use inside the window costs no copy.
// Windows fill the memory that phases have left when residency and slots are decided, so
// they only ever take bytes off the links. Where a window lies the sweep of its later
// phases begins without copies, which gives the others time to come.

// What a step does not change, inputs and cells, may also stay from a phase to one of the next
// step (From > To), or the first intervals of it for the whole run. The setup loads such a
// window, and a step leaves it as it has found it.

// Window is one of a plan.
type Window struct {
	Key      int // a value, or -1-dir: the cells of a direction
	From, To int // phases; Whole, Whole: the whole run; From > To: to phase To of the next step
	First, N int // intervals First..First+N-1
}

// live tells whether the window is open in a phase.
func (w *Window) live(phase int) bool {
	if w.From > w.To {
		return phase >= w.From || phase <= w.To
	}
	return w.From == Whole || w.From <= phase && phase <= w.To
}

// phases is in how many of n phases the window is open.
func (w *Window) phases(n int) int {
	if w.lasts() {
		n += w.To + 1
		return n - max(0, w.From)
	}
	return w.To - w.From + 1
}

// within tells whether o is open in all phases of w, and in more.
func (w *Window) within(o *Window) bool {
	switch {
	case o.From == Whole || w.From == Whole:
		return w.From != Whole
	case w.From > w.To:
		return o.From > o.To && o.From <= w.From && w.To <= o.To
	case o.From > o.To:
		return w.From >= o.From || w.To <= o.To
	}
	return o.From <= w.From && w.To <= o.To
}

// lasts tells whether the window is there when a step begins.
func (w *Window) lasts() bool { return w.From == Whole || w.From > w.To }

// meets tells whether two windows are open in a phase together.
func (w *Window) meets(o *Window) bool {
	return w.live(max(0, o.From)) || o.live(max(0, w.From)) || w.lasts() && o.lasts()
}

// has tells whether the window keeps interval i.
func (w *Window) has(i int) bool { return w.First <= i && i < w.First+w.N }

// rest is how many intervals of a value, or destinations of a direction, no window
// of phase keeps.
func (p *Plan) rest(phase, key int) int {
	n := p.Cells.P
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; w.Key == key && w.live(phase) {
			n -= w.N
		}
	}
	return n
}

// windowBytes is what w takes.
func (l *layout) windowBytes(w *Window) int64 {
	p := l.p
	if w.Key >= 0 {
		return int64(w.N) * p.Cells.chunkBytes(&p.Spec.Values[w.Key])
	}
	upTo := l.most.upTo[-1-w.Key]
	return upTo[w.First+w.N] - upTo[w.First]
}

// name is that of the buffer of w.
func (p *Plan) name(w *Window) string {
	if w.Key >= 0 {
		return "part of " + p.Spec.Values[w.Key].Name
	}
	return "part of cells " + Dir(-1-w.Key).String()
}

// placeWhole gives the windows of the whole run their memory.
func (l *layout) placeWhole(add func(string, int64) int64) {
	p := l.p
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; w.From == Whole {
			name := ""
			if !l.sizing {
				name = p.name(w)
			}
			l.openAt(i, add(name, l.windowBytes(w)))
		}
	}
}

// placeLasting gives the windows that stay from one step to the next their memory, before all
// else of a step: programs that are planned beside leave alone what lies below p.lasting.
func (l *layout) placeLasting(f *fitter, floor int64) {
	p := l.p
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; w.From > w.To {
			at, n := f.top, align(l.windowBytes(w))
			f.put(at, n, w.From, w.To)
			if !l.sizing {
				l.book(p.name(w), floor+at, n, w.From, len(p.Spec.Phases)-1)
				l.book(p.name(w), floor+at, n, 0, w.To)
			}
			l.openAt(i, floor+at)
			p.Places.Lasting = floor + f.top
		}
	}
}

// placeWindows gives the windows of a step their memory.
func (l *layout) placeWindows(f *fitter, floor int64) {
	p := l.p
	for i := range p.Places.Windows {
		if w := &p.Places.Windows[i]; !w.lasts() {
			n := align(l.windowBytes(w))
			at := floor + f.hold(n, w.From, w.To)
			if !l.sizing {
				l.book(p.name(w), at, n, w.From, w.To)
			}
			l.openAt(i, at)
		}
	}
}

// openAt says where window i lies. What lasts is loaded before the first step.
func (l *layout) openAt(i int, at int64) {
	p, w, to := l.p, &l.p.Places.Windows[i], &l.places[i]
	if to.at = at; l.sizing {
		return
	}
	if w.Key >= 0 {
		if w.lasts() {
			l.setupValue(w.Key, at, w.First, w.N)
		}
		return
	}
	d, end := Dir(-1-w.Key), int64(0)
	for k, b := range p.Cells.Bytes[d][w.First*p.Cells.P : (w.First+w.N)*p.Cells.P] {
		to.cells = append(to.cells, end)
		if w.lasts() {
			l.setupCell(d, w.First*p.Cells.P+k, at+end, b)
		}
		end += align(b)
	}
}
