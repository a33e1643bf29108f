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

	at    int64
	cells []int64 // offset of each cell
	here  []bool  // chunks, or cells, that have come
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
	for i := range p.Windows {
		if w := &p.Windows[i]; w.Key == key && w.live(phase) {
			n -= w.N
		}
	}
	return n
}

// windowBytes is what w takes.
func (p *Plan) windowBytes(w *Window) int64 {
	if w.Key >= 0 {
		return int64(w.N) * p.Cells.chunkBytes(&p.Spec.Values[w.Key])
	}
	upTo := p.most.upTo[-1-w.Key]
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
func (p *Plan) placeWhole(add func(string, int64) int64) {
	for i := range p.Windows {
		if w := &p.Windows[i]; w.From == Whole {
			name := ""
			if !p.sizing {
				name = p.name(w)
			}
			p.openAt(w, add(name, p.windowBytes(w)))
		}
	}
}

// placeLasting gives the windows that stay from one step to the next their memory, before all
// else of a step: programs that are planned beside leave alone what lies below p.lasting.
func (p *Plan) placeLasting(f *fitter, floor int64) {
	for i := range p.Windows {
		if w := &p.Windows[i]; w.From > w.To {
			at, n := f.top, align(p.windowBytes(w))
			f.put(at, n, w.From, w.To)
			if !p.sizing {
				p.book(p.name(w), floor+at, n, w.From, len(p.Spec.Phases)-1)
				p.book(p.name(w), floor+at, n, 0, w.To)
			}
			p.openAt(w, floor+at)
			p.lasting = floor + f.top
		}
	}
}

// placeWindows gives the windows of a step their memory.
func (p *Plan) placeWindows(f *fitter, floor int64) {
	for i := range p.Windows {
		if w := &p.Windows[i]; !w.lasts() {
			n := align(p.windowBytes(w))
			at := floor + f.hold(n, w.From, w.To)
			if !p.sizing {
				p.book(p.name(w), at, n, w.From, w.To)
			}
			p.openAt(w, at)
		}
	}
}

// openAt says where w lies. What lasts is loaded before the first step.
func (p *Plan) openAt(w *Window, at int64) {
	w.at = at
	if p.sizing {
		return
	}
	w.here, w.cells = make([]bool, w.First+w.N), nil
	if w.Key >= 0 {
		if w.lasts() {
			p.setupValue(w.Key, at, w.First, w.N)
			for i := range w.N {
				w.here[w.First+i] = true
			}
		}
		return
	}
	w.here = make([]bool, (w.First+w.N)*p.Cells.P)
	d, end := Dir(-1-w.Key), int64(0)
	for k, b := range p.Cells.Bytes[d][w.First*p.Cells.P : (w.First+w.N)*p.Cells.P] {
		n := w.First*p.Cells.P + k
		w.cells = append(w.cells, end)
		if w.lasts() {
			p.setupCell(d, n, at+end, b)
			w.here[n] = true
		}
		end += align(b)
	}
}

// inWindow is the window of this phase that keeps interval i of value id, and its address
// there; nil without.
func (e *emitter) inWindow(id, i int) (at int64, w *Window) {
	if w = e.window(id, i); w == nil {
		return 0, nil
	}
	return w.at + int64(i-w.First)*e.p.Cells.chunkBytes(&e.p.Spec.Values[id]), w
}

// window is the one of this phase that keeps interval i of what key names, nil without.
func (e *emitter) window(key, i int) *Window {
	for _, w := range e.open[key+2] {
		if w.has(i) {
			return w
		}
	}
	return nil
}

// fill loads interval i of value id into its window when it has not come yet.
func (e *emitter) fill(w *Window, id, i int, at int64) {
	if !w.here[i] {
		w.here[i] = true
		e.load(id, i, 0, at)
	}
}

// cellAt is where cell n lies in a window.
func (w *Window) cellAt(n, p int) int64 { return w.at + w.cells[n-w.First*p] }

// opened are the windows of a phase by key, the cells' first. One that lasts and begins here was left by the step
// before, and others have used its memory since.
func (p *Plan) opened(phase int) [][]*Window {
	open := make([][]*Window, 2+len(p.Spec.Values))
	for i := range p.Windows {
		w := &p.Windows[i]
		if !w.live(phase) {
			continue
		}
		if w.From > w.To && w.From == phase {
			clear(w.here)
		}
		open[w.Key+2] = append(open[w.Key+2], w)
	}
	return open
}

// refill brings what no task has loaded of the windows that the next step begins with.
func (e *emitter) refill() {
	for i := range e.p.Windows {
		w := &e.p.Windows[i]
		if w.From <= w.To {
			continue
		}
		if w.Key >= 0 {
			for j := w.First; j < w.First+w.N; j++ {
				if at, _ := e.inWindow(w.Key, j); e.p.Cells.Rows(j) > 0 {
					e.fill(w, w.Key, j, at)
				}
			}
			continue
		}
		for k := range w.cells {
			if n := w.First*e.p.Cells.P + k; !w.here[n] {
				e.fillCell(w, Dir(-1-w.Key), n)
			}
		}
	}
}

// fillCell loads cell n into its window.
func (e *emitter) fillCell(w *Window, dir Dir, n int) {
	w.here[n] = true
	p := e.p.Cells.P
	e.loadCell(dir, n/p, n%p, w.cellAt(n, p), e.p.Cells.Bytes[dir][n])
}

// stays tells whether interval j of stored value id, made in this phase, is read from a
// window only.
func (e *emitter) stays(id, j int) bool {
	w := e.window(id, j)
	return w != nil && w.To >= e.ends[id]
}
