package layout

import (
	"slices"

	"sagann/dataflow/plan"
)

// How moves are chosen: the most valuable first. Then moves are taken back whose memory helps more
// elsewhere.

// fill makes the most valuable moves while memory is left. It gives nothing to part but (nil: any part may grow).
func (b *balance) fill(but *part) {
	closed := make([]bool, len(b.moves))
	fails := 0
	for but == nil || fails < balanceFails {
		best := b.best(closed, but)
		if best < 0 {
			return
		}
		if !b.make(&b.moves[best]) {
			closed[best] = true
			fails++
		}
	}
}

// make makes a move where it fits. What lies behind in the same key moves on.
func (b *balance) make(m *move) bool {
	was, x := slices.Clone(b.ch.windows), m.to
	if m.from != nil {
		b.ch.windows[m.from.at].N--
	}
	if x.at < 0 {
		x.at = len(was)
		b.ch.windows = append(b.ch.windows, x.Window)
	}
	b.ch.windows[x.at].N++
	if !b.stack(x.Key) || !b.fits() {
		if b.ch.windows = was; len(was) == x.at {
			x.at = -1
		}
		return false
	}
	b.count(m, -1)
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

// improve takes an interval from one window after the other and fills again, while that helps.
func (b *balance) improve() {
	for better := true; better; {
		better = false
		for i := range b.moves {
			m := &b.moves[i]
			for m.to.at >= 0 && b.ch.windows[m.to.at].N > 0 && b.asked < balanceAsks {
				if !b.without(m) {
					break
				}
				better = true
			}
		}
	}
}

// without takes m back and fills again; false, and all is as before, where that is no better.
func (b *balance) without(m *move) bool {
	before, windows, down, up := b.cost(), slices.Clone(b.ch.windows), slices.Clone(b.down), slices.Clone(b.up)
	b.ch.windows[m.to.at].N--
	if m.from != nil {
		if m.from.at < 0 {
			m.from.at = len(b.ch.windows)
			b.ch.windows = append(b.ch.windows, m.from.Window)
		}
		b.ch.windows[m.from.at].N++
	}
	b.count(m, 1)
	if b.stack(m.to.Key) {
		b.fill(m.to)
		if b.cost() < 0.9999*before {
			return true
		}
	}
	for _, x := range b.parts {
		if x.at >= len(windows) {
			x.at = -1
		}
	}
	b.ch.windows, b.down, b.up = windows, down, up
	return false
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
		from, to := plan.Lifetime(b.acc, w.Key)
		if w.From == plan.Whole || b.s.Values[w.Key].Kind == plan.Stored && w.From == from && w.To == to {
			b.ch.resident[w.Key] = true
		}
		return b.ch.resident[w.Key]
	})
}
