package order

import "sagann/dataflow/plan"

// destOrder runs each source chunk over all destinations, whose accumulators are swapped in and out
// for every cell.
func (e *emitter) destOrder(step int, st *plan.Step) {
	c := e.p.Cells
	left := make([]int, c.P) // by destination: its cells that are still to come
	for j := range c.P {
		for i := range c.P {
			if c.NNZ[st.Dir][j*c.P+i] > 0 {
				left[j]++
			}
		}
	}
	started := make([]bool, c.P)
	own, far := c.Side(st.Dir)
	visit := func(j, i int) {
		cell := e.cell(st.Dir, j, i)
		e.fetchAll(st, i, e.p.Owner(j))
		for id := range e.p.Spec.Values {
			a := e.acc[e.phase][id]
			if !e.p.Places.Resident[id] && (a.OwnRead || a.OwnWrite) && e.has(id, j) {
				e.fetchOwn(id, j, a.OwnRead || started[j])
			}
		}
		for n := range st.Calls {
			e.run(plan.Task{Device: uint16(e.p.Owner(j)), Step: int32(step), Dir: st.Dir, Rows: int32(c.Rows(j)), Own: int32(j), Other: int32(i),
				Is: plan.Marks{First: !started[j], Last: left[j] <= 1}, Cell: cell}, &st.Calls[n], j, i)
		}
		started[j] = true
		left[j]--
		for id := range e.p.Spec.Values {
			v := &e.p.Spec.Values[id]
			if a := e.acc[e.phase][id]; a.OwnWrite && e.has(id, j) && (v.Output && left[j] <= 0 || v.Kind == plan.Stored && !e.p.Places.Resident[id]) {
				e.save(id, j, e.ownAddr(id, j))
			}
		}
	}
	for i := range c.P {
		for k := range c.P {
			j := k
			if i%2 == 1 && !e.opt.Straight {
				j = c.P - 1 - k
			}
			if c.NNZ[st.Dir][j*c.P+i] > 0 {
				visit(j, i)
			}
		}
	}
	for j := range c.P { // accumulators of destinations without edges must still be initialised and finished
		switch {
		case started[j] || c.Rows(j) == 0 || !own.Has(j):
		case far.Has(j):
			visit(j, j)
		default:
			visit(j, far.First)
		}
	}
}

// fetchOwn gives own rows of value id and interval j a slot if none holds them. With load it also
// loads them.
func (e *emitter) fetchOwn(id, j int, load bool) {
	key := -1 - id
	d := e.p.Owner(j)
	r := e.ring(d, key, e.ps.Own[id].N)
	if r.find(j) >= 0 {
		return
	}
	s := r.take(j)
	if load {
		e.load(id, j, d, e.ps.Own[id].Addr(s))
	}
}
