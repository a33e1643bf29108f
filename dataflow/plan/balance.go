package plan

import "slices"

// Balance: a copy that runs beside a longer kernel costs nothing, and one that kernels wait for
// costs its time. Where kernel times of phases are known, memory is dealt out an interval at a
// time, to the value or direction and the phases where it shortens the step most: a sweep that
// gathers long keeps less, and its copies hide behind its kernels.

// level is what a choice is balanced by.
type level struct {
	kernels        []float64 // ns by phase
	down, up, both float64   // bytes/ns of the links of a device
	hidden         float64   // what a hidden copy counts, beside 1 for one that is waited for
}

// newLevel is that of pl on m.
func newLevel(pl *Plan, line *Timeline, m *Machine, hidden float64) *level {
	l := &level{kernels: make([]float64, len(pl.Spec.Phases)), hidden: hidden}
	for i := range pl.Tasks {
		if k := &pl.Tasks[i]; k.Queue == Compute {
			l.kernels[k.Phase] += float64(line.End[i] - line.Start[i])
		}
	}
	n, rates := newNetwork(m), make([]float64, 2)
	n.share([]*route{&n.hosts[0], &n.hostsUp[0]}, rates)
	l.down, l.up, l.both = n.hosts[0].alone, n.hostsUp[0].alone, rates[0]+rates[1]
	return l
}

// cost is what phase q takes with such bytes to copy.
func (l *level) cost(q int, down, up float64) float64 {
	copies := max(down/l.down, up/l.up, (down+up)/l.both)
	return max(l.kernels[q], copies) + l.hidden*copies
}

// use is what a phase copies of one interval of a value or direction: how often down and up.
type use struct {
	phase    int
	down, up float64
}

// usesOf lists how phases use what key names, which no slots keep but those of ch; nil where a window could not keep it.
func usesOf(s *Spec, c *Cells, acc []map[int]access, ch *choice, key int) (out []use) {
	if key < 0 {
		for q := range s.Phases {
			n := 0.0
			for _, st := range s.Phases[q].Steps {
				if st.Kind == Stream && int(st.Dir) == -1-key {
					n++
				}
			}
			if n > 0 {
				out = append(out, use{q, n, 0})
			}
		}
		return out
	}
	for q := range acc {
		a, ok := acc[q][key]
		if !ok {
			continue
		}
		u := use{phase: q}
		if a.ownRead {
			u.down++
		}
		if a.other {
			u.down += float64(c.P) - float64(c.P-1)*float64(min(ch.phase(q), c.P))/float64(c.P)
		}
		if a.ownWrite {
			if u.up = 1; len(out) > 0 || a.ownRead { // written more than once
				return nil
			}
		}
		out = append(out, u)
	}
	return out
}

// part is a window that may grow.
type part struct {
	candidate
	at    int // in ch.windows; -1: not yet
	saves []use
	bytes float64 // an interval
}

// balance deals memory out to windows.
func balance(s *Spec, c *Cells, acc []map[int]access, ch *choice, t taste, fits func() bool) {
	l := t.level
	down, up := make([]float64, len(s.Phases)), make([]float64, len(s.Phases))
	var parts []*part
	keys := []int{}
	for id := range s.Values {
		if s.Values[id].Kind != Temp {
			keys = append(keys, id)
		}
	}
	for d := range 2 {
		if c.Bytes[d] != nil {
			keys = append(keys, -1-d)
		}
	}
	for _, key := range keys {
		if key >= 0 && ch.resident[key] || key < 0 && ch.cells[-1-key] {
			continue
		}
		uses := usesOf(s, c, acc, ch, key)
		if len(uses) == 0 {
			continue
		}
		bytes, constant, output := 0.0, true, false
		if key >= 0 {
			v := &s.Values[key]
			bytes, constant, output = float64(c.chunkBytes(v)), v.Kind == Input, v.Output
		} else {
			for _, b := range c.Bytes[-1-key] {
				bytes += float64(align(b)) / float64(c.P)
			}
		}
		for _, u := range uses {
			down[u.phase] += u.down * bytes * float64(c.P)
			up[u.phase] += u.up * bytes * float64(c.P)
		}
		add := func(from, to int, saves []use) {
			var some []use
			for _, u := range saves {
				if u.down > 0 || u.up > 0 {
					some = append(some, u)
				}
			}
			if len(some) > 0 {
				parts = append(parts, &part{candidate{Window: Window{Key: key, From: from, To: to}}, -1, some, bytes})
			}
		}
		n := len(uses)
		for a := range n {
			for b := a; b < n; b++ {
				saves := slices.Clone(uses[a : b+1])
				if saves[0].up > 0 && (b < n-1 || output) {
					saves[0].up = 0
				}
				if saves[0].down > 0 {
					saves[0].down--
				}
				add(uses[a].phase, uses[b].phase, saves)
			}
			for b := 0; constant && b < a; b++ {
				saves := append(slices.Clone(uses[a:]), uses[:b+1]...)
				saves[0].down--
				add(uses[a].phase, uses[b].phase, saves)
			}
		}
		if constant {
			add(Whole, Whole, uses)
		}
	}
	moves := []move{}
	for _, x := range parts {
		moves = append(moves, move{nil, x})
		for _, y := range parts {
			if x != y && x.Key == y.Key && x.within(&y.Window) {
				moves = append(moves, move{x, y})
			}
		}
	}
	value := func(m move) float64 {
		gain := 0.0
		m.changes(func(u use) {
			gain += l.cost(u.phase, down[u.phase], up[u.phase]) - l.cost(u.phase, down[u.phase]-u.down, up[u.phase]-u.up)
		})
		n := m.to.phases(len(s.Phases))
		if m.from != nil {
			n -= m.from.phases(len(s.Phases))
		}
		return gain / m.to.bytes / float64(n)
	}
	for len(moves) > 0 {
		best, most := -1, 0.0
		for i, m := range moves {
			if m.from != nil && (m.from.at < 0 || ch.windows[m.from.at].N == 0) {
				continue
			}
			if v := value(m); v > most {
				best, most = i, v
			}
		}
		if best < 0 {
			break
		}
		m := moves[best]
		if !m.make(c, ch, fits) {
			moves = slices.Delete(moves, best, best+1)
			continue
		}
		m.changes(func(u use) {
			down[u.phase] -= u.down
			up[u.phase] -= u.up
		})
	}
	settle(s, c, acc, ch)
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

// move gives an interval that part from keeps, or none, to part to, which keeps it longer.
type move struct{ from, to *part }

// changes calls f with what a phase saves by it, in bytes.
func (m move) changes(f func(use)) {
	if m.from == nil {
		for _, u := range m.to.saves {
			f(use{u.phase, u.down * m.to.bytes, u.up * m.to.bytes})
		}
		return
	}
	for _, u := range m.to.saves {
		for _, o := range m.from.saves {
			if o.phase == u.phase {
				u.down, u.up = u.down-o.down, u.up-o.up
			}
		}
		f(use{u.phase, u.down * m.to.bytes, u.up * m.to.bytes})
	}
}

// make does it where it fits. What lies behind in the same key moves on.
func (m move) make(c *Cells, ch *choice, fits func() bool) bool {
	was, x := slices.Clone(ch.windows), m.to
	if m.from != nil {
		ch.windows[m.from.at].N--
	}
	if x.at < 0 {
		x.at = len(ch.windows)
		ch.windows = append(ch.windows, x.Window)
	}
	ch.windows[x.at].N++
	if stack(c, ch.windows, x.Key) && fits() {
		return true
	}
	if ch.windows = was; len(was) == x.at {
		x.at = -1
	}
	return false
}

// stack lets the windows of a key that meet begin where those before them end. False: they have not all room.
func stack(c *Cells, list []Window, key int) bool {
	for i := range list {
		w := &list[i]
		if w.Key != key {
			continue
		}
		w.First = 0
		for k := range i {
			if o := &list[k]; o.Key == key && o.meets(w) {
				w.First = max(w.First, o.First+o.N)
			}
		}
		if w.First+w.N > c.P {
			return false
		}
	}
	return true
}

// settle makes resident what windows keep whole.
func settle(s *Spec, c *Cells, acc []map[int]access, ch *choice) {
	ch.windows = slices.DeleteFunc(ch.windows, func(w Window) bool {
		if w.N < c.P {
			return w.N == 0
		}
		if w.Key < 0 {
			ch.cells[-1-w.Key] = ch.cells[-1-w.Key] || w.From == Whole
			return w.From == Whole
		}
		from, to := lifetime(acc, w.Key)
		whole := w.From == Whole || s.Values[w.Key].Kind == Stored && w.From == from && w.To == to
		ch.resident[w.Key] = ch.resident[w.Key] || whole
		return whole
	})
}
