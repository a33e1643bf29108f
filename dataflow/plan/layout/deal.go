package layout

import (
	"math"
	"slices"

	"sagann/dataflow/plan"
)

// Memory is dealt out by marginal gains: some intervals at a time, to the value or direction and the phases where
// that shortens an estimate of the step most. A phase that gathers long keeps less, and its copies hide behind its kernels.

// Estimate says what a step takes.
type Estimate struct {
	kernels        []float64 // ns by phase
	down, up, both float64   // bytes/ns of the links of a device
	ahead          float64   // ns by which copies run ahead of the kernels
	hidden         float64   // what a copy counts beside the time for which kernels wait
}

// copiesAhead is by how much of the kernels' time copies run ahead of them.
const copiesAhead = 0.1

// NewEstimate is one with the times of the kernels by phase and the rates of the links (Machine.Rates).
func NewEstimate(hidden float64, kernels []float64, rates func() (down, up, both float64)) *Estimate {
	e := &Estimate{kernels: kernels, hidden: hidden}
	for _, k := range kernels {
		e.ahead += copiesAhead * k
	}
	e.down, e.up, e.both = rates()
	return e
}

// step is what a step takes, in ns, that copies so many bytes down and up in each phase. Kernels of a phase
// wait for its copies, and these for the slowest of the links down, up, and both ways together.
func (e *Estimate) step(down, up []float64) float64 {
	var kernels, link, all float64 // when kernels and copies of the phases before are over, and the time of all copies
	for q := range down {
		copies := max(down[q]/e.down, up[q]/e.up, (down[q]+up[q])/e.both)
		link = max(link, kernels-e.ahead) + copies
		kernels = max(kernels+e.kernels[q], link)
		all += copies
	}
	return kernels + e.hidden*all
}

// dealing is memory that is being dealt out.
type dealing struct {
	*fitting
	open     []*plan.Window // those that have intervals, or had, as they came
	down, up []float64      // bytes that phases copy
	room     []int64        // bytes that are free in phases
	ns       float64        // what a step takes
	moves    []move
}

// move gives intervals to a window: such as no window keeps, or another for fewer phases.
type move struct {
	from, to *plan.Window // from nil: no window
	saves    []use        // bytes that an interval takes off the copies of phases
	bytes    float64      // of an interval
	phases   int          // in which it takes memory
	favour   float64      // what its gains count
	value    float64      // its gain for a byte and phase, when it was last worked out
	closed   bool         // it does not fit
}

// deal deals memory out to windows. Values whose window then holds all intervals are resident.
func (f *fitting) deal() {
	d := f.dealing()
	d.fill()
	d.settle()
}

// dealing lists what could be dealt out.
func (f *fitting) dealing() *dealing {
	n := len(f.spec.Phases)
	d := &dealing{fitting: f, down: make([]float64, n), up: make([]float64, n), room: make([]int64, n)}
	f.eachStreamed(d.list)
	f.fits()
	d.account()
	return d
}

// list lists the windows of a key, and the moves to them.
func (d *dealing) list(key int, constant, output bool) {
	bytes, favour := 0.0, 1.0
	switch {
	case d.spec.Says(d.rule.First, key):
		favour = 2
	case d.spec.Says(d.rule.Never, key):
		favour = 0.5
	}
	if key >= 0 {
		bytes = float64(d.c.ChunkBytes(&d.spec.Values[key]))
	} else {
		bytes = float64(d.most.upTo[-1-key][d.c.P]) / float64(d.c.P)
	}
	uses := d.usesOf(key)
	d.copy(uses, -bytes*float64(d.c.P))
	spans := spansOf(key, uses, constant, output)
	for i := range spans {
		x := &spans[i]
		m := move{to: &x.Window, bytes: bytes, favour: favour, phases: x.Phases(len(d.down))}
		d.moves = append(d.moves, m.saving(x.saves, nil))
		for k := range spans {
			if y := &spans[k]; len(x.saves) == len(y.saves)+1 && y.Within(&x.Window) {
				longer := m
				longer.from, longer.phases = &y.Window, m.phases-y.Phases(len(d.down))
				d.moves = append(d.moves, longer.saving(x.saves, y.saves))
			}
		}
	}
}

// saving is m with what is saved beyond before.
func (m move) saving(saves, before []use) move {
	for _, u := range saves {
		for _, o := range before {
			if o.phase == u.phase {
				u.down, u.up = u.down-o.down, u.up-o.up
			}
		}
		m.saves = append(m.saves, use{u.phase, u.down * m.bytes, u.up * m.bytes})
	}
	return m
}

// copy takes n times what is saved off the copies.
func (d *dealing) copy(saves []use, n float64) {
	for _, u := range saves {
		d.down[u.phase] -= n * u.down
		d.up[u.phase] -= n * u.up
	}
}

// account works out what the next moves begin with.
func (d *dealing) account() {
	d.ns = d.estimate.step(d.down, d.up)
	for q := range d.room {
		d.room[q] = d.o.Budget - d.sized.used(q)
	}
}

// value is what m gains for a byte and phase when it moves n intervals.
func (d *dealing) value(m *move, n int) float64 {
	d.copy(m.saves, float64(n))
	ns := d.estimate.step(d.down, d.up)
	d.copy(m.saves, -float64(n))
	return (d.ns - ns) * m.favour / m.bytes / float64(n*m.phases)
}

// work works out what all moves are worth.
func (d *dealing) work() {
	for i := range d.moves {
		d.moves[i].value = d.value(&d.moves[i], 1)
	}
}

// alike: as many intervals move at once as gain, one by one, about what the first does.
const alike = 0.95

// fill makes the most valuable moves while memory is left. What a move is worth mostly falls while others are made, so it is
// worked out again only when the move comes first, and of all moves when none is left.
func (d *dealing) fill() {
	for {
		m := d.best()
		if m == nil {
			d.work()
			if m = d.best(); m == nil {
				return
			}
		}
		v := d.value(m, 1)
		if v < m.value {
			m.value = v
			continue
		}
		n := d.roomFor(m)
		for n > 0 && !((n == 1 || d.value(m, n) > alike*v) && d.make(m, n)) {
			n /= 2
		}
		m.closed = n == 0
	}
}

// best is the most valuable move; nil: none gains anything.
func (d *dealing) best() (m *move) {
	for i := range d.moves {
		if x := &d.moves[i]; x.value > 0 && !x.closed && (m == nil || x.value > m.value) && d.rest(x) > 0 {
			m = x
		}
	}
	return m
}

// rest is how many intervals there are for m.
func (d *dealing) rest(m *move) int {
	if m.from != nil {
		return m.from.N
	}
	return d.c.P - m.to.N
}

// roomFor is how many intervals m could move, by the memory that is free.
func (d *dealing) roomFor(m *move) int {
	room := int64(math.MaxInt64)
	for q, free := range d.room {
		if m.to.Live(q) && (m.from == nil || !m.from.Live(q)) {
			room = min(room, free)
		}
	}
	n, k := d.rest(m), int(float64(room)/m.bytes)
	if n > k+d.ch.Slots+1 { // the last takes the slots' place
		return k
	}
	return n
}

// make moves n intervals if they fit.
func (d *dealing) make(m *move, n int) bool {
	open, was := d.open, d.ch.windows
	if !slices.Contains(open, m.to) {
		d.open = append(d.open, m.to)
	}
	m.shift(n)
	d.ch.windows = d.stacked()
	if d.ch.windows == nil || !d.fits() {
		m.shift(-n)
		d.open, d.ch.windows = open, was
		return false
	}
	d.copy(m.saves, float64(n))
	d.account()
	return true
}

func (m *move) shift(n int) {
	if m.from != nil {
		m.from.N -= n
	}
	m.to.N += n
}

// stacked are the windows with intervals, those of a key that are open in the same phases one behind the other; nil
// where they do not all fit.
func (d *dealing) stacked() (list []plan.Window) {
	for _, w := range d.open {
		x := *w
		for i := range list {
			if o := &list[i]; o.Key == x.Key && o.Meets(&x) {
				x.First = max(x.First, o.First+o.N)
			}
		}
		if x.First+x.N > d.c.P {
			return nil
		}
		if x.N > 0 {
			list = append(list, x)
		}
	}
	return list
}

// settle makes values resident whose window holds all intervals. Buffers then lie in another
// order; where that order does not fit, windows stay as they are.
func (f *fitting) settle() {
	was := f.ch
	f.ch.windows, f.ch.resident = slices.Clone(was.windows), slices.Clone(was.resident)
	f.ch.windows = slices.DeleteFunc(f.ch.windows, f.whole)
	if !f.fits() {
		f.ch = was
	}
}

// whole makes resident what w holds all of for its whole life.
func (f *fitting) whole(w plan.Window) bool {
	on := &f.ch.cells[max(0, -1-w.Key)]
	always := w.From == plan.Whole
	if w.Key >= 0 {
		from, to := plan.Lifetime(f.usage.Acc, w.Key)
		on = &f.ch.resident[w.Key]
		always = always || f.spec.Values[w.Key].Kind == plan.Stored && w.From == from && w.To == to
	}
	*on = *on || always && w.N == f.c.P
	return *on
}
