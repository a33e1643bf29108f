package layout

import (
	"slices"

	"sagann/dataflow/plan"
)

// The device memory that a choice takes. Fit measures hundreds of choices before it returns one.

// fitting is the search of a choice for one grid (Fit).
type fitting struct {
	o      plan.Options
	rule   plan.Rule
	ch     Choice // the choice so far
	spec   *plan.Spec
	c      *plan.Cells
	usage  *plan.Usage
	most   *largest
	work   []int64 // by phase: bytes of scratch memory
	sized  *Scratch
	beside beside
}

// beside is the measured size of the program Options.Beside, of which nothing stays on the device but what it shares with its base. It
// depends only on which shared inputs and cells are resident and on the field group of the choice, so it is kept for the next choice.
type beside struct {
	usage *plan.Usage
	group int   // of the measured choice; 0: not measured yet
	own   int64 // bytes of its Globals
	work  []int64
	above int64 // bytes that Beside needs above plan.Plan.Kept of the plan that is its base
}

// Scratch holds the choice that was measured last. Its memory is reused for the next one.
type Scratch struct {
	plan        plan.Plan
	l           Layout
	fit         fitter
	needs       []need
	floor       int64    // where what measure holds for several phases begins
	tops        []int64  // by phase: where its last buffer ends, above floor; -1: not known, at most ends and own
	ends        []int64  // by phase: where the last buffer ends that is in use for several phases, above floor
	loads       []int64  // by moment: bytes in use, above floor
	own         []int64  // by phase: those of them in buffers of that phase alone
	was         []int64  // loads of a phase before a change
	besides, so *Scratch // for Options.Beside, and for the choice so far (weigh)
}

// NewFitting prepares the search of a choice. It measures choices in z, which only one fitting may use at a time.
func NewFitting(s *plan.Spec, c *plan.Cells, o plan.Options, rule plan.Rule, z *Scratch) *fitting {
	f := &fitting{sized: z, o: o, rule: rule, spec: s, c: c, usage: plan.NewUsage(s), most: largestOf(c), work: plan.WorkOf(s, c)}
	if o.Beside != nil {
		f.beside.usage, f.beside.work = plan.NewUsage(o.Beside), plan.WorkOf(o.Beside, c)
	}
	return f
}

// size is the bytes of device memory that ch takes, for the program and for Options.Beside.
func (f *fitting) size(ch Choice) int64 {
	p := f.measure(&ch)
	if f.o.Beside == nil {
		return p.Peak
	}
	return max(p.Peak, p.Kept()+f.aside(p, &ch))
}

// aside is how much Options.Beside needs above Plan.Kept of p, the plan of ch.
func (f *fitting) aside(p *plan.Plan, ch *Choice) int64 {
	b := &f.beside
	if f.sized.besides == nil {
		f.sized.besides = &Scratch{}
	}
	z := f.sized.besides
	changed := b.group != ch.group
	if changed {
		q := z.measure(f, f.o.Beside, b.usage, b.work, &Choice{resident: make([]bool, len(f.o.Beside.Values)), cells: make([]bool, len(f.c.Bytes)), Slots: 1, group: ch.group}, p)
		q.Places.CellsIn = slices.Clone(q.Places.CellsIn)
		b.group, b.own = ch.group, z.floor-p.Kept()
	} else {
		changed = f.follow(z, p)
	}
	if changed {
		b.above = b.own
		for _, top := range z.tops {
			b.above = max(b.above, b.own+top)
		}
	}
	return b.above
}

// follow makes resident in z, where Options.Beside was measured, what is resident in p, and measures again the phases that use what is not
// as it was. It returns false if there are none.
func (f *fitting) follow(z *Scratch, p *plan.Plan) (changed bool) {
	u, to := f.beside.usage, &z.plan.Places
	again := func(key int) {
		for q := range u.Phases {
			if u.Uses(q, key) {
				z.tops[q], changed = z.peak(q, &Choice{Slots: 1, group: f.beside.group})-z.floor, true
			}
		}
	}
	for i, k := range u.Inputs {
		if k >= 0 && to.Resident[i] != p.Places.Resident[k] {
			to.Resident[i] = !to.Resident[i]
			again(i)
		}
	}
	for d, on := range p.Places.CellsIn {
		if to.CellsIn[d] != on {
			to.CellsIn[d] = on
			again(-1 - d)
		}
	}
	return changed
}

// measure lays ch out in f.sized, without the addresses of slots. The result is valid until the next call.
func (f *fitting) measure(ch *Choice) *plan.Plan {
	return f.sized.measure(f, f.spec, f.usage, f.work, ch, f.o.Base)
}

// swap exchanges what z and x hold, but for z.besides and z.so.
func (z *Scratch) swap(x *Scratch) {
	besides, so, more, other := z.besides, z.so, x.besides, x.so
	*z, *x = *x, *z
	z.besides, z.so, x.besides, x.so = besides, so, more, other
	z.l.Plan, x.l.Plan = &z.plan, &x.plan
}

func (z *Scratch) measure(f *fitting, s *plan.Spec, u *plan.Usage, work []int64, ch *Choice, base *plan.Plan) *plan.Plan {
	p, l := &z.plan, &z.l
	*p = plan.Plan{Spec: s, Cells: f.c, Schedule: f.o.Schedule, Devices: f.o.Devices, Groups: p.Groups, Globals: p.Globals,
		Places: plan.Places{ValueAt: p.Places.ValueAt, Resident: p.Places.Resident, Windows: p.Places.Windows}}
	*l = Layout{Plan: p, Usage: u, Largest: f.most, Places: l.Places, windows: l.windows, shape: l.shape, work: work, sizing: true}
	z.floor = l.placeFixed(ch, base)
	l.hold(&z.fit, z.floor, ch)
	p.Peak = max(p.Peak, z.floor+z.fit.top)
	n := len(s.Phases)
	z.fit.index(n)
	z.tops, z.ends, z.loads, z.own = zeroed(z.tops, n), zeroed(z.ends, n), zeroed(z.loads, n*l.clock.per), zeroed(z.own, n)
	for q := range s.Phases {
		end := z.peak(q, ch)
		z.tops[q], p.Peak = end-z.floor, max(p.Peak, end)
	}
	return p
}

// peak is where the last buffer of phase q ends, beside what measure has placed for several phases.
func (z *Scratch) peak(q int, ch *Choice) (top int64) {
	load := z.load(q)
	z.fit.phase(q, load)
	z.needs = z.l.needs(z.needs[:0], q, ch)
	own := int64(0)
	for _, x := range z.needs {
		n := x.bytes * int64(x.n)
		top = max(top, z.fit.take(n)+n)
		own += n
	}
	z.ends[q], z.own[q] = z.fit.end, own
	for m := range load {
		load[m] += own
	}
	return z.floor + top
}

// load is the bytes in use in the moments of phase q.
func (z *Scratch) load(q int) []int64 {
	c := z.l.clock
	return z.loads[c.begin(q) : c.end(q)+1]
}

// ok tells whether n bytes are within the budget.
func (f *fitting) ok(n int64) bool { return f.o.Budget == 0 || n <= f.o.Budget }

// fits tells whether the choice so far fits the budget.
func (f *fitting) fits() bool { return f.ok(f.size(f.ch)) }

// try sets a flag of the choice, and resets it unless enough accepts the bytes that the choice then takes.
func (f *fitting) try(on *bool, enough func(n int64) bool) {
	was := *on
	if *on = true; !enough(f.size(f.ch)) {
		*on = was
	}
}
