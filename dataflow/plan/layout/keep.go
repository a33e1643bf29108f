package layout

import (
	"slices"
	"sort"

	"sagann/dataflow/plan"
)

// What stays on the device is chosen greedily, by the copies that a byte of it saves. That
// leaves two things open, which the search (package tune) tries both ways: whether the phases count for which
// memory is taken, and single values and directions for which the rule is wrong.

// worth is what a copy in phase q counts.
func (f *fitting) worth(q int) float64 {
	if f.rule.Price == nil {
		return 1
	}
	return f.rule.Price[q]
}

// keep makes values and cells resident, the most traffic per byte first, while they fit.
func (f *fitting) keep() {
	type item struct {
		on    *bool
		first bool
		saved float64
	}
	n := len(f.spec.Phases)
	var items []item
	reads := make([]float64, len(f.spec.Values))
	var passes [2]float64
	for i, acc := range f.usage.Acc {
		w := f.worth(i)
		for id, a := range acc {
			if a.Other {
				reads[id] += w * float64(f.c.P)
			}
			if a.OwnRead || a.OwnWrite {
				reads[id] += w
			}
		}
		for _, st := range f.spec.Phases[i].Steps {
			if st.Kind == plan.Stream {
				passes[st.Dir] += w
			}
		}
	}
	add := func(key int, on *bool, saved float64, phases int) {
		if f.rule.Brief {
			saved /= float64(phases)
		}
		if !f.spec.Says(f.rule.Never, key) {
			items = append(items, item{on, f.spec.Says(f.rule.First, key), saved})
		}
	}
	for id, v := range f.spec.Values {
		if v.Kind == plan.Temp || reads[id] == 0 {
			continue
		}
		phases := n
		if from, to := plan.Lifetime(f.usage.Acc, id); v.Kind == plan.Stored {
			phases = to - from + 1
		}
		add(id, &f.ch.resident[id], reads[id], phases)
	}
	for d := range 2 {
		if f.c.Bytes[d] != nil {
			add(-1-d, &f.ch.cells[d], passes[d], n)
		}
	}
	sort.SliceStable(items, func(i, j int) bool {
		a, b := &items[i], &items[j]
		return a.first && !b.first || a.first == b.first && a.saved > b.saved
	})
	for _, it := range items {
		f.try(it.on, f.ok)
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
