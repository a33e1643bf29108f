package layout

import "slices"

// What a move gains. Kernels of a phase wait for its copies, which begin level.ahead before the
// phase does: the step takes as long as its longest chain of kernels and copies. When copies of some phases
// take less time, the chain that was the longest becomes shorter by those that lie on it, and
// no other was longer. So the sum over those bounds the gain from above, and a move whose bound
// is below what another gains need not be looked at.

// forecast is what a step takes by phases.
type forecast struct {
	links         [][3]float64 // ns of the copies of each phase: down, up and both ways together
	copies        []float64    // the longest of them
	kernels, link []float64    // when kernels and copies of the phases before are over
	all           []float64    // ns of all copies before
	waits         []bool       // the longest chain goes over the copies of the phase
	was           []bool       // waits before
	changed       []bool       // phases whose links or waits are others than before
	ns            float64      // the step's
}

// cost is what a step takes with the bytes as they are.
func (b *balance) cost() float64 {
	f, l, n := &b.forecast, b.t.level, len(b.down)
	f.was, f.waits = f.waits, f.was
	clear(f.waits)
	for q := range n {
		links := l.links(b.down[q], b.up[q])
		f.changed[q] = f.changed[q] || links != f.links[q]
		f.links[q] = links
		f.copies[q] = l.copies(b.down[q], b.up[q])
		f.link[q+1] = max(f.link[q], f.kernels[q]-l.ahead) + f.copies[q]
		f.kernels[q+1] = max(f.kernels[q]+l.kernels[q], f.link[q+1])
		f.all[q+1] = f.all[q] + f.copies[q]
	}
	f.ns = f.kernels[n] + l.hidden*f.all[n]
	copying := false
	for q := n - 1; q >= 0; q-- {
		if copying = copying || f.link[q+1] >= f.kernels[q]+l.kernels[q]; copying {
			f.waits[q] = true
			copying = f.link[q] >= f.kernels[q]-l.ahead
		}
		f.changed[q] = f.changed[q] || f.waits[q] != f.was[q]
	}
	return f.ns
}

// bound is at least what m gains, in ns; 0: nothing.
func (b *balance) bound(m *move) float64 {
	f, l := &b.forecast, b.t.level
	chain, all := 0.0, 0.0
	for i := range m.changes {
		u := &m.changes[i]
		x := &f.links[u.phase]
		less := f.copies[u.phase] - max(x[0]-u.ns[0], x[1]-u.ns[1], x[2]-u.ns[2])
		if all += less; f.waits[u.phase] {
			chain += less
		}
	}
	if n := chain + l.hidden*all; n > b.slack {
		return n + b.slack
	}
	for _, u := range m.changes {
		if f.copies[u.phase] != l.copies(b.down[u.phase]-u.down, b.up[u.phase]-u.up) {
			return b.slack
		}
	}
	return 0
}

// begin makes room.
func (b *balance) begin() {
	f, n := &b.forecast, len(b.down)
	f.links, f.copies, f.waits, f.was, f.changed = make([][3]float64, n), make([]float64, n), make([]bool, n), make([]bool, n), slices.Repeat([]bool{true}, n)
	f.kernels, f.link, f.all = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	b.slack = 1e-12 * b.cost() // rounding in sums over phases, with room
	b.bounds, b.stale, b.at = make([]float64, len(b.moves)), make([]bool, len(b.moves)), make([][]int, n)
	for i := range b.moves {
		for _, u := range b.moves[i].changes {
			b.at[u.phase] = append(b.at[u.phase], i)
		}
	}
}

// outdate marks the moves that touch changed phases.
func (b *balance) outdate() {
	for q, changed := range b.forecast.changed {
		if b.forecast.changed[q] = false; changed {
			for _, i := range b.at[q] {
				b.stale[i] = true
			}
		}
	}
}

// gain is what m gains, in ns.
func (b *balance) gain(m *move) float64 {
	f, l := &b.forecast, b.t.level
	first := len(b.down)
	for i := range m.changes {
		u := &m.changes[i]
		first = min(first, u.phase)
		u.was = f.copies[u.phase]
		f.copies[u.phase] = l.copies(b.down[u.phase]-u.down, b.up[u.phase]-u.up)
	}
	kernels, link, all := f.kernels[first], f.link[first], f.all[first]
	for q := first; q < len(f.copies); q++ {
		link = max(link, kernels-l.ahead) + f.copies[q]
		kernels = max(kernels+l.kernels[q], link)
		all += f.copies[q]
	}
	for _, u := range m.changes {
		f.copies[u.phase] = u.was
	}
	return f.ns - (kernels + l.hidden*all)
}

// value is what a gain of m counts for a byte and phase.
func (m *move) value(gain float64) float64 {
	return gain * m.favour / m.to.bytes / float64(m.phases)
}

// best is the most valuable move that is not closed and gives no memory to part but; -1 where no
// move gains anything.
func (b *balance) best(closed []bool, but *part) int {
	b.cost()
	b.outdate()
	open := func(m *move) bool {
		return m.to != but && (m.from == nil || m.from.at >= 0 && b.ch.windows[m.from.at].N > 0)
	}
	likely, high := -1, 0.0
	b.open = b.open[:0]
	for i := range b.moves {
		m := &b.moves[i]
		if closed[i] || !open(m) {
			continue
		}
		if b.stale[i] {
			b.stale[i], b.bounds[i] = false, m.value(b.bound(m))
		}
		if bound := b.bounds[i]; bound > 0 {
			b.open = append(b.open, i)
			if bound > high {
				likely, high = i, bound
			}
		}
	}
	if likely < 0 {
		return -1
	}
	best, most := -1, 0.0
	if v := b.moves[likely].value(b.gain(&b.moves[likely])); v > 0 {
		best, most = likely, v
	}
	for _, i := range b.open {
		if b.bounds[i] < most || i == likely {
			continue
		}
		if v := b.moves[i].value(b.gain(&b.moves[i])); v > most || v == most && v > 0 && i < best {
			best, most = i, v
		}
	}
	return best
}
