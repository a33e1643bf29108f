package layout

import (
	"math"

	"sagann/dataflow/plan"
)

// Fit finds a choice that stays within the budget: as many slots as asked for, then what the rule gives memory to. It returns the bytes that the smallest choice needs when none fits, else 0.
func (f *fitting) Fit() (Choice, int64) {
	s, o := f.spec, f.o
	begin := Choice{resident: make([]bool, len(s.Values)), Slots: 3, ahead: f.rule.Ahead * f.c.P / 8, group: max(1, o.Group)}
	if o.Slots > 0 { // more than cells would change nothing
		begin.Slots = min(o.Slots, f.c.P*f.c.P)
	}
	if n := len(o.Groups); n > 0 {
		begin.group = max(1, o.Groups[n-1])
		for i := range s.Phases {
			begin.groups = append(begin.groups, max(1, o.Groups[min(i, n-1)]))
		}
	}
	if o.Schedule == plan.DestOrder {
		begin.group, begin.groups = 1, nil
	}
	free := o.Slots == 0 || o.More
	smallest := int64(math.MaxInt64)
	if !o.Stream {
		f.ch = Choice{resident: make([]bool, len(s.Values)), Slots: 1, group: begin.group, groups: begin.groups, All: true}
		for _, key := range f.keys() {
			*f.resident(key) = true
		}
		if smallest = f.size(f.ch); f.ok(smallest) {
			if o.Budget > 0 && free { // what is made on arrival is made once
				f.widen()
			}
			return f.ch, 0
		}
	}
	f.ch = begin
	if need := f.narrow(); !f.ok(need) {
		return f.ch, min(need, smallest)
	}
	if o.Stream {
		return f.ch, 0
	}
	windows := o.Windows && o.Budget > 0 && o.Devices == 1 && o.Schedule != plan.DestOrder
	if f.rule.First != plan.SlotsFirst {
		f.keep(windows && f.rule.First == plan.WindowsFirst)
	}
	if f.ch.group > 1 && o.Groups == nil && o.Base == nil && free {
		f.regroup()
	}
	if free {
		f.widen()
	}
	if f.rule.First != plan.WindowsFirst {
		f.keep(windows)
	}
	return f.ch, 0
}

// ok tells whether n bytes are within the budget.
func (f *fitting) ok(n int64) bool { return f.o.Budget == 0 || n <= f.o.Budget }

// fits tells whether the choice is.
func (f *fitting) fits() bool { return f.ok(f.size(f.ch)) }

// try sets a flag of the choice where enough says so of the bytes that it then takes.
func (f *fitting) try(on *bool, enough func(n int64) bool) {
	was := *on
	if *on = true; !enough(f.size(f.ch)) {
		*on = was
	}
}

// narrow takes buffers for reading ahead and slots from the choice until it fits. If it does not with one slot, it makes resident what takes no more room whole than
// in slots, as happens with few intervals. It returns the bytes that the choice then takes.
func (f *fitting) narrow() int64 {
	ch := &f.ch
	need := f.size(*ch)
	for !f.ok(need) && (ch.Slots > 1 || ch.ahead > 0) {
		ch.Slots, ch.ahead = max(1, ch.Slots-1), 0
		need = f.size(*ch)
	}
	if f.ok(need) || f.o.Stream {
		return need
	}
	less := func(n int64) bool {
		ok := n <= need
		need = min(n, need)
		return ok
	}
	for _, key := range f.keys() {
		f.try(f.resident(key), less)
	}
	return need
}
