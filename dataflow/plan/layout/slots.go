package layout

import "sagann/dataflow/plan"

// slotSet is the ring of buffers of one streamed operand in one phase.
type slotSet struct {
	at    int64 // device offset of the first
	bytes int64 // of each
	N     int   // number of buffers; 0: none, as the operand is not used or does not stream
}

// Addr is the device offset of the i-th slot, modulo N.
func (s slotSet) Addr(i int) int64 { return s.at + int64(i%s.N)*s.bytes }

// PhaseSlots are the slots of one phase.
type PhaseSlots struct {
	Slots      int       // for chunks at the far end
	Own, Other []slotSet // by value
	Cells      []slotSet // by direction
	Temps      []int64   // device offset by edge temporary
}

// need is a buffer of a phase: n slots of that many bytes each.
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

// needs appends the buffers of phase q with choice c. A value has c.phase(q) slots at the far end, whose chunks may be
// used again. At the visited intervals it has one slot per interval of a group and, if c.Slots is above 1, one more to
// load the next visit ahead. The cells of a direction have c.Slots slots per interval of a group, and c.ahead more.
// None has more slots than it has chunks or cells outside windows.
func (l *Layout) needs(list []need, q int, c *Choice) []need {
	p, s, cells, use := l.Plan, l.Plan.Spec, l.Plan.Cells, &l.Usage.Phases[q]
	for _, a := range use.Values {
		id, v := a.ID, &s.Values[a.ID]
		// With several devices, the intervals of other devices stream even if the value is resident.
		own, other := !p.Places.Resident[id] && (a.OwnRead || a.OwnWrite), a.Other && (!p.Places.Resident[id] || p.Devices > 1)
		if !own && !other {
			continue
		}
		rest := l.rest(q, id)
		if own && rest > 0 {
			n := p.Groups[q]
			if v.Kind != plan.Temp && c.Slots > 1 { // for the next visit, whose chunks come meanwhile
				n++
			}
			list = append(list, need{ownSlot, id, cells.ChunkBytes(v), min(n, rest)})
		}
		if other && rest > 0 {
			list = append(list, need{otherSlot, id, cells.ChunkBytes(v), min(c.phase(q), rest)})
		}
	}
	for _, id := range use.Temps {
		list = append(list, need{tempSlot, id, plan.Align(l.Largest.NNZ * s.EdgeTemps[id]), 1})
	}
	for _, dir := range use.Dirs {
		d := int(dir)
		if p.Places.CellsIn[d] {
			continue
		}
		if rest := l.rest(q, -1-d); rest > 0 {
			list = append(list, need{cellSlot, d, plan.Align(l.Largest.bytes[d]), min(c.Slots*p.Groups[q]+c.ahead, rest*cells.P)})
		}
	}
	return list
}

// placePhase places the buffers of phase q.
func (l *Layout) placePhase(f *fitter, floor int64, q int, c *Choice) PhaseSlots {
	s := l.Plan.Spec
	n := len(s.Values)
	room := make([]slotSet, 2*n)
	ps := PhaseSlots{Slots: c.phase(q), Own: room[:n], Other: room[n:], Cells: make([]slotSet, len(l.Plan.Cells.Bytes)), Temps: make([]int64, len(s.EdgeTemps))}
	f.phase(q)
	for _, x := range l.needs(nil, q, c) {
		set := slotSet{floor + f.take(x.bytes*int64(x.n)), x.bytes, x.n}
		name := "edges"
		switch x.what {
		case ownSlot:
			name, ps.Own[x.id] = "own "+s.Values[x.id].Name, set
		case otherSlot:
			name, ps.Other[x.id] = "other "+s.Values[x.id].Name, set
		case cellSlot:
			name, ps.Cells[x.id] = "cell "+plan.Dir(x.id).String(), set
		case tempSlot:
			ps.Temps[x.id] = set.at
		}
		l.book(name, set.at, x.bytes*int64(x.n), q, q)
	}
	return ps
}
