package order

import (
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
)

// The sag schedule (paper, section 3.1) visits one destination interval after the other. The
// interval's accumulators stay on the device while its cells stream by, until ApplyVertex has read
// them. Every other visit takes the sources backwards, so that it begins with the chunks that the
// visit before used last.
//
// Tasks are emitted as a sequential program. That is enough for overlap: each queue runs ahead
// until a dependence stops it, and a load waits only for the last reader of the bytes that it
// overwrites, in whichever phase. Several devices visit intervals at the same time, in lockstep.

// emitter emits the tasks of a plan.
type emitter struct {
	p     *plan.Plan
	l     *layout.Layout
	t     *tracker
	acc   [][]plan.Access
	ps    layout.PhaseSlots
	phase int
	state []slotState // by device
	opt   plan.Options
	top   *plan.Topology // loaders, and the order in which devices pass chunks on

	shared []bool // by device: Topology.Shared; nil: not asked for yet

	wanted        wanted // the cell that fetches are for
	diagonal      int    // the interval, if the current cell is that of an interval with itself; -1: it is not
	windows       []openWindow
	open          [][]*openWindow // windows of the current phase; see opens
	ends          []int           // by value: the last phase that touches it
	*uses                         // the memory that tasks touch
	reads, writes []span          // of the current task
	step          *plan.Step      // the step that far belongs to
	far           []int           // values that the step reads at the far end
}

// slotState is what the slots of one device hold in the current phase.
type slotState struct {
	rings []*ring // by key + number of values; see ring. Own rows have rings in dest-order only
	used  []*ring // those of rings that are not nil
	cells []int   // by Dir: the next slot for streamed cells
}

// Emit fills l.Plan with its tasks. If keep is not nil, Emit fills it with what EDF needs.
func Emit(l *layout.Layout, o plan.Options, keep *Trail) {
	p := l.Plan
	n, args := expect(l)
	p.Tasks, p.Args, p.Deps = make([]plan.Task, 0, n), make([]int64, 0, args), make([]int32, 0, n*min(p.Devices, 2))
	e := &emitter{p: p, l: l, t: newTracker(p, o.Serial, keep), acc: l.Usage.Acc, opt: o, uses: usesOf(p, l.Largest.NNZ), diagonal: -1, windows: openWindows(l)}
	for _, life := range l.Usage.Life {
		e.ends = append(e.ends, life[1])
	}
	e.top = topologyOf(&o, p.Devices)
	if l.ZeroBytes > 0 {
		for d := range p.Devices {
			e.add(plan.Task{Kind: plan.Zero, Device: uint16(d), Value: -1, Own: -1, Other: -1, Addr: l.ZeroAt, Bytes: l.ZeroBytes})
		}
	}
	for i := range p.Spec.Phases {
		e.phase, e.ps, e.state, e.open = i, l.Slots[i], make([]slotState, p.Devices), e.opened(i)
		for d := range e.state {
			e.state[d].rings, e.state[d].cells = make([]*ring, 2*len(p.Spec.Values)), make([]int, len(p.Cells.Bytes))
		}
		e.visits(&p.Spec.Phases[i])
		e.reduce(&p.Spec.Phases[i])
	}
	e.refill()
	if len(p.Spec.Updates) > 0 {
		for d := range p.Devices {
			e.add(plan.Task{Kind: plan.Update, Device: uint16(d), Value: -1, Own: -1, Other: -1})
		}
	}
	if len(p.Spec.Results) > 0 {
		e.add(plan.Task{Kind: plan.Results, Queue: plan.D2H, Value: -1, Own: -1, Other: -1})
	}
}

// expect estimates the number of tasks and of their Args, as if every cell had edges, to allocate them at once.
func expect(l *layout.Layout) (n, args int) {
	p := l.Plan
	n = 16
	for i, ph := range p.Spec.Phases {
		for s := range ph.Steps {
			st, operands := &ph.Steps[s], 0
			for i := range st.Calls {
				operands += len(st.Calls[i].Operands)
			}
			if st.Kind != plan.Stream {
				c := p.Cells.Span(st.Type).N
				args += c * operands
				n += c * (len(st.Calls) + 4)
				continue
			}
			per := 1 + len(st.Calls)
			if p.Places.CellsIn[st.Dir] {
				per--
			}
			for _, a := range l.Usage.Phases[i].Values {
				if a.Other && !p.Places.Resident[a.ID] && p.Schedule != plan.DestOrder && p.Spec.Far(*st, a.ID) {
					per++
				}
			}
			if p.Schedule == plan.DestOrder {
				per += 2
			}
			own, far := p.Cells.Side(st.Dir)
			n += own.N * far.N * per
			args += own.N * far.N * operands
		}
	}
	return n, args
}

func (e *emitter) visits(ph *plan.Phase) {
	rows := false
	for s := range ph.Steps {
		if st := &ph.Steps[s]; st.Kind == plan.Globals {
			for d := range e.p.Devices {
				for c := range st.Calls {
					e.run(plan.Task{Device: uint16(d), Step: int32(s), Rows: int32(st.Calls[c].Rows), Own: -1, Other: -1}, &st.Calls[c], -1, -1)
				}
			}
		} else {
			rows = true
		}
	}
	if !rows {
		return
	}
	if e.p.Schedule == plan.DestOrder && ph.Steps[0].Kind == plan.Stream {
		e.destOrder(0, &ph.Steps[0])
		return
	}
	at := e.p.Devices * e.p.Groups[e.phase]
	for j := 0; j < e.p.Cells.P; j += at {
		e.visit(ph, e.sideBySide(j, at))
	}
}

// sideBySide lists the intervals that are visited at the same time: those of j to j+n-1 that have rows.
func (e *emitter) sideBySide(j, n int) []int {
	var js []int
	for k := j; k < min(j+n, e.p.Cells.P); k++ {
		if e.p.Cells.Rows(k) > 0 {
			js = append(js, k)
		}
	}
	return js
}

func (e *emitter) visit(ph *plan.Phase, js []int) {
	for _, j := range js {
		for _, a := range e.l.Usage.Phases[e.phase].Values {
			if id := a.ID; a.OwnRead && !e.p.Places.Resident[id] && e.has(id, j) {
				if at, w := e.inWindow(id, j); w != nil {
					e.fill(w, id, j, at)
				} else {
					e.load(id, j, e.p.Owner(j), e.ownAddr(id, j))
				}
			}
		}
	}
	for s := range ph.Steps {
		switch st := &ph.Steps[s]; st.Kind {
		case plan.Rows:
			for _, j := range e.ofType(st.Type, js) {
				for c := range st.Calls {
					e.run(plan.Task{Device: uint16(e.p.Owner(j)), Step: int32(s), Rows: int32(e.p.Cells.Rows(j)), Own: int32(j), Other: -1},
						&st.Calls[c], j, -1)
				}
			}
		case plan.Stream:
			e.stream(s, st, e.ofType(st.Type, js))
		}
	}
	for _, j := range js {
		for _, a := range e.l.Usage.Phases[e.phase].Values {
			id, v := a.ID, &e.p.Spec.Values[a.ID]
			if !e.has(id, j) {
				continue
			}
			if w := e.window(id, j); a.OwnWrite && w != nil {
				w.here[j] = true
			}
			if a.OwnWrite && (v.Output || v.Kind != plan.Temp && !e.p.Places.Resident[id] && !e.stays(id, j)) {
				e.save(id, j, e.ownAddr(id, j))
			}
		}
	}
}

// ofType are the intervals of js that are of type t.
func (e *emitter) ofType(t uint16, js []int) []int {
	if e.p.Cells.Types == nil {
		return js
	}
	s := e.p.Cells.Span(t)
	return slices.DeleteFunc(slices.Clone(js), func(j int) bool { return !s.Has(j) })
}

// stream runs step st over the cells of own intervals js, which are visited at the same time.
func (e *emitter) stream(step int, st *plan.Step, js []int) {
	if len(js) == 0 {
		return
	}
	orders, turns := e.turns(st.Dir, js)
	for _, t := range turns {
		if t.n < 0 {
			e.pass(st, t.pass, t.on)
			continue
		}
		j, order := js[t.n], orders[t.n]
		i := order[t.k]
		cell := e.cell(st.Dir, j, i)
		e.wanted = e.rows(st.Dir, order, t.k, j)
		if i == j && e.opt.Diagonal && e.p.Devices == 1 && e.p.Cells.Wide == 0 {
			e.diagonal = j
		}
		e.fetchAll(st, i, t.on)
		e.wanted = wanted{}
		for m := range st.Calls {
			e.run(plan.Task{Device: uint16(t.on), Step: int32(step), Dir: st.Dir, Rows: int32(e.p.Cells.Rows(j)), Own: int32(j), Other: int32(i),
				Is: plan.Marks{First: t.k == 0, Last: t.k == len(order)-1}, Cell: cell}, &st.Calls[m], j, i)
		}
		e.diagonal = -1
	}
}

// reduce adds up, over all devices, the Globals that the visits of ph have summed: on device 0, in
// the order of the devices. Then it copies them to all devices.
func (e *emitter) reduce(ph *plan.Phase) {
	p := e.p
	if p.Devices == 1 {
		return
	}
	for _, id := range sums(p.Spec, ph) {
		at, n := p.Globals[id], p.Spec.Globals[id].Room()
		for d := 1; d < p.Devices; d++ {
			e.peer(plan.Task{Device: 0, From: uint16(d), Value: -1, Own: -1, Other: -1, Addr: e.l.Scratch, FromAddr: at, Bytes: n})
			e.add(plan.Task{Kind: plan.Add, Phase: int32(e.phase), Step: -1, Value: -1, Own: -1, Other: -1, Addr: at, FromAddr: e.l.Scratch, Bytes: n,
				Is: plan.Marks{Max: slices.Contains(p.Spec.Maxima, id)}})
		}
		for d := 1; d < p.Devices; d++ {
			e.peer(plan.Task{Device: uint16(d), From: 0, Value: -1, Own: -1, Other: -1, Addr: at, FromAddr: at, Bytes: n})
		}
	}
}

// sums lists the Globals that the visits of ph sum into.
func sums(s *plan.Spec, ph *plan.Phase) []int {
	var out []int
	seen := map[int]bool{}
	for _, st := range ph.Steps {
		if st.Kind == plan.Globals {
			continue
		}
		for _, c := range st.Calls {
			for _, o := range c.Operands {
				if o.Kind == plan.GlobalRef && o.Write && !seen[o.ID] {
					seen[o.ID] = true
					out = append(out, o.ID)
				}
			}
		}
	}
	return out
}
