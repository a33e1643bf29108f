package cuda

import (
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// The code of gather kernels for one edge.

// edge writes the code for an edge whose rows have been read.
func (t *emitter) edge(instrs []*kernel.Instr, outs []*kernel.Out, late map[*kernel.Instr][2]int) error {
	for _, in := range instrs {
		if l, ok := late[in]; ok {
			t.fetchLazy(l[0], l[1])
		}
		if err := t.instr(in); err != nil {
			return err
		}
	}
	for i, o := range outs {
		accumulatorOf(t, i, o).step()
	}
	return nil
}

// unroll is how many edges a group loads at a time: as many as registers allow.
func (t *emitter) unroll(instrs []*kernel.Instr) int {
	if ofPairs(t.slice) {
		return 6
	}
	if t.slice > 0 && t.v == 4 || len(instrs) <= 3 {
		return 4
	}
	return 2
}

// loadEdges writes the loads of registers: of own rows before the loop over edges, of others in the loop.
func (t *emitter) loadEdges(used []int, before *strings.Builder) {
	for _, r := range used {
		k := slices.IndexFunc(t.c.p.Leaves, func(f kernel.Leaf) bool { return f.Reg == r })
		switch {
		case k < 0:
			h := t.c.Home[r]
			p := fmt.Sprintf("s%d + (e - from) * %d", r, h.LD)
			if h.Kind == kernel.InOperand {
				p = fmt.Sprintf("b%d + e * %d", h.Operand, h.LD)
			}
			t.ptr[r] = p
			t.load(r, p, t.vector(h.LD))
		case t.c.p.Leaves[k].From == kernel.Global:
			t.ptr[r] = fmt.Sprintf("b%d", t.c.p.Leaves[k].Operand)
		case t.c.p.Leaves[k].From == kernel.Own && t.c.p.Leaves[k].Key == kernel.NoKey:
			b, tab, round := t.b, t.tab, t.round
			t.b, t.tab, t.round = before, "\t\t", false
			t.leaf(&t.c.p.Leaves[k])
			t.b, t.tab, t.round = b, tab, round
		default:
			t.leaf(&t.c.p.Leaves[k])
		}
	}
}
