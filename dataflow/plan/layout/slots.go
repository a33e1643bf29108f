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
	workSlot
)

// needs appends the buffers of phase q with choice c. A value has c.phase(q) slots at the far end, whose chunks may be
// used again. At the visited intervals it has one slot per interval of a group and, if c.Slots is above 1, one more to
// load the next visit ahead. The cells of a direction have c.Slots slots per interval of a group, and c.ahead more.
// None has more slots than it has chunks or cells outside windows. Chunks that a wide cell reaches over have slots together.
func (l *Layout) needs(list []need, q int, c *Choice) []need {
	p, use := l.Plan, &l.Usage.Phases[q]
	for _, a := range use.Values {
		// With several devices, the intervals of other devices stream even if the value is resident.
		if here := p.Places.Resident[a.ID]; !here || p.Devices > 1 {
			list = l.valueNeeds(list, q, a.ID, a.Other, !here && (a.OwnRead || a.OwnWrite), l.rest(q, a.ID), c)
		}
	}
	for _, id := range use.Temps {
		list = append(list, need{tempSlot, id, plan.Align(l.Largest.NNZ * p.Spec.EdgeTemps[id]), 1})
	}
	for _, d := range use.Dirs {
		if p.Places.CellsIn[d] {
			continue
		}
		if rest := l.rest(q, -1-int(d)); rest > 0 {
			list = append(list, l.cellNeed(q, int(d), rest, c))
		}
	}
	if l.work != nil && l.work[q] > 0 {
		list = append(list, need{workSlot, 0, l.work[q], 1})
	}
	return list
}

// valueNeeds appends the buffers of phase q for value id, for chunks at the far end and at visited intervals. rest intervals are in no window.
func (l *Layout) valueNeeds(list []need, q, id int, other, own bool, rest int, c *Choice) []need {
	if rest == 0 {
		return list
	}
	v := &l.Plan.Spec.Values[id]
	bytes := l.Plan.Cells.ChunkBytes(v)
	if own {
		n := l.Plan.Groups[q]
		if v.Kind != plan.Temp && c.Slots > 1 { // for the next visit, whose chunks come meanwhile
			n++
		}
		list = append(list, need{ownSlot, id, bytes, min(n, rest)})
	}
	if other {
		n := min(c.phase(q), rest)
		if w := min(l.Plan.Cells.Wide, l.Plan.Span(id).N); w > 0 { // what a cell reaches over together
			runs, all := (n+w-1)/w, (rest+w-1)/w
			if c.Slots > 1 {
				runs = max(runs, 2)
			}
			n = min(runs, all) * w
		}
		list = append(list, need{otherSlot, id, bytes, n})
	}
	return list
}

// cellNeed is the buffer of phase q for cells of direction d, of which rest own intervals are in no window.
func (l *Layout) cellNeed(q, d, rest int, c *Choice) need {
	return need{cellSlot, d, plan.Align(l.Largest.bytes[d]), min(c.Slots*l.Plan.Groups[q]+c.ahead, rest*l.Plan.Cells.P)}
}

// placePhase places the buffers of phase q.
func (l *Layout) placePhase(f *fitter, floor int64, q int, c *Choice) PhaseSlots {
	s := l.Plan.Spec
	n := len(s.Values)
	room := make([]slotSet, 2*n)
	ps := PhaseSlots{Slots: c.phase(q), Own: room[:n], Other: room[n:], Cells: make([]slotSet, len(l.Plan.Cells.Bytes)), Temps: make([]int64, len(s.EdgeTemps))}
	f.phase(q, nil)
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
		case workSlot:
			name, l.Plan.Places.Work[q] = "kernels", plan.Work{At: set.at, Bytes: x.bytes}
		}
		l.book(name, set.at, x.bytes*int64(x.n), q, q)
	}
	return ps
}
