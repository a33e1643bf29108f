package plan

// The two schedules that the paper compares its own with (section 3.1) run the SAG
// phases of all intervals before any ApplyVertex. That is the same program with its
// phases cut at every step: what used to live inside one visit of an interval is
// stored, and swapped like any other value.

// staged cuts every phase of s into phases of one step. With swap, all state of
// accumulators can be swapped between cells, also what only its own step reads.
func staged(s *Spec, swap bool) *Spec {
	out := *s
	out.Values = append([]Value{}, s.Values...)
	out.Phases = nil
	for _, ph := range s.Phases {
		for _, st := range ph.Steps {
			out.Phases = append(out.Phases, Phase{Label: ph.Label, Steps: []Step{st}})
		}
	}
	acc := accesses(&out)
	for id := range out.Values {
		from, to := lifetime(acc, id)
		if v := &out.Values[id]; v.Kind == Temp && v.Derive == nil && (from != to || swap && out.Phases[from].Steps[0].Kind == Stream) {
			out.Values[id].Kind = Stored
		}
	}
	return &out
}

// destOrder runs one source chunk over all destinations: accumulators are swapped in
// and out for every cell.
func (e *emitter) destOrder(step int, st *Step) {
	c := e.p.Cells
	left := make([]int, c.P) // cells still to come, by destination
	for j := range c.P {
		for i := range c.P {
			if c.NNZ[st.Dir][j*c.P+i] > 0 {
				left[j]++
			}
		}
	}
	started := make([]bool, c.P)
	visit := func(j, i int) {
		cell := e.cell(st.Dir, j, i)
		e.fetchAll(st, i, e.p.Owner(j))
		for id := range e.p.Spec.Values {
			a := e.acc[e.phase][id]
			if !e.p.Places.Resident[id] && (a.ownRead || a.ownWrite) {
				e.fetchOwn(id, j, a.ownRead || started[j])
			}
		}
		for n := range st.Calls {
			e.run(Task{Device: uint8(e.p.Owner(j)), Step: int32(step), Dir: st.Dir, Rows: int32(c.Rows(j)), Own: int32(j), Other: int32(i),
				Is: Marks{First: !started[j], Last: left[j] <= 1}, Cell: cell}, &st.Calls[n], j, i)
		}
		started[j] = true
		left[j]--
		for id := range e.p.Spec.Values {
			v := &e.p.Spec.Values[id]
			if a := e.acc[e.phase][id]; a.ownWrite && (v.Output && left[j] <= 0 || v.Kind == Stored && !e.p.Places.Resident[id]) {
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
	for j := range c.P { // accumulators of destinations without edges still start and finish
		if !started[j] && c.Rows(j) > 0 {
			visit(j, j)
		}
	}
}

// fetchOwn gives own value id of interval j a slot, and loads it when asked to and no
// slot holds it.
func (e *emitter) fetchOwn(id, j int, load bool) {
	key := -1 - id
	d := e.p.Owner(j)
	r := e.ring(d, key, e.ps.own[id].n)
	if r.find(j) >= 0 {
		return
	}
	s := r.take(j)
	if load {
		e.load(id, j, d, e.ps.own[id].addr(s))
	}
}
