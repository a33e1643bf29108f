package kernel

import (
	"math"
	"slices"
)

// Registers that pass from one kernel of a tile to another lie in scratch memory, those
// whose lives do not meet in the same place: a GRU has 28 of them and room for a few.
// Fragment l runs at time 2l, the products and the sums over rows that follow it at 2l+1.

// ready is the level after whose fragment all that o sums over rows is there.
func (c *CUDA) ready(o *Out) int {
	if o.Acc.Pair() {
		return max(c.level[o.Reg], c.level[o.Reg2])
	}
	return c.level[o.Reg]
}

// lives says when register r, which lies in scratch memory, is first written and last read.
func (c *CUDA) lives(r int) (first, last int) {
	p := c.p
	first = 2 * c.level[r]
	for i := range p.Instrs {
		switch in := &p.Instrs[i]; {
		case in.Role.Product() && in.Dst == r:
			first = 2*c.level[in.In[0]] + 1
		case in.Role.Product() && in.In[0] == r:
			last = max(last, 2*c.level[r]+1)
		case !in.Role.Product() && slices.Contains(in.In, r):
			last = max(last, 2*c.level[in.Dst])
		}
	}
	for _, o := range p.Outs {
		switch {
		case o.Reg != r && (!o.Acc.Pair() || o.Reg2 != r):
		case o.Acc == Store:
			last = max(last, 2*c.level[r])
		case o.Acc.Global():
			last = max(last, 2*c.ready(&o)+1)
		default: // a gather, after the tile
			last = math.MaxInt
		}
	}
	return first, max(first, last)
}

// place gives registers of scratch memory their places: in the order in which they are
// written, each that free one which need grow least.
func (c *CUDA) place() {
	c.slot = make([]int, len(c.p.Widths))
	order := slices.Clone(c.order)
	from := func(r int) int { first, _ := c.lives(r); return first }
	slices.SortStableFunc(order, func(a, b int) int { return from(a) - from(b) })
	var until []int // by place: the last time at which it is read
	for _, r := range order {
		first, last := c.lives(r)
		ld := c.home[r].ld
		best := -1
		for s, end := range until {
			if end < first && (best < 0 || grow(c.room[s], ld) < grow(c.room[best], ld)) {
				best = s
			}
		}
		if best < 0 {
			best = len(until)
			until, c.room = append(until, 0), append(c.room, 0)
		}
		c.slot[r], until[best], c.room[best] = best, last, max(c.room[best], ld)
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
