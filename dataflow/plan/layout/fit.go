package layout

import (
	"math"

	"sagann/dataflow/plan"
)

// Fit finds the best choice for c that stays within the budget: as many slots as
// asked for, then resident what saves most transfer per byte. It returns the bytes
// that the smallest choice needs when none fits, else 0.
func (f *fitting) Fit() (Choice, int64) {
	s, c, o := f.spec, f.c, f.o
	size := f.size
	ok := f.ok
	ch := Choice{resident: make([]bool, len(s.Values)), Slots: 3}
	if o.Slots > 0 { // more than cells would change nothing
		ch.Slots = min(o.Slots, c.P*c.P)
	}
	ch.ahead, ch.group = f.rule.Ahead*c.P/8, max(1, o.Group)
	if n := len(o.Groups); n > 0 {
		ch.group = max(1, o.Groups[n-1])
		for i := range s.Phases {
			ch.groups = append(ch.groups, max(1, o.Groups[min(i, n-1)]))
		}
	}
	if o.Schedule == plan.DestOrder {
		ch.group, ch.groups = 1, nil
	}
	smallest := int64(math.MaxInt64)
	if !o.Stream {
		all := Choice{resident: make([]bool, len(s.Values)), cells: [2]bool{true, true}, Slots: 1, group: ch.group, groups: ch.groups, All: true}
		for i := range all.resident {
			all.resident[i] = s.Values[i].Kind != plan.Temp
		}
		if smallest = size(all); ok(smallest) {
			if o.Budget > 0 && (o.Slots == 0 || o.More) { // what is made on arrival is made once
				widen(s, c, &all, func() bool { return ok(size(all)) })
			}
			return all, 0
		}
	}
	need := f.narrow(&ch)
	if !ok(need) {
		return ch, min(need, smallest)
	}
	if !o.Stream {
		windows := o.Windows && o.Budget > 0 && o.Devices == 1 && o.Schedule != plan.DestOrder
		if windows && f.rule.level != nil {
			f.rule.deal(s, c, f.usage.Acc, &ch, func() bool { return ok(size(ch)) }, func(q int) int64 { return o.Budget - f.sized.used(q) })
		} else {
			keep(s, c, f.usage.Acc, &ch, f.rule, func() bool { return ok(size(ch)) })
		}
		if windows && f.rule.Part {
			fillIn(s, c, f.usage.Acc, &ch, f.rule, func() bool { return ok(size(ch)) })
		}
		if ch.group > 1 && !f.rule.Even && o.Groups == nil && o.Base == nil && (o.Slots == 0 || o.More) {
			regroup(s, c, &ch, max(1, o.Devices), func() bool { return ok(size(ch)) })
		}
		if o.Slots == 0 || o.More {
			widen(s, c, &ch, func() bool { return ok(size(ch)) })
		}
		if windows {
			fillIn(s, c, f.usage.Acc, &ch, f.rule, func() bool { return ok(size(ch)) })
		}
	}
	return ch, 0
}

// shrink makes values and cells resident that take no more room whole than in slots, as happens with few intervals.
func shrink(s *plan.Spec, ch *Choice, need int64, size func(Choice) int64) int64 {
	try := func(on *bool) {
		*on = true
		if n := size(*ch); n <= need {
			need = n
		} else {
			*on = false
		}
	}
	for id := range s.Values {
		if s.Values[id].Kind != plan.Temp {
			try(&ch.resident[id])
		}
	}
	for d := range ch.cells {
		try(&ch.cells[d])
	}
	return need
}

// ok tells whether n bytes are within the budget.
func (f *fitting) ok(n int64) bool { return f.o.Budget == 0 || n <= f.o.Budget }

// narrow takes slots from ch until it fits. If it does not with one slot, it shrinks ch. It returns the bytes that ch then takes.
func (f *fitting) narrow(ch *Choice) int64 {
	need := f.size(*ch)
	for !f.ok(need) && ch.Slots > 1 {
		ch.Slots--
		need = f.size(*ch)
	}
	if !f.ok(need) && !f.o.Stream {
		need = shrink(f.spec, ch, need, f.size)
	}
	return need
}
