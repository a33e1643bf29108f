package layout

import (
	"cmp"
	"slices"
	"sort"

	"sagann/dataflow/plan"
)

// What stays on the device is chosen greedily, by the copies that a byte of it saves. That leaves open what the search (package tune)
// tries: whether memory goes first to what fits whole, to windows or to slots, whether the phases count for which it is taken, and
// what a copy counts in which phase.

// worth is what a copy in phase q counts.
func (f *fitting) worth(q int) float64 {
	if f.rule.Price == nil {
		return 1
	}
	return f.rule.Price[q]
}

// keys are those of what may stay: values, and the cells of directions (plan.Window).
func (f *fitting) keys() (list []int) {
	for id := range f.spec.Values {
		if f.spec.Values[id].Kind != plan.Temp {
			list = append(list, id)
		}
	}
	for d := range 2 {
		if f.c.Bytes[d] != nil {
			list = append(list, -1-d)
		}
	}
	return list
}

// resident is where the choice says whether what key names is.
func (f *fitting) resident(key int) *bool {
	if key < 0 {
		return &f.ch.cells[-1-key]
	}
	return &f.ch.resident[key]
}

// spans lists the windows that could be, the best first.
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

// keep makes resident what fits, the best first. With parts it gives the others windows of as many intervals as fit.
func (f *fitting) keep(parts bool) {
	for _, x := range f.spans() {
		on := f.resident(x.Key)
		if *on {
			continue
		}
		for i := range f.ch.windows {
			if w := &f.ch.windows[i]; w.Key == x.Key && w.Meets(&x.Window) {
				x.First = max(x.First, w.First+w.N)
			}
		}
		if x.life && x.First == 0 {
			f.try(on, f.ok)
		}
		if parts && !*on && !x.again && x.First < f.c.P {
			f.open(x.Window)
		}
	}
}

// open adds w to the choice, with as many intervals from w.First on as fit.
func (f *fitting) open(w plan.Window) {
	ch, at := &f.ch, len(f.ch.windows)
	ch.windows = append(ch.windows, w)
	holds := func(n int) bool {
		ch.windows[at].N = n
		return f.fits()
	}
	n := 0
	if holds(1) {
		n = 1 + sort.Search(f.c.P-w.First-1, func(n int) bool { return !holds(n + 2) })
	}
	if ch.windows[at].N = n; n == 0 {
		ch.windows = ch.windows[:at]
	}
}

// widen gives every phase as many slots as its memory has room for: they keep chunks
// from one visit to the next. Phases differ, as each has buffers of its own.
func (f *fitting) widen() {
	ch := &f.ch
	ch.more = slices.Repeat([]int{ch.Slots}, len(f.spec.Phases))
	for i := range ch.more {
		if streams(&f.spec.Phases[i]) {
			ch.more[i] += sort.Search(f.c.P-ch.Slots, func(n int) bool {
				defer func() { ch.more[i] = ch.Slots }()
				ch.more[i] += n + 1
				return !f.fits()
			})
		}
	}
}

// regroup has every phase make as few visits as its memory has room for, with regroupSlots slots:
// then the sources come less often. Sums depend on it, so what shares the memory of a Base, as
// evaluation does, has the same groups whatever the budget.
func (f *fitting) regroup() {
	ch, devices := &f.ch, max(1, f.o.Devices)
	share := (f.c.P + devices - 1) / devices
	ch.groups, ch.more = slices.Repeat([]int{ch.group}, len(f.spec.Phases)), slices.Repeat([]int{ch.Slots}, len(f.spec.Phases))
	for i := range ch.groups {
		if !streams(&f.spec.Phases[i]) {
			continue
		}
		ch.more[i] = max(ch.Slots, regroupSlots)
		for visits := 1; visits < (share+ch.group-1)/ch.group; visits++ {
			if ch.groups[i] = (share + visits - 1) / visits; f.fits() {
				break
			}
			ch.groups[i] = ch.group
		}
		ch.more[i] = ch.Slots
	}
	ch.more = nil
}

const regroupSlots = 2

func streams(ph *plan.Phase) bool {
	return slices.ContainsFunc(ph.Steps, func(st plan.Step) bool { return st.Kind == plan.Stream })
}
