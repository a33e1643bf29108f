package cuda

import (
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// rowThreads is the size of the blocks of row kernels.
const rowThreads = 256

// sharedLimit is the shared memory of a block that every GPU has without asking.
const sharedLimit = 48 << 10

// fragment renders the kernel of level l: all instructions that are neither products
// nor wait for one of level l, for a row (or an edge of the tile) a group of lanes.
func (c *Program) fragment(b *strings.Builder, l int) error {
	p := c.p
	var instrs []*kernel.Instr
	made := make([]bool, len(p.Widths))
	var used []int // registers that come from elsewhere
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if in.Role.Product() || c.Level[in.Dst] != l {
			continue
		}
		instrs = append(instrs, in)
		made[in.Dst] = true
		for _, r := range in.In {
			if !made[r] {
				used = append(used, r)
			}
		}
	}
	type put struct {
		reg, ld int
		ptr     string
	}
	var puts []put
	at := "row"
	if p.Edges {
		at = "e"
	}
	for _, o := range p.Outs {
		h := c.Home[o.Reg]
		if o.Acc != kernel.Store || c.Level[o.Reg] != l || !made[o.Reg] && h.Kind == kernel.InOperand && h.Operand == o.Operand {
			continue
		}
		puts = append(puts, put{o.Reg, o.LD, fmt.Sprintf("b%d + %s * %d", o.Operand, at, o.LD)})
		if !made[o.Reg] {
			used = append(used, o.Reg)
		}
	}
	for _, r := range c.Order {
		isLeaf := slices.ContainsFunc(p.Leaves, func(f kernel.Leaf) bool { return f.Reg == r })
		if !made[r] && !(isLeaf && l == 0) {
			continue
		}
		puts = append(puts, put{r, c.Home[r].LD, fmt.Sprintf("s%d + i * %d", r, c.Home[r].LD)})
		if !made[r] {
			used = append(used, r)
		}
	}
	if len(puts) == 0 {
		return nil
	}
	var body strings.Builder
	t := &emitter{c: c, b: &body, tab: "\t\t", ptr: make([]string, len(p.Widths))}
	width := 1
	for r, w := range p.Widths {
		if made[r] || slices.Contains(used, r) {
			width = max(width, w)
		}
	}
	t.shape(width)
	t.loadAll(used, at)
	for _, in := range instrs {
		if err := t.instr(in); err != nil {
			return err
		}
	}
	for _, o := range puts {
		t.store(o.reg, o.ptr, t.vector(o.ld))
	}
	k := &c.frags[l]
	k.fn, k.slices = c.name(fmt.Sprintf("rows%d", l)), 1
	k.groups, k.shared = t.block(t.g, rowThreads)
	k.block = k.groups * t.g
	var written []int
	for _, o := range puts {
		written = append(written, o.reg)
	}
	k.row = c.countRows(used, instrs, written)
	t.head(b, fmt.Sprintf("rows%d", l), k.block, used)
	fmt.Fprintf(b, "\tfor (ll i = blockIdx.x * (ll)%d + group; i < n; i += gridDim.x * (ll)%d) {\n", k.groups, k.groups)
	if p.Edges {
		b.WriteString("\t\tconst ll e = from + i, entry = saga_entry(ptr, entries, e), row = rowids ? rowids[entry] : entry;\n" +
			"\t\tconst unsigned far = " + farID(p, "e") + "; (void)row; (void)far;\n")
	} else {
		b.WriteString("\t\tconst ll row = first + i; (void)row;\n")
	}
	b.WriteString(body.String())
	b.WriteString("\t}\n}\n")
	return nil
}

// loadAll reads the registers that the kernel does not compute; at is the index of
// rows of operands, and those of scratch memory go by i.
func (t *emitter) loadAll(used []int, at string) {
	c := t.c
	done := make([]bool, len(c.p.Widths))
	for _, r := range used {
		if done[r] {
			continue
		}
		done[r] = true
		if k := slices.IndexFunc(c.p.Leaves, func(f kernel.Leaf) bool { return f.Reg == r }); k >= 0 {
			if l := &c.p.Leaves[k]; l.From == kernel.Global {
				t.ptr[r] = fmt.Sprintf("b%d", l.Operand) // read once, before the loop
			} else {
				t.leaf(l)
			}
			continue
		}
		h := c.Home[r]
		if h.Kind == kernel.InOperand {
			t.ptr[r] = fmt.Sprintf("b%d + %s * %d", h.Operand, at, h.LD)
		} else {
			t.ptr[r] = fmt.Sprintf("s%d + i * %d", r, h.LD)
		}
		t.load(r, t.ptr[r], t.vector(h.LD))
	}
}
