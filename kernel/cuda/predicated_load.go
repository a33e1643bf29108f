package cuda

import (
	"fmt"
	"slices"

	"sagann/kernel"
)

// The gradient of a maximum gathers two wide rows per edge, the ranks of the arg-max and the gradient. It uses the
// gradient only in columns where the ranks are equal, which are few. So the kernel reads the gradient only on lanes that
// have a column whose mask is not zero.

// lazy returns two registers if in selects columns of a wide row by a comparison, and the row need not be read where the
// comparison fails: those of the row and of the comparison. Otherwise it returns -1, -1.
func (c *Program) lazy(in *kernel.Instr, instrs []*kernel.Instr, outs []*kernel.Out) (row, mask int) {
	if in.Role != kernel.Mask {
		return -1, -1
	}
	row, mask = in.In[0], in.In[1]
	if c.p.Widths[row] == 1 || !c.onlyFor(row, in, instrs, outs) {
		return -1, -1
	}
	far := slices.ContainsFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == row && l.From == kernel.Other && l.Key == kernel.NoKey })
	compared := slices.ContainsFunc(instrs, func(o *kernel.Instr) bool { return o.Dst == mask && o.Role == kernel.Eq })
	if !far || !compared {
		return -1, -1
	}
	return row, mask
}

// late finds the instructions for which lazy returns registers. It returns used without their rows, and the instructions
// with their two registers.
func (c *Program) late(instrs []*kernel.Instr, outs []*kernel.Out, used []int) ([]int, map[*kernel.Instr][2]int) {
	used, late := slices.Clone(used), map[*kernel.Instr][2]int{}
	for _, in := range instrs {
		if row, mask := c.lazy(in, instrs, outs); row >= 0 {
			late[in] = [2]int{row, mask}
			used = slices.DeleteFunc(used, func(r int) bool { return r == row })
		}
	}
	return used, late
}

// onlyFor tells whether in alone reads register r.
func (c *Program) onlyFor(r int, in *kernel.Instr, instrs []*kernel.Instr, outs []*kernel.Out) bool {
	for _, o := range instrs {
		if o != in && slices.Contains(o.In, r) {
			return false
		}
	}
	return !slices.ContainsFunc(outs, func(o *kernel.Out) bool { return o.Reg == r })
}

// fetchLazy reads register row on lanes where a mask is not zero.
func (t *emitter) fetchLazy(row, mask int) {
	i := slices.IndexFunc(t.c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == row })
	l := &t.c.p.Leaves[i]
	t.declare(row)
	t.line("bool need%d = false;", row)
	t.line("#pragma unroll")
	t.line("for (int k = 0; k < %d; k++) need%d |= r%d[k] != 0.f;", t.elems(l.Cols), row, mask)
	t.line("saga_fill(r%d, 0.f);", row)
	t.line("if (need%d) {", row)
	if p := fmt.Sprintf("b%d + %s * %d", l.Operand, rowAt(l), l.LD); l.Half {
		t.fetchHalf(l, p)
	} else {
		t.fetch(row, p, t.vector(l.LD))
	}
	t.line("}")
}
