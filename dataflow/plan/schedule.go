package plan

// The sag schedule (paper, section 3.1): one destination interval after the other;
// its accumulators stay on the device while its cells stream by, until ApplyVertex
// has eaten them. Sources are visited in serpentine order, so that the chunks used
// last by one interval are the first of the next.
//
// Tasks are emitted as a sequential program. Overlap needs nothing more: each queue
// runs ahead until a dependence holds it, and a load waits only for the last reader
// of the slot it fills.

type emitter struct {
	p     *Plan
	t     *tracker
	acc   []map[int]access
	ps    phaseSlots
	phase int
	rings map[int]*ring // of other values by id, of own values (dest-order only) by -1-id
	cells [2]int        // next slot of streamed cells
	opt   Options
}

// ring remembers which interval each slot of an other value holds.
type ring struct {
	holds []int
	used  []int
	clock int
}

func (p *Plan) emit(slots []phaseSlots, o Options) {
	e := &emitter{p: p, t: newTracker(p, o.Serial), acc: accesses(p.Spec), opt: o}
	if p.zeroBytes > 0 {
		e.t.add(Task{Kind: Zero, Queue: Compute, Value: -1, Own: -1, Other: -1, Addr: p.zeroAt, Bytes: p.zeroBytes}, nil, nil)
	}
	for i := range p.Spec.Phases {
		e.t.phase()
		e.phase, e.ps, e.rings, e.cells = i, slots[i], map[int]*ring{}, [2]int{}
		e.visits(&p.Spec.Phases[i])
	}
	e.t.phase()
	if len(p.Spec.Updates) > 0 {
		e.t.add(Task{Kind: Update, Queue: Compute, Value: -1, Own: -1, Other: -1}, nil, nil)
	}
	if len(p.Spec.Results) > 0 {
		e.t.phase()
		e.t.add(Task{Kind: Results, Queue: D2H, Value: -1, Own: -1, Other: -1}, nil, nil)
	}
}

func (e *emitter) visits(ph *Phase) {
	rows := false
	for s := range ph.Steps {
		if st := &ph.Steps[s]; st.Kind == Globals {
			for c := range st.Calls {
				e.run(Task{Step: int32(s), Rows: int32(st.Calls[c].Rows), Own: -1, Other: -1}, &st.Calls[c], -1, -1)
			}
		} else {
			rows = true
		}
	}
	if !rows {
		return
	}
	if e.p.Schedule == DestOrder && ph.Steps[0].Kind == Stream {
		e.destOrder(0, &ph.Steps[0])
		return
	}
	for j := range e.p.Cells.P {
		if e.p.Cells.Rows(j) == 0 {
			continue
		}
		for id := range e.p.Spec.Values {
			if a := e.acc[e.phase][id]; a.ownRead && !e.p.Resident[id] {
				e.load(id, j, e.ownAddr(id, j))
			}
		}
		for s := range ph.Steps {
			switch st := &ph.Steps[s]; st.Kind {
			case Rows:
				for c := range st.Calls {
					e.run(Task{Step: int32(s), Rows: int32(e.p.Cells.Rows(j)), Own: int32(j), Other: -1}, &st.Calls[c], j, -1)
				}
			case Stream:
				e.stream(s, st, j)
			}
		}
		for id := range e.p.Spec.Values {
			v := &e.p.Spec.Values[id]
			if a := e.acc[e.phase][id]; a.ownWrite && (v.Output || v.Kind == Stored && !e.p.Resident[id]) {
				e.save(id, j, e.ownAddr(id, j))
			}
		}
	}
}

// stream runs the cells of own interval j.
func (e *emitter) stream(step int, st *Step, j int) {
	c := e.p.Cells
	var order []int
	for k := range c.P {
		i := e.serpentine(j, k)
		if c.NNZ[st.Dir][j*c.P+i] > 0 {
			order = append(order, i)
		}
	}
	if len(order) == 0 { // the accumulators still start and finish
		order = append(order, j)
	}
	for k, i := range order {
		cell := e.cell(st.Dir, j, i)
		e.fetchAll(st, i)
		for n := range st.Calls {
			e.run(Task{Step: int32(step), Dir: st.Dir, Rows: int32(c.Rows(j)), Own: int32(j), Other: int32(i),
				First: k == 0, Last: k == len(order)-1, Cell: cell}, &st.Calls[n], j, i)
		}
	}
}

// serpentine is the k-th interval that visit j streams: every other visit backwards.
func (e *emitter) serpentine(j, k int) int {
	if j%2 == 1 && !e.opt.Straight {
		return e.p.Cells.P - 1 - k
	}
	return k
}

// fetchAll brings what st reads of interval i.
func (e *emitter) fetchAll(st *Step, i int) {
	for id := range e.p.Spec.Values {
		if !e.p.Resident[id] && reads(st, id) {
			e.fetch(id, i)
		}
	}
}

func reads(st *Step, id int) bool {
	for _, c := range st.Calls {
		for _, o := range c.Operands {
			if o.Kind == OtherValue && o.ID == id {
				return true
			}
		}
	}
	return false
}

// cell brings a cell to the device and returns its address.
func (e *emitter) cell(d Dir, j, i int) int64 {
	n := j*e.p.Cells.P + i
	if e.p.CellsIn[d] {
		return e.p.CellAt[d][n]
	}
	at := e.ps.cells[d].addr(e.cells[d])
	e.cells[d]++
	e.copy(Task{Kind: Load, Queue: H2D, Dir: d, Value: -1, Own: int32(j), Other: int32(i), Addr: at,
		Bytes: e.p.Cells.Bytes[d][n]}, nil, []int64{at})
	return at
}

// fetch brings interval i of a streamed other value into a slot, unless one holds it.
func (e *emitter) fetch(id, i int) {
	r := e.ring(id, e.ps.other[id].n)
	if r.find(i) >= 0 {
		return
	}
	d := e.p.Spec.Values[id].Derive
	if d == nil {
		e.load(id, i, e.ps.other[id].addr(r.take(i)))
		return
	}
	for _, o := range d.Operands {
		if o.Kind == OtherValue && !o.Write && !e.p.Resident[o.ID] {
			e.fetch(o.ID, i)
		}
	}
	r.take(i)
	e.run(Task{Step: -1, Rows: int32(e.p.Cells.Rows(i)), Own: int32(i), Other: -1}, d, -1, i)
}

func (e *emitter) ring(key, n int) *ring {
	r := e.rings[key]
	if r == nil {
		r = &ring{holds: make([]int, n), used: make([]int, n)}
		for k := range r.holds {
			r.holds[k] = -1
		}
		e.rings[key] = r
	}
	return r
}

// take gives interval i the slot used longest ago. Over a serpentine that is the slot
// whose interval is needed last (Belady's rule).
func (r *ring) take(i int) int {
	s := 0
	for k := range r.holds {
		if r.used[k] < r.used[s] {
			s = k
		}
	}
	r.holds[s] = i
	return r.find(i)
}

// find returns the slot that holds interval i and marks it used, or -1.
func (r *ring) find(i int) int {
	for k, h := range r.holds {
		if h == i {
			r.clock++
			r.used[k] = r.clock
			return k
		}
	}
	return -1
}

func (e *emitter) ownAddr(id, j int) int64 {
	if e.p.Resident[id] {
		return e.p.ValueAt[id] + int64(j)*e.p.Cells.chunkBytes(&e.p.Spec.Values[id])
	}
	if r := e.rings[-1-id]; r != nil {
		return e.ps.own[id].addr(r.find(j))
	}
	return e.ps.own[id].addr(j)
}

func (e *emitter) otherAddr(id, i int) int64 {
	if e.p.Resident[id] {
		return e.p.ValueAt[id] + int64(i)*e.p.Cells.chunkBytes(&e.p.Spec.Values[id])
	}
	return e.ps.other[id].addr(e.rings[id].find(i))
}

func (e *emitter) host(id, i int) int64 { return -1 - int64(id*e.p.Cells.P+i) }

func (e *emitter) load(id, i int, at int64) {
	e.copy(Task{Kind: Load, Queue: H2D, Value: int32(id), Own: int32(i), Other: -1, Addr: at,
		Bytes: int64(e.p.Cells.Rows(i)) * e.p.Spec.Values[id].RowBytes}, []int64{e.host(id, i)}, []int64{at})
}

func (e *emitter) save(id, i int, at int64) {
	e.copy(Task{Kind: Save, Queue: D2H, Value: int32(id), Own: int32(i), Other: -1, Addr: at,
		Bytes: int64(e.p.Cells.Rows(i)) * e.p.Spec.Values[id].RowBytes}, []int64{at}, []int64{e.host(id, i)})
}

func (e *emitter) copy(t Task, reads, writes []int64) {
	t.Phase, t.Step = int32(e.phase), -1
	if t.Queue == H2D {
		e.p.H2D += t.Bytes
	} else {
		e.p.D2H += t.Bytes
	}
	e.t.add(t, reads, writes)
}

// run appends a kernel call for own interval j and, over a cell, other interval i.
func (e *emitter) run(t Task, c *Call, j, i int) {
	t.Kind, t.Queue, t.Phase, t.Kernel, t.Value = Run, Compute, int32(e.phase), int32(c.Kernel), -1
	t.Args[0] = int32(len(e.p.Args))
	var reads, writes []int64
	for _, o := range c.Operands {
		var at int64
		switch o.Kind {
		case OwnValue:
			at = e.ownAddr(o.ID, j)
		case OtherValue:
			at = e.otherAddr(o.ID, i)
		case GlobalRef:
			at = e.p.Globals[o.ID]
		case EdgeTemp:
			at = e.ps.temps[o.ID]
		}
		e.p.Args = append(e.p.Args, at)
		if o.Write {
			writes = append(writes, at)
		} else {
			reads = append(reads, at)
		}
	}
	t.Args[1] = int32(len(e.p.Args))
	if t.Other >= 0 {
		reads = append(reads, t.Cell)
	}
	e.t.add(t, reads, writes)
}
