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

// links is the time of copies of so many bytes on a link down, up, and both ways together.
func (l *Level) links(down, up float64) [3]float64 {
	return [3]float64{down / l.down, up / l.up, (down + up) / l.both}
}

// copies is the longest of them.
func (l *Level) copies(down, up float64) float64 {
	return max(down/l.down, up/l.up, (down+up)/l.both)
}

// balance is memory that is being dealt out.
type balance struct {
	s        *plan.Spec
	c        *plan.Cells
	acc      [][]plan.Access
	ch       *Choice
	t        priority
	fits     func() bool
	asked    int       // how often fits was
	down, up []float64 // bytes by phase
	parts    []*part
	moves    []move
	forecast forecast  // with those bytes
	bounds   []float64 // by move: what bound and value say
	slack    float64   // of bounds
	stale    []bool    // by move: its bound is to be worked out
	open     []int     // moves that could be made and gain something, scratch of best
	at       [][]int   // by phase: moves that touch it
}

// part is a window that may grow.
type part struct {
	plan.Window
	at    int     // in choice.windows; -1: not yet
	saves []use   // for an interval
	bytes float64 // an interval
}

// move gives an interval that part from keeps, or none does, to part to, which keeps it longer.
type move struct {
	from, to *part
	changes  []change
	phases   int     // in which it takes memory
	favour   float64 // what its gains count
}

// change is what a move takes off the copies of a phase.
type change struct {
	use            // bytes
	ns  [3]float64 // as level.links
	was float64    // scratch of gain
}

// Bounds of balancing: how often it may ask whether a choice fits, and how many moves in a row that do not.
const (
	balanceAsks  = 1000
	balanceFails = 4
)

// deal deals memory out to windows by t.level.
func (t *priority) deal(s *plan.Spec, c *plan.Cells, acc [][]plan.Access, ch *Choice, fits func() bool) {
	b := t.balancing(s, c, acc, ch, fits)
	b.fill(nil)
	b.improve()
	b.settle()
}

// balance lists what could be dealt out.
func (t *priority) balancing(s *plan.Spec, c *plan.Cells, acc [][]plan.Access, ch *Choice, fits func() bool) *balance {
	b := &balance{s: s, c: c, acc: acc, ch: ch, t: *t, down: make([]float64, len(s.Phases)), up: make([]float64, len(s.Phases))}
	b.fits = func() bool {
		b.asked++
		return fits()
	}
	for id := range s.Values {
		if v := &s.Values[id]; v.Kind != plan.Temp && !ch.resident[id] {
			b.add(id, float64(c.ChunkBytes(v)), v.Kind == plan.Input, v.Output)
		}
	}
	for d := range 2 {
		if c.Bytes[d] != nil && !ch.cells[d] {
			bytes := 0.0
			for _, n := range c.Bytes[d] {
				bytes += float64(plan.Align(n)) / float64(c.P)
			}
			b.add(-1-d, bytes, true, false)
		}
	}
	for _, x := range b.parts {
		b.move(nil, x)
		for _, y := range b.parts {
			if x != y && x.Key == y.Key && x.Within(&y.Window) {
				b.move(x, y)
			}
		}
	}
	b.begin()
	return b
}

// add lists the windows that could keep what key names.
func (b *balance) add(key int, bytes float64, constant, output bool) {
	uses := usesOf(b.s, b.c, b.acc, b.ch, key)
	for _, u := range uses {
		b.down[u.phase] += u.down * bytes * float64(b.c.P)
		b.up[u.phase] += u.up * bytes * float64(b.c.P)
	}
	add := func(from, to int, saves []use) {
		if slices.ContainsFunc(saves, func(u use) bool { return u.down+u.up > 0 }) {
			b.parts = append(b.parts, &part{plan.Window{Key: key, From: from, To: to}, -1, saves, bytes})
		}
	}
	for i := range uses {
		for k := i; k < len(uses); k++ {
			saves := slices.Clone(uses[i : k+1])
			if saves[0].up > 0 && (k < len(uses)-1 || output) {
				saves[0].up = 0
			}
			saves[0].down = max(0, saves[0].down-1)
			add(uses[i].phase, uses[k].phase, saves)
		}
		for k := 0; constant && k < i; k++ {
			saves := slices.Concat(uses[i:], uses[:k+1])
			saves[0].down--
			add(uses[i].phase, uses[k].phase, saves)
		}
	}
	if constant && len(uses) > 0 {
		add(plan.Whole, plan.Whole, uses)
	}
}

// move lists a move.
func (b *balance) move(from, to *part) {
	m := move{from: from, to: to, phases: to.Phases(len(b.s.Phases)), favour: 1}
	switch {
	case slices.Contains(b.t.first, to.Key):
		m.favour = 2
	case slices.Contains(b.t.never, to.Key):
		m.favour = 0.5
	}
	if from != nil {
		m.phases -= from.Phases(len(b.s.Phases))
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
		m.changes = append(m.changes, change{use: u, ns: b.t.level.links(u.down, u.up)})
	}
	b.moves = append(b.moves, m)
}

// count adds n times what m changes.
func (b *balance) count(m *move, n float64) {
	for _, u := range m.changes {
		b.down[u.phase] += n * u.down
		b.up[u.phase] += n * u.up
	}
}
