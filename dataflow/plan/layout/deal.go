package layout

import (
	"math"
	"slices"

	"sagann/dataflow/plan"
)

// How memory is dealt out: the most valuable move first.

// deal deals memory out to windows by the rule's level.
func (f *fitting) deal() {
	f.fits()
	b := f.balancing()
	b.fill()
	b.settle()
}

// alike: as many intervals move at once as gain, one by one, about what the first does.
const alike = 0.95

// fill makes the most valuable moves while memory is left. What a move is worth mostly falls while others are made, so it is
// worked out again only when the move comes first, and of all moves when none is left.
func (b *balance) fill() {
	b.cost()
	for again := false; ; {
		best := -1
		for i := range b.moves {
			if m := &b.moves[i]; m.value > 0 && (best < 0 || m.value > b.moves[best].value) && m.open(&b.ch) {
				best = i
			}
		}
		if best < 0 {
			if !again {
				return
			}
			again = false
			for i := range b.moves {
				if m := &b.moves[i]; !m.closed {
					m.value = b.value(m, 1)
				}
			}
			continue
		}
		m := &b.moves[best]
		v := b.value(m, 1)
		if v < m.value {
			m.value = v
			continue
		}
		made := false
		for n := b.rest(m); n > 0 && !made; n /= 2 {
			made = (n == 1 || b.value(m, n) > alike*v) && b.make(m, n)
		}
		if !made {
			m.closed, m.value = true, 0
			continue
		}
		b.cost()
		again = true
	}
}

// rest is how many intervals m could move, by the memory that is free.
func (b *balance) rest(m *move) int {
	n := b.c.P
	switch {
	case m.from != nil:
		n = b.ch.windows[m.from.at].N
	case m.to.at >= 0:
		n -= b.ch.windows[m.to.at].N
	}
	room := int64(math.MaxInt64)
	for q, free := range b.room {
		if m.to.Live(q) && (m.from == nil || !m.from.Live(q)) {
			room = min(room, free)
		}
	}
	if k := int(float64(room) / m.to.bytes); n > k+b.ch.Slots+1 { // the last takes the slots' place
		return k
	}
	return n
}

// open tells whether there is something to move.
func (m *move) open(ch *Choice) bool {
	return m.from == nil || m.from.at >= 0 && ch.windows[m.from.at].N > 0
}

// make moves up to n intervals where they fit. What lies behind in the same key moves on.
func (b *balance) make(m *move, n int) bool {
	was, x := slices.Clone(b.ch.windows), m.to
	if m.from != nil {
		n = min(n, was[m.from.at].N)
		b.ch.windows[m.from.at].N -= n
	}
	if x.at < 0 {
		x.at = len(was)
		b.ch.windows = append(b.ch.windows, x.Window)
	}
	b.ch.windows[x.at].N += n
	if !b.stack(x.Key) || !b.fits() {
		if b.ch.windows = was; len(was) == x.at {
			x.at = -1
		}
		return false
	}
	for _, u := range m.changes {
		b.down[u.phase] -= float64(n) * u.down
		b.up[u.phase] -= float64(n) * u.up
	}
	return true
}

// stack places the windows of a key that are open in the same phases one behind the other. It is false
// where they do not all fit.
func (b *balance) stack(key int) bool {
	list := b.ch.windows
	for i := range list {
		w := &list[i]
		if w.Key != key {
			continue
		}
		w.First = 0
		for k := range i {
			if o := &list[k]; o.Key == key && o.Meets(w) {
				w.First = max(w.First, o.First+o.N)
			}
		}
		if w.First+w.N > b.c.P {
			return false
		}
	}
	return true
}

// settle makes values resident whose window holds all intervals. Buffers then lie in another order; where that
// order does not fit, windows stay as they are.
func (b *balance) settle() {
	windows, resident, cells := slices.Clone(b.ch.windows), slices.Clone(b.ch.resident), b.ch.cells
	b.whole()
	if !b.fits() {
		b.ch.windows, b.ch.resident, b.ch.cells = windows, resident, cells
		b.ch.windows = slices.DeleteFunc(b.ch.windows, func(w plan.Window) bool { return w.N == 0 })
	}
}

// whole replaces windows that hold all intervals for a value's whole life by residency, and drops empty ones.
func (b *balance) whole() {
	b.ch.windows = slices.DeleteFunc(b.ch.windows, func(w plan.Window) bool {
		if w.N < b.c.P {
			return w.N == 0
		}
		if w.Key < 0 {
			if w.From == plan.Whole {
				b.ch.cells[-1-w.Key] = true
			}
			return w.From == plan.Whole
		}
		from, to := plan.Lifetime(b.usage.Acc, w.Key)
		if w.From == plan.Whole || b.spec.Values[w.Key].Kind == plan.Stored && w.From == from && w.To == to {
			b.ch.resident[w.Key] = true
		}
		return b.ch.resident[w.Key]
	})
}
