package order

import (
	"slices"

	"sagann/dataflow/plan"
)

// How chunks and cells come to a device, and where they are found there.

// cell brings cell (j,i) to the owner of j, unless it is there, and returns its address.
func (e *emitter) cell(dir plan.Dir, j, i int) int64 {
	n, d := j*e.p.Cells.P+i, e.p.Owner(j)
	if e.p.Places.CellsIn[dir] {
		return e.p.Places.CellAt[dir][n]
	}
	size := e.p.Cells.Bytes[dir][n]
	if w := e.window(-1-int(dir), j); w != nil {
		if !w.here[n] {
			e.fillCell(w, dir, n)
		}
		return w.cellAt(n, e.p.Cells.P)
	}
	s := &e.state[d]
	at := e.ps.Cells[dir].Addr(s.cells[dir])
	s.cells[dir]++
	e.loadCell(dir, j, i, at, size)
	return at
}

// fetchAll brings all values that st reads at the far end to device d, for interval i.
func (e *emitter) fetchAll(st *plan.Step, i, d int) {
	for _, r := range e.state[d].used {
		r.drop()
	}
	if e.step != st {
		e.step, e.far = st, e.far[:0]
		for k := range st.Calls {
			for _, o := range st.Calls[k].Operands {
				if o.Kind == plan.OtherValue {
					e.far = append(e.far, o.ID)
				}
			}
		}
		slices.Sort(e.far)
		e.far = slices.Compact(e.far)
	}
	for _, id := range e.far {
		s := e.p.Span(id)
		first, n := e.p.Cells.Reached(s, i)
		for k := first; k < first+n; k++ {
			if k == i || s.Rows(k) > 0 {
				e.fetch(id, k, d)
			}
		}
	}
}

// fetch makes interval i of value id readable on device d. In this order: it is resident there, or
// a window keeps it, or a slot holds it; or it is derived from other values that are fetched first;
// or another device passes it on, in the ring; or it is copied from the owner, where it is
// resident; or it is loaded from host memory, whole or only the rows that are wanted.
func (e *emitter) fetch(id, i, d int) {
	p := e.p
	if p.Places.Resident[id] && p.Owner(i) == d {
		return
	}
	if at, w := e.inWindow(id, i); w != nil {
		e.fill(w, id, i, at)
		return
	}
	r := e.ring(d, id, e.ps.Other[id].N)
	if r.find(i) >= 0 || e.here(id, i) {
		r.touch(e, id, i)
		return
	}
	if call := p.Spec.Values[id].Derive; call != nil {
		for _, o := range call.Operands {
			if o.Kind == plan.OtherValue && !o.Write {
				e.fetch(o.ID, i, d)
			}
		}
		s := slotFor(e, r, id, i)
		if e.partly(call, d) {
			r.part = s
		}
		e.run(plan.Task{Device: uint16(d), Step: -1, Rows: int32(p.Cells.Rows(i)), Own: int32(i), Other: -1}, call, -1, i)
		return
	}
	from, at := e.neighbour(id, i, d)
	s := -1
	if from >= 0 && !p.Places.Resident[id] {
		s = r.next(i)
	} else {
		s = slotFor(e, r, id, i)
	}
	to := e.ps.Other[id].Addr(s)
	t := plan.Task{Device: uint16(d), Value: int32(id), Own: int32(i), Other: -1, Addr: to, Bytes: e.rowBytes(id, i)}
	if from >= 0 {
		t.From, t.FromAddr = uint16(from), at
		e.peer(t, e.turnOf(d)...)
		return
	}
	if p.Places.Resident[id] {
		t.From, t.FromAddr = uint16(p.Owner(i)), e.ownAddr(id, i)
		e.peer(t)
		return
	}
	if e.wanted.gather(p.Spec.Values[id].RowBytes) {
		r.part = s
		e.loadRows(id, i, d, to)
		return
	}
	e.load(id, i, d, to, e.turnOf(d)...)
}

// slotFor gives interval i of value id a slot of r. Wide cells read one interval behind the other, so that the intervals that they reach over have slots
// next to each other, and give them back together.
func slotFor(e *emitter, r *ring, id, i int) int {
	if e.p.Cells.Wide == 0 {
		return r.take(i)
	}
	s := e.p.Span(id)
	w := min(e.p.Cells.Wide, s.N)
	if r.runs == nil {
		r.runs = newRing(len(r.holds) / w)
	}
	first, _ := e.p.Cells.Reached(s, i)
	at := r.runs.find(first)
	if at < 0 {
		at = r.runs.take(first)
		for k := range w {
			r.holds[at*w+k] = -1
		}
	}
	r.holds[at*w+i-first] = i
	return at*w + i - first
}

// touch notes that a slot of interval i of value id is in use again.
func (r *ring) touch(e *emitter, id, i int) {
	if r.runs != nil {
		first, _ := e.p.Cells.Reached(e.p.Span(id), i)
		r.runs.find(first)
	}
}

// neighbour finds the nearest device before d in the ring that has interval i of value id, and the
// address there; -1: none has it, or there is no ring.
func (e *emitter) neighbour(id, i, d int) (device int, at int64) {
	if !e.opt.Ring {
		return -1, 0
	}
	order := e.top.Order
	here := slices.Index(order, d)
	for k := 1; k < len(order); k++ {
		from := order[(here+len(order)-k)%len(order)]
		if e.p.Places.Resident[id] && e.p.Owner(i) == from {
			return from, e.ownAddr(id, i)
		}
		if r := e.state[from].ring(id); r != nil {
			if s := slices.Index(r.holds, i); s >= 0 && s != r.part {
				return from, e.ps.Other[id].Addr(s)
			}
		}
	}
	return -1, 0
}

// turnOf keeps the copies to device d in the order of the ring if its copies from the host and
// from the device before share a link: a chunk that was loaded ahead of its turn would hold up the
// ring. It returns a span that stands for no memory and that all these copies write; nil if they
// share no link.
func (e *emitter) turnOf(d int) []span {
	if !e.opt.Ring {
		return nil
	}
	if e.shared == nil {
		for d := range e.p.Devices {
			e.shared = append(e.shared, e.top.Shared(d))
		}
	}
	if !e.shared[d] {
		return nil
	}
	return []span{{-1, int64(-1 - d), int64(-d)}}
}

// here tells whether the current cell is that of interval i with itself, and the visit has loaded
// value id as own rows that it does not change: then these serve as rows of the far end, too.
func (e *emitter) here(id, i int) bool {
	return i == e.diagonal && e.acc[e.phase][id].OwnRead && !e.acc[e.phase][id].OwnWrite
}

// partly tells whether call derives a value from a chunk of which only some rows have come.
func (e *emitter) partly(call *plan.Call, d int) bool {
	for _, o := range call.Operands {
		if o.Kind == plan.OtherValue && !o.Write {
			if r := e.state[d].ring(o.ID); r != nil && r.part >= 0 {
				return true
			}
		}
	}
	return false
}

// has tells whether value id has rows for interval j.
func (e *emitter) has(id, j int) bool {
	s := e.p.Span(id)
	return s.Has(j)
}

// ownAddr is the address of interval j of value id, read or written as own rows, on the owner of j.
func (e *emitter) ownAddr(id, j int) int64 {
	if e.p.Places.Resident[id] {
		return e.p.Places.ValueAt[id] + e.p.LocalOf(id, j)*e.p.Cells.ChunkBytes(&e.p.Spec.Values[id])
	}
	if at, w := e.inWindow(id, j); w != nil {
		return at
	}
	if r := e.state[e.p.Owner(j)].ring(-1 - id); r != nil {
		return e.ps.Own[id].Addr(r.find(j))
	}
	return e.ps.Own[id].Addr(e.ownSlot(id, j))
}

// ownSlot is the slot of own interval j of value id. Intervals in windows take no slots, so they are
// not counted, and the other intervals of a visit get slots next to each other.
func (e *emitter) ownSlot(id, j int) int {
	n := int(e.p.LocalOf(id, j))
	for _, w := range e.opens(id) {
		if w.First < j {
			n -= w.N
		}
	}
	return n
}

// otherAddr is the address on device d of interval i of value id, read at the far end.
func (e *emitter) otherAddr(id, i, d int) int64 {
	if e.p.Places.Resident[id] && e.p.Owner(i) == d {
		return e.ownAddr(id, i)
	}
	if at, w := e.inWindow(id, i); w != nil {
		return at
	}
	s := e.state[d].ring(id).find(i)
	if s < 0 && e.here(id, i) {
		return e.ownAddr(id, i)
	}
	return e.ps.Other[id].Addr(s)
}

// run appends a kernel call for own interval j and, over a cell, other interval i.
func (e *emitter) run(t plan.Task, c *plan.Call, j, i int) {
	t.Kind, t.Queue, t.Phase, t.Kernel, t.Value = plan.Run, plan.Compute, int32(e.phase), int32(c.Kernel), -1
	t.Args[0] = int32(len(e.p.Args))
	for x := range c.Operands {
		var at int64
		o := &c.Operands[x]
		switch o.Kind {
		case plan.OwnValue:
			at = e.ownAddr(o.ID, j)
		case plan.OtherValue:
			at = e.otherAddr(o.ID, i, int(t.Device))
		case plan.GlobalRef:
			at = e.p.Globals[o.ID]
		case plan.EdgeTemp:
			at = e.ps.Temps[o.ID]
		}
		e.p.Args = append(e.p.Args, at)
	}
	t.Args[1] = int32(len(e.p.Args))
	e.add(t)
}
