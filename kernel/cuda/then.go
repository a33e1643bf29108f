package cuda

import (
	"fmt"
	"strings"

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

// thenRows renders the kernel that computes it from sums in memory, for cells whose row list leaves rows out.
func thenRows(b *strings.Builder, c *Program) error {
	p := c.p.Then
	if p == nil {
		return nil
	}
	width := 1
	for _, in := range p.Instrs {
		width = max(width, p.Widths[in.Dst])
	}
	var body strings.Builder
	t := &emitter{c: c, b: &body, tab: "\t\t", ptr: make([]string, len(p.Widths))}
	t.shape(width)
	for i := range p.Leaves {
		if l := &p.Leaves[i]; l.From == kernel.Global {
			t.ptr[l.Reg] = fmt.Sprintf("b%d", l.Operand)
		} else {
			t.leaf(l)
		}
	}
	for i := range p.Instrs {
		if err := t.instr(&p.Instrs[i]); err != nil {
			return err
		}
	}
	for _, o := range p.Outs {
		t.store(o.Reg, fmt.Sprintf("b%d + row * %d", o.Operand, o.LD), t.vector(o.LD))
	}
	k := &c.last
	k.fn, k.slices = c.name("last"), 1
	k.groups, k.shared = t.block(t.g, rowThreads)
	k.block, k.row = k.groups*t.g, countThen(c)
	t.head(b, "last", k.block, globalsOf(c.p, nil))
	fmt.Fprintf(b, "\tfor (ll row = blockIdx.x * (ll)%d + group; row < n; row += gridDim.x * (ll)%d) {\n", k.groups, k.groups)
	b.WriteString(body.String() + "\t}\n}\n")
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
