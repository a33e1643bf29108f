package layout

import (
	"cmp"
	"slices"

	"sagann/dataflow/plan"
)

// slotSet is the ring of buffers of one streamed operand in one phase.
type slotSet struct {
	at    []int64 // device offsets of runs of buffers
	per   int     // buffers of a run, one behind the other
	bytes int64   // of each
	N     int     // number of buffers; 0: none, as the operand is not used or does not stream
}

// Addr is the device offset of the i-th slot, modulo N.
func (s slotSet) Addr(i int) int64 {
	i %= s.N
	return s.at[i/s.per] + int64(i%s.per)*s.bytes
}

// PhaseSlots are the slots of one phase.
type PhaseSlots struct {
	Slots      int       // for chunks at the far end
	Own, Other []slotSet // by value
	Cells      []slotSet // by direction
	Temps      []int64   // device offset by edge temporary
}

// need is what a phase needs for an operand: n slots of that many bytes each, per of them one behind the other.
type need struct {
	what  slotOf
	id    int // value, EdgeTemp or direction
	bytes int64
	n     int
	per   int
}

// mostRuns is in how many runs the slots of an operand lie at most, each wherever there is room.
const mostRuns = 4

// needOf is a need of n slots, of which unit at least lie one behind the other.
func needOf(what slotOf, id int, bytes int64, n, unit int) need {
	return need{what, id, bytes, n, unit * max(1, (n/unit+mostRuns-1)/mostRuns)}
}

// size is the bytes of a run.
func (x *need) size() int64 { return x.bytes * int64(min(x.per, x.n)) }

// run is how many slots the run has that begins with slot k.
func (x *need) run(k int) int64 { return int64(min(x.per, x.n-k)) }

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
// None has more slots than it has chunks or cells outside windows. The largest come first. Chunks that a wide cell reaches over have slots together.
func (l *Layout) needs(list []need, q int, c *Choice) []need {
	p, use := l.Plan, &l.Usage.Phases[q]
	for _, a := range use.Values {
		// With several devices, the intervals of other devices stream even if the value is resident.
		if here := p.Places.Resident[a.ID]; !here || p.Devices > 1 {
			list = l.valueNeeds(list, q, a.ID, a.Other, !here && (a.OwnRead || a.OwnWrite), l.rest(q, a.ID), c)
		}
	}
	for _, id := range use.Temps {
		list = append(list, needOf(tempSlot, id, plan.Align(l.Largest.NNZ*p.Spec.EdgeTemps[id]), 1, 1))
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
		list = append(list, needOf(workSlot, 0, l.work[q], 1, 1))
	}
	slices.SortStableFunc(list, func(a, b need) int { return cmp.Compare(b.size(), a.size()) })
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
		list = append(list, needOf(ownSlot, id, bytes, min(n, rest), 1))
	}
	if other {
		n, unit := min(c.phase(q), rest), 1
		if w := min(l.Plan.Cells.Wide, l.Plan.Span(id).N); w > 0 { // what a cell reaches over together
			runs, all := (n+w-1)/w, (rest+w-1)/w
			if c.Slots > 1 {
				runs = max(runs, 2)
			}
			n, unit = min(runs, all)*w, w
		}
		list = append(list, needOf(otherSlot, id, bytes, n, unit))
	}
	return list
}

// cellNeed is the buffer of phase q for cells of direction d, of which rest own intervals are in no window.
func (l *Layout) cellNeed(q, d, rest int, c *Choice) need {
	return needOf(cellSlot, d, plan.Align(l.Largest.bytes[d]), min(c.Slots*l.Plan.Groups[q]+c.ahead, rest*l.Plan.Cells.P), 1)
}

// placePhase places the buffers of phase q.
func (l *Layout) placePhase(f *fitter, floor int64, q int, c *Choice) PhaseSlots {
	s := l.Plan.Spec
	n := len(s.Values)
	room := make([]slotSet, 2*n)
	ps := PhaseSlots{Slots: c.phase(q), Own: room[:n], Other: room[n:], Cells: make([]slotSet, len(l.Plan.Cells.Bytes)), Temps: make([]int64, len(s.EdgeTemps))}
	f.phase(q, nil)
	for _, x := range l.needs(nil, q, c) {
		set := slotSet{per: x.per, bytes: x.bytes, N: x.n}
		for k := 0; k < x.n; k += x.per {
			set.at = append(set.at, floor+f.take(x.bytes*x.run(k)))
		}
		name := "edges"
		switch x.what {
		case ownSlot:
			name, ps.Own[x.id] = "own "+s.Values[x.id].Name, set
		case otherSlot:
			name, ps.Other[x.id] = "other "+s.Values[x.id].Name, set
		case cellSlot:
			name, ps.Cells[x.id] = "cell "+plan.Dir(x.id).String(), set
		case tempSlot:
			ps.Temps[x.id] = set.at[0]
		case workSlot:
			name, l.Plan.Places.Work[q] = "kernels", plan.Work{At: set.at[0], Bytes: x.bytes}
		}
		for k := 0; k < len(set.at); { // those that lie one behind the other are one buffer
			at, n := set.at[k], int64(0)
			for ; k < len(set.at) && set.at[k] == at+n; k++ {
				n += x.bytes * x.run(k*x.per)
			}
			l.book(name, at, n, q, q)
		}
	}
	return ps
}
