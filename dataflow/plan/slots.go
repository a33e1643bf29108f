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
	own, other []slotSet  // by value
	cells      [2]slotSet // by direction; n == 0 when unused or resident
	temps      []int64    // by edge temporary
}

// need is a buffer of a phase: n slots of so many bytes.
type need struct {
	what  slotOf
	id    int // value, EdgeTemp or direction
	bytes int64
	n     int
}

// slotOf says what a slot is for.
type slotOf uint8

const (
	ownSlot slotOf = iota
	otherSlot
	tempSlot
	cellSlot
)

// needs appends the buffers of phase q with c: so many slots for a chunk at the far end,
// which may be used again, and at most c.slots for what is not.
func (l *layout) needs(list []need, q int, c *choice) []need {
	p, s, cells, use := l.p, l.p.Spec, l.p.Cells, &l.usage.phases[q]
	for _, a := range use.values {
		id, v := a.id, &s.Values[a.id]
		own, other := !p.Places.Resident[id] && (a.ownRead || a.ownWrite), a.other && (!p.Places.Resident[id] || p.Devices > 1) // of other devices' intervals, too
		if !own && !other {
			continue
		}
		rest := p.rest(q, id)
		if own && rest > 0 {
			n := p.Groups[q]
			if v.Kind != Temp && c.slots > 1 { // those of the next visit come
				n++
			}
			list = append(list, need{ownSlot, id, cells.chunkBytes(v), min(n, rest)})
		}
		if other && rest > 0 {
			list = append(list, need{otherSlot, id, cells.chunkBytes(v), min(c.phase(q), rest)})
		}
	}
	for _, id := range use.temps {
		list = append(list, need{tempSlot, id, align(l.most.nnz * s.EdgeTemps[id]), 1})
	}
	for d := range 2 {
		if !use.dirs[d] || p.Places.CellsIn[d] {
			continue
		}
		if rest := p.rest(q, -1-d); rest > 0 {
			list = append(list, need{cellSlot, d, align(l.most.bytes[d]), min(c.slots*p.Groups[q]+c.ahead, rest*cells.P)})
		}
	}
	return list
}

// placePhase places the buffers of phase q.
func (l *layout) placePhase(f *fitter, floor int64, q int, c *choice) phaseSlots {
	s := l.p.Spec
	n := len(s.Values)
	room := make([]slotSet, 2*n)
	ps := phaseSlots{slots: c.phase(q), own: room[:n], other: room[n:], temps: make([]int64, len(s.EdgeTemps))}
	f.phase(q)
	for _, x := range l.needs(nil, q, c) {
		set := slotSet{floor + f.take(x.bytes*int64(x.n)), x.bytes, x.n}
		name := "edges"
		switch x.what {
		case ownSlot:
			name, ps.own[x.id] = "own "+s.Values[x.id].Name, set
		case otherSlot:
			name, ps.other[x.id] = "other "+s.Values[x.id].Name, set
		case cellSlot:
			name, ps.cells[x.id] = "cell "+Dir(x.id).String(), set
		case tempSlot:
			ps.temps[x.id] = set.at
		}
		l.book(name, set.at, x.bytes*int64(x.n), q, q)
	}
	return ps
}
