package plan

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// fit finds the best choice for c that stays within the budget: as many slots as
// asked for, then resident what saves most transfer per byte. It returns the bytes
// that the smallest choice needs when none fits, else 0.
func fit(s *Spec, c *Cells, o Options) (choice, int64) {
	f := newFitting(s, c, o)
	f.sized = &sized{}
	return f.fit()
}

func (f *fitting) fit() (choice, int64) {
	s, c, o := f.spec, f.c, f.o
	size := f.size
	ok := f.ok
	ch := choice{resident: make([]bool, len(s.Values)), slots: 3}
	if o.Slots > 0 { // more than cells would change nothing
		ch.slots = min(o.Slots, c.P*c.P)
	}
	ch.ahead, ch.group = o.policy.ahead*c.P/8, max(1, o.Group, o.policy.group)
	if n := len(o.Groups); n > 0 {
		ch.group = max(1, o.Groups[n-1])
		for i := range s.Phases {
			ch.groups = append(ch.groups, max(1, o.Groups[min(i, n-1)]))
		}
	}
	if o.Schedule == DestOrder {
		ch.group, ch.groups = 1, nil
	}
	smallest := int64(math.MaxInt64)
	if !o.Stream {
		all := choice{resident: make([]bool, len(s.Values)), cells: [2]bool{true, true}, slots: 1, group: ch.group, groups: ch.groups, all: true}
		for i := range all.resident {
			all.resident[i] = s.Values[i].Kind != Temp
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
		o.policy.lasting = o.policy.lasting || o.Lasting
		windows := o.Windows && o.Budget > 0 && o.Devices == 1 && o.Schedule != DestOrder
		if windows && o.policy.level != nil {
			o.policy.deal(s, c, f.acc, &ch, func() bool { return ok(size(ch)) })
		} else {
			keep(s, c, f.acc, &ch, o.policy, func() bool { return ok(size(ch)) })
		}
		if windows && o.policy.part {
			fillIn(s, c, f.acc, &ch, o.policy, func() bool { return ok(size(ch)) })
		}
		if ch.group > 1 && !o.policy.even && o.Groups == nil && o.Base == nil && (o.Slots == 0 || o.More) {
			regroup(s, c, &ch, max(1, o.Devices), func() bool { return ok(size(ch)) })
		}
		if o.Slots == 0 || o.More {
			widen(s, c, &ch, func() bool { return ok(size(ch)) })
		}
		if windows {
			fillIn(s, c, f.acc, &ch, o.policy, func() bool { return ok(size(ch)) })
		}
	}
	return ch, 0
}

// shrink makes resident what takes no more room so than in slots, as with few intervals.
func shrink(s *Spec, ch *choice, need int64, size func(choice) int64) int64 {
	try := func(on *bool) {
		*on = true
		if n := size(*ch); n <= need {
			need = n
		} else {
			*on = false
		}
	}
	for id := range s.Values {
		if s.Values[id].Kind != Temp {
			try(&ch.resident[id])
		}
	}
	for d := range ch.cells {
		try(&ch.cells[d])
	}
	return need
}

// fitting measures choices for one grid.
type fitting struct {
	o                      Options
	spec                   *Spec
	c                      *Cells
	acc, accBeside         []map[int]access
	touched, touchedBeside [][]touch
	most                   *largest
	resident               []bool // with which
	cells                  [2]bool
	group                  int   // in such groups of intervals
	kept                   int64 // and with so many bytes that it leaves alone
	beside                 int64 // what is planned beside takes so much
	sized                  *sized
}

// sized are the plan that was measured last, and what was beside it: their memory is
// used again.
type sized struct{ plan, beside Plan }

// next makes p, whose memory is used again, a plan like q to measure.
func (p *Plan) next(q Plan) *Plan {
	q.sizing, q.room, q.Memory, q.PhaseSlots, q.Windows = true, p.room, p.Memory[:0], p.PhaseSlots[:0], p.Windows[:0]
	q.Globals, q.ValueAt, q.Resident = p.Globals, p.ValueAt, p.Resident
	*p = q
	return p
}

func newFitting(s *Spec, c *Cells, o Options) *fitting {
	f := &fitting{o: o, spec: s, c: c, acc: accesses(s), most: c.largest()}
	f.touched = touches(f.acc)
	if o.Beside != nil {
		f.accBeside = accesses(o.Beside)
		f.touchedBeside = touches(f.accBeside)
	}
	return f
}

// size is the bytes that ch takes.
func (f *fitting) size(ch choice) int64 {
	p := f.place(ch)
	if f.o.Beside == nil {
		return p.Peak
	}
	if f.resident == nil || ch.cells != f.cells || ch.group != f.group || p.kept() != f.kept || !slices.Equal(ch.resident, f.resident) {
		q := f.sized.beside.next(Plan{Spec: f.o.Beside, Cells: f.c, Schedule: f.o.Schedule, Devices: f.o.Devices, acc: f.accBeside, touched: f.touchedBeside, most: f.most})
		q.place(choice{resident: make([]bool, len(f.o.Beside.Values)), slots: 1, group: ch.group}, p)
		f.resident, f.cells, f.group, f.kept, f.beside = slices.Clone(ch.resident), ch.cells, ch.group, p.kept(), q.Peak
	}
	return max(p.Peak, f.beside)
}

// place lays ch out, for as long as no other choice is.
func (f *fitting) place(ch choice) *Plan {
	p := f.sized.plan.next(Plan{Spec: f.spec, Cells: f.c, Schedule: f.o.Schedule, Devices: f.o.Devices, acc: f.acc, touched: f.touched, most: f.most})
	p.place(ch, f.o.Base)
	return p
}

// layout says all that the tasks of a plan of ch depend on, beside the options: equal
// layouts are equal plans.
func (f *fitting) layout(ch choice) string {
	var b []byte
	put := func(n ...int64) {
		for _, n := range n {
			b = binary.AppendVarint(b, n)
		}
	}
	p := f.place(ch)
	b = fmt.Appendf(b, "%s %d %d %v %v %v %v ", f.o.Schedule, f.c.P, ch.group, ch.groups, f.o.Early != nil, p.Resident, p.CellsIn)
	for _, m := range p.Memory {
		put(m.At, m.Bytes)
	}
	for i, n := range p.PhaseSlots {
		if streams(&f.spec.Phases[i]) {
			put(int64(n))
		}
	}
	for _, w := range p.Windows {
		put(int64(w.Key), int64(w.From), int64(w.To), int64(w.First), int64(w.N))
	}
	return string(b)
}

// ok tells whether n bytes are within the budget.
func (f *fitting) ok(n int64) bool { return f.o.Budget == 0 || n <= f.o.Budget }

// narrow takes slots from ch until it fits. With one it makes resident what that helps. It returns the bytes that ch takes then.
func (f *fitting) narrow(ch *choice) int64 {
	need := f.size(*ch)
	for !f.ok(need) && ch.slots > 1 {
		ch.slots--
		need = f.size(*ch)
	}
	if !f.ok(need) && !f.o.Stream {
		need = shrink(f.spec, ch, need, f.size)
	}
	return need
}
