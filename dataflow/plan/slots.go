package plan

// slotSet is the ring of buffers behind one streamed operand in one phase.
type slotSet struct {
	at    int64
	bytes int64
	n     int
}

func (s slotSet) addr(i int) int64 { return s.at + int64(i%s.n)*s.bytes }

// phaseSlots are the slots of one phase.
type phaseSlots struct {
	slots      int
	own, other map[int]slotSet // by value
	cells      [2]slotSet      // by direction; n == 0 when unused or resident
	temps      map[int]int64   // edge temporaries
}

// placePhase places the buffers of a phase: so many slots for a chunk at the far end,
// which may be used again, and at most depth for what is not.
func (p *Plan) placePhase(phase int, touched []touch, slots, depth, ahead int, add func(string, int64) int64) phaseSlots {
	s, cells := p.Spec, p.Cells
	ps := phaseSlots{slots: slots}
	if !p.sizing {
		ps.own, ps.other = map[int]slotSet{}, map[int]slotSet{}
	}
	ring := func(name, of string, bytes int64, n int) slotSet {
		bytes = align(bytes)
		return slotSet{add(p.named(name, of), bytes*int64(n)), bytes, n}
	}
	put := func(m map[int]slotSet, id int, set slotSet) {
		if m != nil {
			m[id] = set
		}
	}
	for _, a := range touched {
		id, v := a.id, &s.Values[a.id]
		rest := p.rest(phase, id)
		if !p.Resident[id] && (a.ownRead || a.ownWrite) && rest > 0 {
			n := p.group(phase)
			if v.Kind != Temp && depth > 1 { // those of the next visit come
				n++
			}
			n = min(n, rest)
			put(ps.own, id, ring("own ", v.Name, cells.chunkBytes(v), n))
		}
		if a.other && (!p.Resident[id] || p.Devices > 1) && rest > 0 { // of other devices' intervals, too
			put(ps.other, id, ring("other ", v.Name, cells.chunkBytes(v), min(slots, rest)))
		}
	}
	used := [2]bool{}
	for _, st := range s.Phases[phase].Steps {
		if st.Kind != Stream {
			continue
		}
		used[st.Dir] = true
		for _, c := range st.Calls {
			for _, o := range c.Operands {
				if o.Kind != EdgeTemp {
					continue
				}
				if ps.temps == nil {
					ps.temps = map[int]int64{}
				}
				if _, ok := ps.temps[o.ID]; !ok {
					ps.temps[o.ID] = add("edges", p.most.nnz*s.EdgeTemps[o.ID])
				}
			}
		}
	}
	for d := range Dir(2) {
		if rest := p.rest(phase, -1-int(d)); used[d] && !p.CellsIn[d] && rest > 0 {
			ps.cells[d] = ring("cell ", d.String(), p.most.bytes[d], min(depth*p.group(phase)+ahead, rest*cells.P))
		}
	}
	return ps
}
