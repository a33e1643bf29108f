package layout

import (
	"math"

	"sagann/dataflow/plan"
)

// Fit finds a choice that fits the budget. If everything fits, everything is resident. Otherwise Fit starts with the number of slots
// that the options ask for, reduces it until the choice fits, and then uses the rest of the memory in the order that the rule says.
// If no choice fits, the second result is the bytes that the smallest choice found needs; otherwise it is 0.
func (f *fitting) Fit() (Choice, int64) {
	o := &f.o
	free := o.Slots == 0 || o.More
	switch need := f.begin(true); {
	case need > 0 || o.Stream:
		return f.ch, need
	case f.ch.All:
		if o.Budget > 0 && free { // more slots, so that a value computed when its chunk arrives is computed only once
			f.widen()
		}
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

// Fits tells whether Fit finds a choice that fits the budget.
func (f *fitting) Fits() bool { return f.begin(false) == 0 }

// begin finds the choice that Fit begins with: everything is resident, or nothing is that can stream. If neither fits, the result is the
// bytes that the smallest choice found needs or, unless that must be exact, some number of bytes beyond the budget; otherwise it is 0.
func (f *fitting) begin(exact bool) int64 {
	s, o := f.spec, f.o
	begin := Choice{resident: make([]bool, len(s.Values)), cells: make([]bool, len(f.c.Bytes)), Slots: 3, ahead: f.rule.Ahead * f.c.P / 8, group: max(1, o.Group), over: f.rule.Over, move: f.rule.Over && f.rule.Move}
	if o.Slots > 0 { // more slots than there are cells would change nothing
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
	smallest := int64(math.MaxInt64)
	if !o.Stream {
		f.ch = Choice{resident: make([]bool, len(s.Values)), cells: make([]bool, len(f.c.Bytes)), Slots: 1, group: begin.group, groups: begin.groups, All: true, over: begin.over, move: begin.move}
		for _, key := range f.keys() {
			*f.resident(key) = true
		}
		if smallest = f.size(f.ch); f.ok(smallest) {
			return 0
		}
	}
	f.ch = begin
	if need := f.narrow(exact); !f.ok(need) {
		return min(need, smallest)
	}
	return 0
}

// narrow removes the buffers for reading ahead, and slots one by one, until the choice fits. If the choice does not fit with one slot,
// narrow makes resident what takes no more memory whole than in slots, as happens with few intervals. It returns the bytes that the
// choice then takes; unless they must be exact, it ends as soon as they are known to be within the budget, or beyond it.
func (f *fitting) narrow(exact bool) int64 {
	ch := &f.ch
	need := f.size(*ch)
	for !f.ok(need) && (ch.Slots > 1 || ch.ahead > 0) {
		ch.Slots, ch.ahead = max(1, ch.Slots-1), 0
		need = f.size(*ch)
	}
	if f.ok(need) || f.o.Stream || !exact && f.hopeless() {
		return need
	}
	f.weigh()
	less := func(n int64) bool {
		ok := n <= need
		need = min(n, need)
		return ok
	}
	for _, key := range f.keys() {
		if on := f.resident(key); f.light(f.life(key), need) {
			if f.try(on, less); *on {
				f.weighed()
			}
		}
		if !exact && f.ok(need) {
			break
		}
	}
	return need
}
