package cuda

import (
	"slices"
	"strings"

	"sagann/kernel"
)

// Registers with one number per head, in gather kernels. In the usual layout, number c is on the lane that has column c.
// Then each Widen and GroupSum would move numbers between lanes through shared memory. If the columns of a head fill the
// vectors of a power of two of lanes, another layout is used: a lane has the numbers of the heads that its own
// columns belong to. Then Widen is free, and GroupSum takes a few shuffles.

// isHeads tells whether one of two registers has a number per head and the other a number per column.
func (t *emitter) isHeads(a, b int) bool {
	v, w := t.c.p.Widths[a], t.c.p.Widths[b]
	return t.isWidth(min(v, w)) && max(v, w) == t.heads*t.per
}

// spreadHeads chooses the layout of heads for a kernel if all its instructions work with it.
func (t *emitter) spreadHeads(instrs []*kernel.Instr, used []int, outs []*kernel.Out, width int) {
	p := t.c.p
	heads := 0
	regs := slices.Clone(used)
	for _, in := range instrs {
		regs = append(regs, in.Dst)
	}
	for _, r := range regs {
		w := p.Widths[r]
		if w == 1 || w == width || t.c.constant(r) {
			continue
		}
		if heads != 0 && w != heads {
			return
		}
		heads = w
	}
	if heads == 0 || width%heads != 0 {
		return
	}
	per := width / heads
	lanes := per / t.v
	if per%t.v != 0 || lanes&(lanes-1) != 0 || lanes > t.g {
		return
	}
	for _, l := range p.Leaves {
		if l.Key != kernel.NoKey || l.Half && l.Cols == heads {
			return
		}
	}
	for _, in := range instrs {
		small := p.Widths[in.Dst] == heads
		for _, r := range in.In {
			small = small || p.Widths[r] == heads && !t.c.constant(r)
		}
		switch {
		case !small:
			continue
		case in.Role == kernel.Widen: // from one column, or to all
		case in.Role == kernel.GroupSum:
			if p.Widths[in.Dst] != heads {
				return
			}
		case !t.c.global(in):
			return
		}
	}
	t.heads, t.per = heads, per
}

// constant tells whether r is a Global that the kernel reads in memory, by address.
func (c *Program) constant(r int) bool {
	return slices.ContainsFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == r && l.From == kernel.Global && !l.Spread })
}

// global tells whether in reads columns other than its own only of constants or of registers of one column.
func (c *Program) global(in *kernel.Instr) bool {
	for k, r := range in.In {
		if strings.Contains(in.CUDA, "$"+string(rune('0'+k))+"[") && !c.constant(r) && c.p.Widths[r] != 1 {
			return false
		}
	}
	return true
}

// headSum adds the columns of each head of register r: first those of a lane, then those of the head's lanes.
func (t *emitter) headSum(dst, r, h int) {
	t.line("#pragma unroll")
	t.line("for (int k = 0; k < %d; k++) {", t.elems(h))
	t.line("\tfloat s = 0.f;")
	t.line("\tfor (int j = 0; j < V; j++) s += r%d[k * V + j];", r)
	if lanes := t.per / t.v; lanes > 1 {
		t.line("\tfor (int d = %d; d; d /= 2) s += __shfl_xor_sync(mask, s, d);", lanes/2)
	}
	t.line("\tr%d[k] = s;", dst)
	t.line("}")
}
