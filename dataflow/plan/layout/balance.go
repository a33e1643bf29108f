package layout

import (
	"slices"

	"sagann/dataflow/plan"
)

// Balance: a copy that runs beside a longer kernel costs nothing, and one that kernels wait for
// costs its time. Where kernel times of phases are known, memory is dealt out an interval at a
// time, to the value or direction and the phases where it shortens the step most: a sweep that
// gathers long keeps less, and its copies hide behind its kernels.

// Level is what a choice is balanced by.
type Level struct {
	kernels        []float64 // ns by phase
	down, up, both float64   // bytes/ns of the links of a device
	ahead          float64   // ns by which copies run ahead of the kernels
	hidden         float64   // what a copy counts beside the time for which kernels wait
}

// NewLevel is b with the times of the kernels by phase and the rates of the links (Machine.Rates).
func NewLevel(b plan.Balance, kernels []float64, rates func() (down, up, both float64)) *Level {
	all := 0.0
	for _, k := range kernels {
		all += k
	}
	l := &Level{kernels: kernels, ahead: b.Ahead * all, hidden: b.Hidden}
	l.down, l.up, l.both = rates()
	return l
}

// copies is the time of copies of so many bytes: the longest of those on a link down, up, and both ways together.
func (l *Level) copies(down, up float64) float64 {
	return max(down/l.down, up/l.up, (down+up)/l.both)
}

// balance is memory that is being dealt out.
type balance struct {
	*fitting
	room     []int64   // by phase: bytes that no buffer takes, after the last move
	down, up []float64 // bytes by phase
	parts    []*part
	moves    []move
	forecast
}

// forecast is what a step takes with the bytes as they are. Kernels of a phase wait for its copies, which begin level.ahead
// before the phase does.
type forecast struct {
	copies        []float64 // ns of each phase
	kernels, link []float64 // when kernels and copies of the phases before are over
	all           []float64 // ns of all copies before
	ns            float64   // the step's
}

// part is a window that may grow.
type part struct {
	plan.Window
	at    int     // in choice.windows; -1: not yet
	saves []use   // for an interval
	bytes float64 // an interval
}

// move gives intervals that part from keeps, or none does, to part to, which keeps them longer.
type move struct {
	from, to *part
	changes  []use   // bytes that it takes off the copies of phases
	phases   int     // in which it takes memory
	favour   float64 // what its gains count
	value    float64 // its gain for a byte and phase, when it was last worked out
	closed   bool    // it does not fit
}

// balancing lists what could be dealt out.
func (f *fitting) balancing() *balance {
	n := len(f.spec.Phases)
	b := &balance{fitting: f, room: make([]int64, n), down: make([]float64, n), up: make([]float64, n),
		forecast: forecast{copies: make([]float64, n), kernels: make([]float64, n+1), link: make([]float64, n+1), all: make([]float64, n+1)}}
	f.eachStreamed(func(key int, constant, output bool) {
		bytes := 0.0
		if key >= 0 {
			bytes = float64(f.c.ChunkBytes(&f.spec.Values[key]))
		} else {
			for _, n := range f.c.Bytes[-1-key] {
				bytes += float64(plan.Align(n)) / float64(f.c.P)
			}
		}
		uses := f.usesOf(key)
		for _, u := range uses {
			b.down[u.phase] += u.down * bytes * float64(f.c.P)
			b.up[u.phase] += u.up * bytes * float64(f.c.P)
		}
		for _, x := range spansOf(key, uses, constant, output) {
			if slices.ContainsFunc(x.saves, func(u use) bool { return u.down+u.up > 0 }) {
				b.parts = append(b.parts, &part{x.Window, -1, x.saves, bytes})
			}
		}
	})
	for _, x := range b.parts {
		b.move(nil, x)
		for _, y := range b.parts {
			if x != y && x.Key == y.Key && len(y.saves) == len(x.saves)+1 && x.Within(&y.Window) {
				b.move(x, y)
			}
		}
	}
	b.cost()
	for i := range b.moves {
		b.moves[i].value = b.value(&b.moves[i], 1)
	}
	return b
}

// move lists a move.
func (b *balance) move(from, to *part) {
	m := move{from: from, to: to, phases: to.Phases(len(b.spec.Phases)), favour: 1}
	switch {
	case slices.Contains(b.rule.first, to.Key):
		m.favour = 2
	case slices.Contains(b.rule.never, to.Key):
		m.favour = 0.5
	}
	if from != nil {
		m.phases -= from.Phases(len(b.spec.Phases))
	}
	for _, u := range to.saves {
		if from != nil {
			for _, o := range from.saves {
				if o.phase == u.phase {
					u.down, u.up = u.down-o.down, u.up-o.up
				}
			}
		}
		u.down, u.up = u.down*to.bytes, u.up*to.bytes
		m.changes = append(m.changes, u)
	}
	b.moves = append(b.moves, m)
}

// cost works out the forecast.
func (b *balance) cost() {
	n := len(b.down)
	for q := range b.room {
		b.room[q] = b.o.Budget - b.sized.used(q)
	}
	for q := range n {
		b.copies[q] = b.rule.level.copies(b.down[q], b.up[q])
	}
	for q := range n {
		b.kernels[q+1], b.link[q+1], b.all[q+1] = b.after(q, b.kernels[q], b.link[q], b.all[q])
	}
	b.ns = b.kernels[n] + b.rule.level.hidden*b.all[n]
}

// after is when kernels and copies are over after phase q.
func (b *balance) after(q int, kernels, link, all float64) (float64, float64, float64) {
	l := b.rule.level
	link = max(link, kernels-l.ahead) + b.copies[q]
	return max(kernels+l.kernels[q], link), link, all + b.copies[q]
}

// value is what m gains for a byte and phase when it moves n intervals.
func (b *balance) value(m *move, n int) float64 {
	first, by := len(b.down), float64(n)
	for _, u := range m.changes {
		first = min(first, u.phase)
		b.copies[u.phase] = b.rule.level.copies(b.down[u.phase]-by*u.down, b.up[u.phase]-by*u.up)
	}
	kernels, link, all := b.kernels[first], b.link[first], b.all[first]
	for q := first; q < len(b.down); q++ {
		kernels, link, all = b.after(q, kernels, link, all)
	}
	for _, u := range m.changes {
		b.copies[u.phase] = b.rule.level.copies(b.down[u.phase], b.up[u.phase])
	}
	return (b.ns - kernels - b.rule.level.hidden*all) * m.favour / m.to.bytes / float64(n*m.phases)
}
