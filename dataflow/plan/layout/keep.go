package layout

import (
	"cmp"
	"slices"
	"sort"

	"sagann/dataflow/plan"
)

// What stays on the device is chosen greedily, by the copies that a byte of memory saves. The search (package tune) varies three
// settings of this (plan.Rule): whether whole values, windows or slots get memory first (First), whether saved copies are divided by
// the number of phases for which memory is taken (Brief), and how much a copy counts in each phase (Price).

// keys lists what may stay on the device, as plan.Window.Key: values, and the cells of a direction.
func (f *fitting) keys() (list []int) {
	for id := range f.spec.Values {
		if f.spec.Values[id].Kind != plan.Temp {
			list = append(list, id)
		}
	}
	for d := range f.c.Bytes {
		if f.c.Bytes[d] != nil {
			list = append(list, -1-d)
		}
	}
	return list
}

// resident is the flag of the choice that makes key's value or cells resident.
func (f *fitting) resident(key int) *bool {
	if key < 0 {
		return &f.ch.cells[-1-key]
	}
	return &f.ch.resident[key]
}

// spans lists all possible windows, those that save most first.
func (f *fitting) spans() (list []span) {
	for _, key := range f.keys() {
		list = append(list, f.spansOf(key)...)
	}
	value := func(x *span) float64 {
		if f.rule.Brief {
			return x.saved / float64(x.Phases(len(f.spec.Phases)))
		}
		return x.saved
	}
	slices.SortStableFunc(list, func(x, y span) int {
		return cmp.Or(cmp.Compare(value(&y), value(&x)), cmp.Compare(y.saved, x.saved))
	})
	return list
}

// keep goes through the possible windows, best first, and makes whole values and directions resident if they fit. With parts it
// opens windows, with as many intervals as fit, for those that do not fit whole.
func (f *fitting) keep(parts bool) {
	f.weigh()
	for _, x := range f.spans() {
		on := f.resident(x.Key)
		if *on {
			continue
		}
		s := plan.KeySpan(f.spec, f.c, x.Key)
		end := s.First + s.N
		for i := range f.ch.windows {
			if w := &f.ch.windows[i]; w.Key == x.Key && w.Meets(&x.Window) {
				if f.fromEnd(w) {
					end = min(end, w.First)
				} else {
					x.First = max(x.First, w.First+w.N)
				}
			}
		}
		if x.N = s.N; x.life && x.First == s.First && end == s.First+s.N && f.light(x.Window, f.o.Budget) {
			switch {
			case !f.weighs():
				f.try(on, f.ok)
			case x.From != plan.Whole:
				*on = f.holds(x.Key)
			case f.fitsWith(x.Window):
				*on = true
				f.settle(x.Key)
			}
		}
		if parts && !*on && !x.again && x.First < end {
			f.open(x.Window, end)
		}
	}
}

// fromEnd tells whether window w has the last intervals of its key: if it stays for the whole run, and others take memory chunk by chunk, as values
// that a phase makes can take their place if these have the first intervals.
func (f *fitting) fromEnd(w *plan.Window) bool {
	return w.From == plan.Whole && f.rule.Over && f.o.Devices <= 1 && f.unit(w) == 1
}

// open adds w to the choice, with as many intervals from w.First on, before end, as fit.
func (f *fitting) open(w plan.Window, end int) {
	ch, at, s := &f.ch, len(f.ch.windows), plan.KeySpan(f.spec, f.c, w.Key)
	from, unit := f.fromEnd(&w), f.unit(&w)
	w.First += (unit - (w.First-s.First)%unit) % unit
	holds := func(n int) bool {
		if w.N = n; from {
			w.First = end - n
		}
		switch {
		case !f.light(w, f.o.Budget):
			return false
		case f.simple(&w):
			return f.fitsWith(w)
		}
		ch.windows = append(ch.windows, w)
		defer func() { ch.windows = ch.windows[:at] }()
		return f.fits()
	}
	left := end - w.First
	upTo := func(n int) int { return min(n*unit, left) }
	if left <= 0 || !holds(upTo(1)) {
		return
	}
	w.N = upTo(1 + sort.Search((left+unit-1)/unit-1, func(n int) bool { return !holds(upTo(n + 2)) }))
	if from {
		w.First = end - w.N
	}
	ch.windows = append(ch.windows, w)
	if f.simple(&w) {
		f.stay(w)
	} else {
		f.weigh()
	}
}

// unit is how many intervals w has together, as wide cells read its value at the far end.
func (f *fitting) unit(w *plan.Window) int {
	for q := range f.spec.Phases {
		if f.c.Wide > 0 && w.Key >= 0 && w.Live(q) && f.usage.Acc[q][w.Key].Other {
			return min(f.c.Wide, plan.KeySpan(f.spec, f.c, w.Key).N)
		}
	}
	return 1
}

// widen gives every phase as many slots as fit. More slots keep chunks from one visit to the next. The number
// differs by phase, as each phase has buffers of its own.
func (f *fitting) widen() {
	ch := &f.ch
	ch.more = slices.Repeat([]int{ch.Slots}, len(f.spec.Phases))
	f.measure(ch) // slots change neither what is held nor other phases
	for i := range ch.more {
		if streams(&f.spec.Phases[i]) {
			ch.more[i] += sort.Search(f.c.P-ch.Slots, func(n int) bool {
				defer func() { ch.more[i] = ch.Slots }()
				ch.more[i] += n + 1
				return !f.ok(f.sized.peak(i, ch))
			})
		}
	}
}

// regroup enlarges the groups of every phase, so that the phase makes as few visits as fit, with
// regroupSlots slots. Fewer visits load the sources less often. The order of sums depends on groups, so Fit does not
// call it for a plan with a Base, as evaluation has: its groups must not depend on the budget.
func (f *fitting) regroup() {
	ch, devices := &f.ch, max(1, f.o.Devices)
	share := (f.c.P + devices - 1) / devices
	ch.groups, ch.more = slices.Repeat([]int{ch.group}, len(f.spec.Phases)), slices.Repeat([]int{ch.Slots}, len(f.spec.Phases))
	f.measure(ch) // groups change neither what is held nor other phases
	for i := range ch.groups {
		if !streams(&f.spec.Phases[i]) {
			continue
		}
		ch.more[i] = max(ch.Slots, regroupSlots)
		for visits := 1; visits < (share+ch.group-1)/ch.group; visits++ {
			ch.groups[i] = (share + visits - 1) / visits
			if f.sized.l.group(ch); f.ok(f.sized.peak(i, ch)) {
				break
			}
			ch.groups[i] = ch.group
		}
		ch.more[i] = ch.Slots
	}
	ch.more = nil
}

const regroupSlots = 2
