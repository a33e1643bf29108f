package layout

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sagann/dataflow/plan"
)

// What a choice takes. Hundreds are measured before one is laid out, and each differs little
// from the one before: what lives for several phases is placed again for each choice, but of the
// phases only those whose memory changes are.

// fitting measures choices for one grid.
type fitting struct {
	o        plan.Options
	rule     plan.Rule
	estimate *Estimate // memory is dealt out by it; nil: it is not
	ch       Choice    // so far
	spec     *plan.Spec
	c        *plan.Cells
	usage    *plan.Usage
	most     *largest
	sized    *Scratch
	beside   beside
}

// beside is what the program that is planned beside takes, above what it leaves alone.
type beside struct {
	usage    *plan.Usage
	resident []bool // with what resident; nil: not measured yet
	cells    [2]bool
	group    int
	above    int64
}

// Scratch is the choice that was measured last. Its memory is used again.
type Scratch struct {
	of     *fitting // nil: none
	ch     Choice
	plan   plan.Plan
	l      Layout
	fit    fitter
	before []held
	floor  int64
	phases []sizedPhase
	needs  []need // scratch
}

// sizedPhase is a phase of it.
type sizedPhase struct {
	slots, group int
	top          int64 // above the floor
	bytes        int64 // of its own buffers
	dirty        bool
}

// NewFitting measures in z, which one fitting uses at a time.
func NewFitting(s *plan.Spec, c *plan.Cells, o plan.Options, rule plan.Rule, e *Estimate, z *Scratch) *fitting {
	f := &fitting{sized: z, o: o, rule: rule, estimate: e, spec: s, c: c, usage: plan.NewUsage(s), most: largestOf(c)}
	if o.Beside != nil {
		f.beside.usage = plan.NewUsage(o.Beside)
	}
	return f
}

// size is the bytes that ch takes.
func (f *fitting) size(ch Choice) int64 {
	p := f.measure(&ch)
	if f.o.Beside == nil {
		return p.Peak
	}
	b := &f.beside
	if b.resident == nil || ch.cells != b.cells || ch.group != b.group || !slices.Equal(ch.resident, b.resident) {
		q := (&Scratch{}).measure(f, f.o.Beside, b.usage, &Choice{resident: make([]bool, len(f.o.Beside.Values)), Slots: 1, group: ch.group}, p, true)
		b.resident, b.cells, b.group, b.above = slices.Clone(ch.resident), ch.cells, ch.group, q.Peak-p.Kept()
	}
	return max(p.Peak, p.Kept()+b.above)
}

// measure lays ch out in f.sized, all but the addresses inside phases. The result holds until another choice is measured.
func (f *fitting) measure(ch *Choice) *plan.Plan {
	z := f.sized
	fresh := z.of != f || ch.Slots != z.ch.Slots || ch.ahead != z.ch.ahead || ch.cells != z.ch.cells || !slices.Equal(ch.resident, z.ch.resident)
	z.of = f
	return z.measure(f, f.spec, f.usage, ch, f.o.Base, fresh)
}

// measure lays ch of a program out; fresh: all of it.
func (z *Scratch) measure(f *fitting, s *plan.Spec, u *plan.Usage, ch *Choice, base *plan.Plan, fresh bool) *plan.Plan {
	p, l := &z.plan, &z.l
	if fresh { // memory is used again
		*p = plan.Plan{Spec: s, Cells: f.c, Schedule: f.o.Schedule, Devices: f.o.Devices, Groups: p.Groups, Globals: p.Globals,
			Places: plan.Places{ValueAt: p.Places.ValueAt, Resident: p.Places.Resident, Windows: p.Places.Windows}}
		*l = Layout{Plan: p, Usage: u, Largest: f.most, Places: l.Places, sizing: true}
		z.phases = zeroed(z.phases, len(p.Spec.Phases))
	}
	z.before = append(z.before[:0], z.fit.order...)
	z.floor = l.placeFixed(ch, base)
	l.hold(&z.fit, z.floor, ch)
	z.mark(ch, fresh)
	top := z.fit.top
	for q := range z.phases {
		ph := &z.phases[q]
		if ph.dirty {
			ph.slots, ph.group, ph.top = ch.phase(q), p.Groups[q], 0
			ph.bytes = 0
			z.fit.phase(q)
			z.needs = l.needs(z.needs[:0], q, ch)
			for _, x := range z.needs {
				n := x.bytes * int64(x.n)
				ph.top = max(ph.top, z.fit.take(n)+n)
				ph.bytes += n
			}
		}
		top = max(top, ph.top)
	}
	p.Peak = max(p.Peak, z.floor+top)
	z.keep(ch)
	return p
}

// used is how many bytes are in use in phase q.
func (z *Scratch) used(q int) int64 {
	n := z.floor + z.phases[q].bytes
	for i := range z.fit.held {
		if h := &z.fit.held[i]; h.live(q) {
			n += h.end - h.at
		}
	}
	return n
}

// mark finds the phases that ch changes.
func (z *Scratch) mark(ch *Choice, fresh bool) {
	for q := range z.phases {
		ph := &z.phases[q]
		ph.dirty = fresh || ph.slots != ch.phase(q) || ph.group != z.plan.Groups[q]
	}
	differ(z.before, z.fit.order, func(a, b *held) bool { return *a == *b }, z.dirty)
	differ(z.ch.windows, ch.windows, func(a, b *plan.Window) bool { return a.Key == b.Key && a.From == b.From && a.To == b.To && a.N == b.N },
		func(w *plan.Window) { z.dirty(&held{from: w.From, to: w.To}) })
}

// dirty marks the phases in which h is in use.
func (z *Scratch) dirty(h *held) {
	for q := range z.phases {
		if h.from == plan.Whole || h.live(q) {
			z.phases[q].dirty = true
		}
	}
}

// differ calls f for what is not the same in two lists, place by place.
func differ[T any](a, b []T, same func(a, b *T) bool, f func(*T)) {
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && same(&a[i], &b[i]) {
			continue
		}
		if i < len(a) {
			f(&a[i])
		}
		if i < len(b) {
			f(&b[i])
		}
	}
}

// keep remembers ch.
func (z *Scratch) keep(ch *Choice) {
	resident, windows := append(z.ch.resident[:0], ch.resident...), append(z.ch.windows[:0], ch.windows...)
	z.ch = Choice{resident: resident, windows: windows, Slots: ch.Slots, ahead: ch.ahead, cells: ch.cells}
}

// Layout says all that the tasks of a plan of ch depend on, beside the options: equal
// layouts are equal plans.
func (f *fitting) Layout(ch Choice) string {
	p := f.measure(&ch)
	b := fmt.Appendf(nil, "%s %d %d %v %v %v ", f.o.Schedule, f.c.P, ch.group, ch.groups, p.Places.Resident, p.Places.CellsIn)
	put := func(n ...int64) {
		for _, n := range n {
			b = binary.AppendVarint(b, n)
		}
	}
	for _, h := range f.sized.fit.order {
		put(h.at, h.end)
	}
	for q := range f.spec.Phases {
		for _, x := range f.sized.l.needs(nil, q, &ch) {
			put(x.bytes, int64(x.n))
		}
		if f.usage.Phases[q].Dirs != [2]bool{} {
			put(int64(ch.phase(q)))
		}
	}
	for _, w := range p.Places.Windows {
		put(int64(w.Key), int64(w.From), int64(w.To), int64(w.First), int64(w.N))
	}
	return string(b)
}
