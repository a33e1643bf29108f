package order

import "sagann/dataflow/plan"

// Slots: how chunks and cells come to a device, and where they are found.

// memory is n bytes of device d.
func memory(d int, at, n int64) span { return span{d, at, at + n} }

// global is the Global id on device d.
func (e *emitter) global(d, id int) span {
	return memory(d, e.p.Globals[id], e.p.Spec.Globals[id].Room())
}

// host is chunk i of value id in host memory.
func (e *emitter) host(id, i int) span {
	n := int64(e.p.Host.Of[id]*e.p.Cells.P + i)
	return span{-1, n, n + 1}
}

// cell brings cell (j,i) to j's device and returns its address.
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

func (e *emitter) loadCell(dir plan.Dir, j, i int, at, size int64) {
	d := e.p.Owner(j)
	e.copy(plan.Task{Kind: plan.Load, Queue: plan.H2D, Device: uint8(d), Dir: dir, Value: -1, Own: int32(j), Other: int32(i), Addr: at,
		Bytes: size}, nil, []span{memory(d, at, size)})
}

// fetchAll brings what st reads of interval i to device d.
func (e *emitter) fetchAll(st *plan.Step, i, d int) {
	for _, r := range e.state[d].used {
		r.drop()
	}
	if e.step != st {
		e.step, e.far = st, e.far[:0]
		for id := range e.p.Spec.Values {
			if st.Reads(id) {
				e.far = append(e.far, id)
			}
		}
	}
	for _, id := range e.far {
		e.fetch(id, i, d)
	}
}

// fetch makes interval i of value id readable on device d: it is resident there, or a
// slot holds it, or another device has it (and hands it on, around the ring), or it is
// made from what arrived with it, or it comes from host memory.
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
		return
	}
	if call := p.Spec.Values[id].Derive; call != nil {
		for _, o := range call.Operands {
			if o.Kind == plan.OtherValue && !o.Write {
				e.fetch(o.ID, i, d)
			}
		}
		s := r.take(i)
		if e.partly(call, d) {
			r.part = s
		}
		e.run(plan.Task{Device: uint8(d), Step: -1, Rows: int32(p.Cells.Rows(i)), Own: int32(i), Other: -1}, call, -1, i)
		return
	}
	from, at := e.neighbour(id, i, d)
	take := r.take
	if from >= 0 && !p.Places.Resident[id] {
		take = r.next
	}
	s := take(i)
	to := e.ps.Other[id].Addr(s)
	t := plan.Task{Device: uint8(d), Value: int32(id), Own: int32(i), Other: -1, Addr: to, Bytes: e.rowBytes(id, i)}
	if from >= 0 {
		t.From, t.FromAddr = uint8(from), at
		e.peer(t, e.turnOf(d)...)
		return
	}
	if p.Places.Resident[id] {
		t.From, t.FromAddr = uint8(p.Owner(i)), e.ownAddr(id, i)
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

// here tells whether the visit of interval i, whose cell with itself is in hand, has loaded
// value id for its own rows and does not change it.
func (e *emitter) here(id, i int) bool {
	return i == e.diagonal && e.acc[e.phase][id].OwnRead && !e.acc[e.phase][id].OwnWrite
}

// partly tells whether a value that call derives is made from some rows only.
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

func (e *emitter) ownAddr(id, j int) int64 {
	if e.p.Places.Resident[id] {
		return e.p.Places.ValueAt[id] + e.p.Local(j)*e.p.Cells.ChunkBytes(&e.p.Spec.Values[id])
	}
	if at, w := e.inWindow(id, j); w != nil {
		return at
	}
	if r := e.state[e.p.Owner(j)].ring(-1 - id); r != nil {
		return e.ps.Own[id].Addr(r.find(j))
	}
	return e.ps.Own[id].Addr(e.ownSlot(id, j))
}

// ownSlot numbers the slots of own rows of value id. Intervals in windows have none: those of a
// visit beside them, at most as many as there are slots, get one each.
func (e *emitter) ownSlot(id, j int) int {
	n := int(e.p.Local(j))
	for _, w := range e.open[id+2] {
		if w.First < j {
			n -= w.N
		}
	}
	return n
}

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

// load copies chunk i of value id from host memory to address at of device d.
func (e *emitter) load(id, i, d int, at int64, after ...span) {
	size := e.rowBytes(id, i)
	e.copy(plan.Task{Kind: plan.Load, Queue: plan.H2D, Device: uint8(d), Value: int32(id), Own: int32(i), Other: -1, Addr: at,
		Bytes: size}, []span{e.host(id, i)}, append(after, memory(d, at, size)))
}

// save copies chunk i of value id from its owner to host memory.
func (e *emitter) save(id, i int, at int64) {
	d := e.p.Owner(i)
	size := e.rowBytes(id, i)
	e.copy(plan.Task{Kind: plan.Save, Queue: plan.D2H, Device: uint8(d), Value: int32(id), Own: int32(i), Other: -1, Addr: at,
		Bytes: size}, []span{memory(d, at, size)}, []span{e.host(id, i)})
}

// peer copies between devices: t says from where to where.
func (e *emitter) peer(t plan.Task, after ...span) {
	t.Kind, t.Queue = plan.Copy, plan.D2D
	e.copy(t, []span{memory(int(t.From), t.FromAddr, t.Bytes)}, append(after, memory(int(t.Device), t.Addr, t.Bytes)))
}

// rowBytes is the size of chunk i of value id.
func (e *emitter) rowBytes(id, i int) int64 {
	return int64(e.p.Cells.Rows(i)) * e.p.Spec.Values[id].RowBytes
}

func (e *emitter) copy(t plan.Task, reads, writes []span) {
	t.Phase, t.Step = int32(e.phase), -1
	switch t.Queue {
	case plan.H2D:
		e.p.H2D += t.Bytes
	case plan.D2H:
		e.p.D2H += t.Bytes
	default:
		e.p.D2D += t.Bytes
	}
	e.t.add(&t, reads, writes)
}

// run appends a kernel call for own interval j and, over a cell, other interval i.
func (e *emitter) run(t plan.Task, c *plan.Call, j, i int) {
	d := int(t.Device)
	t.Kind, t.Queue, t.Phase, t.Kernel, t.Value = plan.Run, plan.Compute, int32(e.phase), int32(c.Kernel), -1
	t.Args[0] = int32(len(e.p.Args))
	e.reads, e.writes = e.reads[:0], e.writes[:0]
	for x := range c.Operands {
		var at, size int64
		o := &c.Operands[x]
		switch o.Kind {
		case plan.OwnValue:
			at, size = e.ownAddr(o.ID, j), e.rowBytes(o.ID, j)
		case plan.OtherValue:
			at, size = e.otherAddr(o.ID, i, d), e.rowBytes(o.ID, i)
		case plan.GlobalRef:
			at, size = e.p.Globals[o.ID], e.p.Spec.Globals[o.ID].Room()
		case plan.EdgeTemp:
			at, size = e.ps.Temps[o.ID], e.maxNNZ*e.p.Spec.EdgeTemps[o.ID]
		}
		e.p.Args = append(e.p.Args, at)
		if o.Write {
			e.writes = append(e.writes, memory(d, at, size))
		} else {
			e.reads = append(e.reads, memory(d, at, size))
		}
	}
	t.Args[1] = int32(len(e.p.Args))
	if t.Other >= 0 {
		e.reads = append(e.reads, memory(d, t.Cell, e.p.Cells.Bytes[t.Dir][j*e.p.Cells.P+i]))
	}
	e.t.add(&t, e.reads, e.writes)
}
