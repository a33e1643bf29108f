package plan

import "slices"

// What a move gains. Kernels of a phase wait for its copies, which begin level.ahead before the
// phase does: the step takes as long as its longest chain of kernels and copies. When copies of some phases
// take less time, the chain that was the longest becomes shorter by those that lie on it, and
// no other was longer. So the sum over those bounds the gain from above, and a move whose bound
// is below what another gains need not be looked at.

// forecast is what a step takes by phases.
type forecast struct {
	copies        []float64 // ns of the copies of each phase
	kernels, link []float64 // when kernels and copies of the phases before are over
	all           []float64 // ns of all copies before
	waits         []bool    // the longest chain goes over the copies of the phase
	ns            float64   // the step's
}

// cost is what a step takes with the bytes as they are.
func (b *balance) cost() float64 {
	f, l, n := &b.forecast, b.t.level, len(b.down)
	f.copies, f.waits = zeroed(f.copies, n), zeroed(f.waits, n)
	f.kernels, f.link, f.all = zeroed(f.kernels, n+1), zeroed(f.link, n+1), zeroed(f.all, n+1)
	for q := range n {
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
	}
	return f.ns
}

// bound is at least what m gains, in ns; 0: nothing.
func (b *balance) bound(m *move) float64 {
	f, l := &b.forecast, b.t.level
	chain, all, changes := 0.0, 0.0, false
	for _, u := range m.changes {
		less := f.copies[u.phase] - l.copies(b.down[u.phase]-u.down, b.up[u.phase]-u.up)
		changes = changes || less != 0
		if all += less; f.waits[u.phase] {
			chain += less
		}
	}
	if !changes {
		return 0
	}
	const rounding = 1e-12 // of sums over phases, with room
	return chain + l.hidden*all + rounding*f.ns
}

// gain is what m gains, in ns.
func (b *balance) gain(m *move) float64 {
	f, l := &b.forecast, b.t.level
	first := len(b.down)
	for i := range m.changes {
		u := &m.changes[i]
		first = min(first, u.phase)
		m.was[i] = f.copies[u.phase]
		f.copies[u.phase] = l.copies(b.down[u.phase]-u.down, b.up[u.phase]-u.up)
	}
	kernels, link, all := f.kernels[first], f.link[first], f.all[first]
	for q := first; q < len(f.copies); q++ {
		link = max(link, kernels-l.ahead) + f.copies[q]
		kernels = max(kernels+l.kernels[q], link)
		all += f.copies[q]
	}
	for i, u := range m.changes {
		f.copies[u.phase] = m.was[i]
	}
	return f.ns - (kernels + l.hidden*all)
}

// value is what a gain of m counts for a byte and phase.
func (b *balance) value(m *move, gain float64) float64 {
	switch {
	case slices.Contains(b.t.first, m.to.Key):
		gain *= 2
	case slices.Contains(b.t.never, m.to.Key):
		gain /= 2
	}
	return gain / m.to.bytes / float64(m.phases)
}

// best is the most valuable of the moves that are open, -1 where none gains anything.
func (b *balance) best(open func(int, *move) bool) int {
	b.cost()
	b.bounds = zeroed(b.bounds, len(b.moves))
	likely := -1
	for i := range b.moves {
		if m := &b.moves[i]; open(i, m) {
			if b.bounds[i] = b.value(m, b.bound(m)); b.bounds[i] > 0 && (likely < 0 || b.bounds[i] > b.bounds[likely]) {
				likely = i
			}
		}
	}
	if likely < 0 {
		return -1
	}
	best, most := -1, 0.0
	if v := b.value(&b.moves[likely], b.gain(&b.moves[likely])); v > 0 {
		best, most = likely, v
	}
	for i := range b.moves {
		if b.bounds[i] <= 0 || b.bounds[i] < most || i == likely {
			continue
		}
		if v := b.value(&b.moves[i], b.gain(&b.moves[i])); v > most || v == most && v > 0 && i < best {
			best, most = i, v
		}
	}
	return best
}
