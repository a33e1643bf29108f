package plan

// Windows. A value that cannot stay on the device for its whole life may stay for a part of it. A
// window keeps N intervals of a value, or the cells of N own intervals of a direction, from one
// phase that touches them to a later one. They are loaded or computed once, and later uses inside
// the window need no copy. Windows use the memory that phases have left after residency and slots
// are decided, so they can only save copies. A phase that begins with intervals in a window starts
// without waiting, and the other intervals are loaded meanwhile.
//
// Inputs and cells, which a step does not change, may also stay from a phase to a phase of the next
// step (From > To), or for the whole run. Setup loads such a window before the first step, and
// every step leaves it filled.

// Whole, as From and To of a Window or a Buffer, means the whole run.
const Whole = -1

// Window is a range of intervals that stays on the device for some phases.
type Window struct {
	Key      int // a value, or -1-dir: the cells of a direction
	From, To int // first and last phase; Whole, Whole: the whole run; From > To: To is a phase of the next step
	First, N int // intervals First..First+N-1
}

// Live tells whether the window keeps its intervals in a phase: whether it is open.
func (w *Window) Live(phase int) bool {
	if w.From > w.To {
		return phase >= w.From || phase <= w.To
	}
	return w.From == Whole || w.From <= phase && phase <= w.To
}

// Phases is in how many of n phases the window is open.
func (w *Window) Phases(n int) int {
	if w.Lasts() {
		n += w.To + 1
		return n - max(0, w.From)
	}
	return w.To - w.From + 1
}

// Lasts tells whether the window is open when a step begins.
func (w *Window) Lasts() bool { return w.From == Whole || w.From > w.To }

// Meets tells whether there is a phase in which both windows are open.
func (w *Window) Meets(o *Window) bool {
	return w.Live(max(0, o.From)) || o.Live(max(0, w.From)) || w.Lasts() && o.Lasts()
}

// Has tells whether the window keeps interval i.
func (w *Window) Has(i int) bool { return w.First <= i && i < w.First+w.N }

// KeySpan is the intervals that may be in windows of key (Window.Key): those of a value, or the own intervals of a direction.
func KeySpan(s *Spec, c *Cells, key int) Span {
	if key >= 0 {
		return c.Span(s.Values[key].Type)
	}
	own, _ := c.Side(Dir(-1 - key))
	return own
}
