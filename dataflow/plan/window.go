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

// Whole in the place of a phase, of a Window or a Buffer, says that it is in use all the time.
const Whole = -1

// Window is one of a plan.
type Window struct {
	Key      int // a value, or -1-dir: the cells of a direction
	From, To int // phases; Whole, Whole: the whole run; From > To: to phase To of the next step
	First, N int // intervals First..First+N-1
}

// Live tells whether the window is open in a phase.
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

// Lasts tells whether the window is there when a step begins.
func (w *Window) Lasts() bool { return w.From == Whole || w.From > w.To }

// Meets tells whether two windows are open in a phase together.
func (w *Window) Meets(o *Window) bool {
	return w.Live(max(0, o.From)) || o.Live(max(0, w.From)) || w.Lasts() && o.Lasts()
}

// Has tells whether the window keeps interval i.
func (w *Window) Has(i int) bool { return w.First <= i && i < w.First+w.N }
