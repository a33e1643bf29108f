package layout

import (
	"slices"
	"sort"

	"sagann/dataflow/plan"
)

// What stays on the device is chosen greedily, by the copies that a byte of it saves. That
// leaves two things open, which the search (package tune) tries both ways: whether the phases count for which
// memory is taken, and single values and directions for which the rule is wrong.

// priority is a Rule for one program and grid: names are numbers, and the estimate knows the kernels' times.
type priority struct {
	plan.Rule
	first, never []int  // keys (Window.Key)
	level        *Level // for Rule.Balance; nil: memory is not dealt out by it
}

// NewPriority is r for s.
func NewPriority(s *plan.Spec, r plan.Rule, l *Level) priority {
	return priority{Rule: r, first: s.Keys(r.First), never: s.Keys(r.Never), level: l}
}

// worth is what a copy in phase q counts.
func (t *priority) worth(q int) float64 {
	if t.Price == nil {
		return 1
	}
	return t.Price[q]
}

// keep makes values and cells resident, the most traffic per byte first, while they fit.
func keep(s *plan.Spec, c *plan.Cells, acc [][]plan.Access, ch *Choice, t priority, fits func() bool) {
	type item struct {
		key     int
		benefit float64
	}
	var items []item
	reads := make([]float64, len(s.Values))
	var passes [2]float64
	for i, acc := range acc {
		w := t.worth(i)
		for id, a := range acc {
			if a.Other {
				reads[id] += w * float64(c.P)
			}
			if a.OwnRead || a.OwnWrite {
				reads[id] += w
			}
		}
		for _, st := range s.Phases[i].Steps {
			if st.Kind == plan.Stream {
				passes[st.Dir] += w
			}
		}
	}
	add := func(key int, saved float64, phases int) {
		if t.Brief {
			saved /= float64(phases)
		}
		if !slices.Contains(t.never, key) {
			items = append(items, item{key, saved})
		}
	}
	for id, v := range s.Values {
		if v.Kind == plan.Temp || reads[id] == 0 {
			continue
		}
		phases := len(s.Phases)
		if from, to := plan.Lifetime(acc, id); v.Kind == plan.Stored {
			phases = to - from + 1
		}
		add(id, reads[id], phases)
	}
	for d := range 2 {
		if c.Bytes[d] != nil {
			add(-1-d, passes[d], len(s.Phases))
		}
	}
	sort.SliceStable(items, func(i, j int) bool {
		a, b := slices.Contains(t.first, items[i].key), slices.Contains(t.first, items[j].key)
		return a && !b || a == b && items[i].benefit > items[j].benefit
	})
	for _, it := range items {
		on := &ch.cells[max(0, -1-it.key)]
		if it.key >= 0 {
			on = &ch.resident[it.key]
		}
		was := *on
		*on = true
		if !fits() {
			*on = was
		}
	}
}

// widen gives every phase as many slots as its memory has room for: they keep chunks
// from one visit to the next. Phases differ, as each has buffers of its own.
func widen(s *plan.Spec, c *plan.Cells, ch *Choice, fits func() bool) {
	ch.more = make([]int, len(s.Phases))
	for i := range ch.more {
		ch.more[i] = ch.Slots
	}
	for i := range ch.more {
		if !streams(&s.Phases[i]) {
			continue
		}
		ch.more[i] += sort.Search(c.P-ch.Slots, func(n int) bool {
			before := ch.more[i]
			defer func() { ch.more[i] = before }()
			ch.more[i] += n + 1
			return !fits()
		})
	}
}

// regroup has every phase make as few visits as its memory has room for, with regroupSlots slots:
// then the sources come less often. Sums depend on it, so what shares the memory of a Base, as
// evaluation does, has the same groups whatever the budget.
func regroup(s *plan.Spec, c *plan.Cells, ch *Choice, devices int, fits func() bool) {
	share := (c.P + devices - 1) / devices
	ch.groups, ch.more = slices.Repeat([]int{ch.group}, len(s.Phases)), slices.Repeat([]int{ch.Slots}, len(s.Phases))
	for i := range ch.groups {
		if !streams(&s.Phases[i]) {
			continue
		}
		ch.more[i] = max(ch.Slots, regroupSlots)
		for visits := 1; visits < (share+ch.group-1)/ch.group; visits++ {
			if ch.groups[i] = (share + visits - 1) / visits; fits() {
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
