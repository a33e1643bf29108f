package cuda

import (
	"fmt"

	"sagann/kernel"
)

// What follows a gather (kernel/then.go), in the registers of the lanes that have the row's sums.

// then writes it: once, when all edges of the row are added.
func then(t *emitter) error {
	p := t.c.p
	if p.Then == nil {
		return nil
	}
	t.line("if (last) {")
	for i := range p.Then.Leaves {
		l := &p.Then.Leaves[i]
		switch k := p.Summed(l); {
		case k >= 0 && p.Widths[l.Reg] == 1:
			t.line("const float r%d = a%d;", l.Reg, k)
		case k >= 0:
			t.line("const float (&r%d)[%d] = a%d;", l.Reg, t.elems(p.Widths[l.Reg]), k)
		case l.From == kernel.Global:
			t.ptr[l.Reg] = fmt.Sprintf("b%d", l.Operand) // read once, before the rows
		default:
			t.leaf(l)
		}
	}
	for i := range p.Then.Instrs {
		if err := t.instr(&p.Then.Instrs[i]); err != nil {
			return err
		}
	}
	t.once = t.few && fewOnce
	for _, o := range p.Then.Outs {
		t.store(o.Reg, fmt.Sprintf("b%d + row * %d", o.Operand, o.LD), t.vector(o.LD))
	}
	t.line("}")
	return nil
}

// globalsOf are registers that a gather reads, with those Globals that what follows it reads.
func globalsOf(p *kernel.Program, used []int) []int {
	if p.Then == nil {
		return used
	}
	used = append([]int{}, used...)
	for _, l := range p.Then.Leaves {
		if l.From == kernel.Global {
			used = append(used, l.Reg)
		}
	}
	return used
}
