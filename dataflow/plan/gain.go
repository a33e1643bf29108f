package plan

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
	ns            float64      // the step's
}

// cost is what a step takes with the bytes as they are.
func (b *balance) cost() float64 {
	f, l, n := &b.forecast, b.t.level, len(b.down)
	f.links = zeroed(f.links, n)
	f.copies, f.waits = zeroed(f.copies, n), zeroed(f.waits, n)
	f.kernels, f.link, f.all = zeroed(f.kernels, n+1), zeroed(f.link, n+1), zeroed(f.all, n+1)
	for q := range n {
		f.links[q] = l.links(b.down[q], b.up[q])
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
	chain, all := 0.0, 0.0
	for i := range m.changes {
		u := &m.changes[i]
		x := &f.links[u.phase]
		less := f.copies[u.phase] - max(x[0]-u.ns[0], x[1]-u.ns[1], x[2]-u.ns[2])
		if all += less; f.waits[u.phase] {
			chain += less
		}
	}
	slack := 1e-12 * f.ns // rounding in sums over phases, with room
	if n := chain + l.hidden*all; n > slack {
		return n + slack
	}
	for _, u := range m.changes {
		if f.copies[u.phase] != l.copies(b.down[u.phase]-u.down, b.up[u.phase]-u.up) {
			return slack
		}
	}
	return 0
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

// best is the most valuable of the moves that are not closed, none to part but; -1 where none
// gains anything.
func (b *balance) best(closed []bool, but *part) int {
	b.cost()
	b.bounds = b.bounds[:0]
	likely := -1
	for i := range b.moves {
		m, bound := &b.moves[i], 0.0
		if !closed[i] && m.to != but && (m.from == nil || m.from.at >= 0 && b.ch.windows[m.from.at].N > 0) {
			bound = m.value(b.bound(m))
		}
		if b.bounds = append(b.bounds, bound); bound > 0 && (likely < 0 || bound > b.bounds[likely]) {
			likely = i
		}
	}
	if likely < 0 {
		return -1
	}
	best, most := -1, 0.0
	if v := b.moves[likely].value(b.gain(&b.moves[likely])); v > 0 {
		best, most = likely, v
	}
	for i, bound := range b.bounds {
		if bound <= 0 || bound < most || i == likely {
			continue
		}
		if v := b.moves[i].value(b.gain(&b.moves[i])); v > most || v == most && v > 0 && i < best {
			best, most = i, v
		}
	}
	return best
}
