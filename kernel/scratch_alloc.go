package kernel

import (
	"math"
	"slices"
)

// Registers that pass from one kernel of a tile to another lie in scratch memory, those
// whose lives do not meet in the same place: a GRU has 28 of them and room for a few.
// The kernel of level l runs at time 2l, the products and the sums over rows that follow it at 2l+1.

// Ready is the level after whose kernel all that o sums over rows is there.
func (l *Layout) Ready(o *Out) int {
	if o.Acc.Pair() {
		return max(l.Level[o.Reg], l.Level[o.Reg2])
	}
	return l.Level[o.Reg]
}

// lives says when register r, which lies in scratch memory, is first written and last read.
func (l *Layout) lives(r int) (first, last int) {
	p := l.Program
	first = l.time(r)
	for i := range p.Instrs {
		switch in := &p.Instrs[i]; {
		case in.Role.Apart() && in.Dst == r:
			first = 2*l.Level[in.In[0]] + 1
		case in.Role.Apart() && (in.In[0] == r || in.Role == SparseDrop && in.In[2] == r):
			last = max(last, 2*l.Level[in.In[0]]+1)
		case !in.Role.Apart() && slices.Contains(in.In, r):
			last = max(last, 2*l.Level[in.Dst])
		}
	}
	for _, o := range p.Outs {
		switch {
		case o.Reg != r && (!o.Acc.Pair() || o.Reg2 != r):
		case o.Acc == Store:
			last = max(last, 2*l.Level[r])
		case o.Acc.Global():
			last = max(last, 2*l.Ready(&o)+1)
		default: // a gather, after the tile
			last = math.MaxInt
		}
	}
	return first, max(first, last)
}

// place gives registers of scratch memory their places: in the order in which they are
// written, each that free one which need grow least.
func (l *Layout) place() {
	l.Slot = make([]int, len(l.Program.Widths))
	order := slices.Clone(l.Order)
	from := func(r int) int { first, _ := l.lives(r); return first }
	slices.SortStableFunc(order, func(a, b int) int { return from(a) - from(b) })
	var until []int // by place: the last time at which it is read
	for _, r := range order {
		first, last := l.lives(r)
		ld := l.Home[r].LD
		best := -1
		for s, end := range until {
			if end < first && (best < 0 || grow(l.Room[s], ld) < grow(l.Room[best], ld)) {
				best = s
			}
		}
		if best < 0 {
			best = len(until)
			until, l.Room = append(until, 0), append(l.Room, 0)
		}
		l.Slot[r], until[best], l.Room[best] = best, last, max(l.Room[best], ld)
	}
}

// grow is by how much a place of so many floats a row must grow, or is too large, which
// counts less.
func grow(room, ld int) float64 {
	if room < ld {
		return float64(ld - room)
	}
	return float64(room-ld) / (1 << 20)
}
