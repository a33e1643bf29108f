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

// fragment is the row kernel of a level: all its instructions but products and those that need a product of the level. A
// group of lanes computes a row (or an edge of the tile).
type fragment struct {
	c      *Program
	level  int
	tile   bool   // in the kernel of products
	at     string // the index of rows of operands
	instrs []*kernel.Instr
	made   []bool // by register
	used   []int  // registers that are read from memory
	puts   []put
}

// put is a register that goes to memory.
type put struct {
	reg, ld int
	ptr     string
}

// fragmentOf finds what the kernel of level l does.
func (c *Program) fragmentOf(l int) *fragment {
	f := &fragment{c: c, level: l, at: "row", made: make([]bool, len(c.p.Widths))}
	if c.p.Edges {
		f.at = "e"
	}
	for i := range c.p.Instrs {
		if in := &c.p.Instrs[i]; !in.Role.Apart() && c.Level[in.Dst] == l && c.Beside(in) {
			f.collect(in)
		}
	}
	f.stores()
	f.scratch()
	return f
}

// following finds what the kernel of products does behind them.
func following(c *Program, level int, g *kernel.Follow) *fragment {
	f := &fragment{c: c, level: level, tile: true, at: "row", made: make([]bool, len(c.p.Widths))}
	for _, i := range g.Then {
		f.collect(&c.p.Instrs[i])
	}
	f.stores()
	f.scratch()
	return f
}

// fragment renders the kernel of level l, if it has anything to do and is not a part of a product's.
func (c *Program) fragment(b *strings.Builder, l int) error {
	f := c.fragmentOf(l)
	if len(f.puts) == 0 {
		return nil
	}
	return f.render(b)
}

// collect adds an instruction.
func (f *fragment) collect(in *kernel.Instr) {
	f.instrs = append(f.instrs, in)
	f.made[in.Dst] = true
	for _, r := range in.In {
		if !f.made[r] {
			f.used = append(f.used, r)
		}
	}
}

// stores finds the results that the level stores. Products are written to their results directly.
func (f *fragment) stores() {
	for _, o := range f.c.p.Outs {
		h := f.c.Home[o.Reg]
		there := !f.made[o.Reg] && h.Kind == kernel.InOperand && h.Operand == o.Operand
		if o.Acc == kernel.Store && f.c.Level[o.Reg] == f.level && !there && (f.made[o.Reg] || !f.tile && !f.c.InTile(o.Reg)) {
			f.put(o.Reg, o.LD, fmt.Sprintf("b%d + %s * %d", o.Operand, f.at, o.LD))
		}
	}
}

// scratch finds the registers that go to scratch memory.
func (f *fragment) scratch() {
	for _, r := range f.c.Order {
		isLeaf := slices.ContainsFunc(f.c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == r })
		if f.made[r] || isLeaf && f.level == 0 {
			ld := f.c.Home[r].LD
			f.put(r, ld, fmt.Sprintf("s%d + i * %d", r, ld))
		}
	}
}

func (f *fragment) put(r, ld int, ptr string) {
	f.puts = append(f.puts, put{r, ld, ptr})
	if !f.made[r] {
		f.used = append(f.used, r)
	}
}

// width is that of the widest register.
func (f *fragment) width() int {
	width := 1
	for r, w := range f.c.p.Widths {
		if f.made[r] || slices.Contains(f.used, r) {
			width = max(width, w)
		}
	}
	return width
}

// render writes the kernel.
func (f *fragment) render(b *strings.Builder) error {
	c, p := f.c, f.c.p
	var body strings.Builder
	t := &emitter{c: c, b: &body, tab: "\t\t", ptr: make([]string, len(p.Widths))}
	t.shape(f.width())
	t.loadAll(f.used, f.at)
	for _, in := range f.instrs {
		if err := t.instr(in); err != nil {
			return err
		}
	}
	var written []int
	for _, o := range f.puts {
		t.store(o.reg, o.ptr, t.vector(o.ld))
		written = append(written, o.reg)
	}
	name := fmt.Sprintf("rows%d", f.level)
	k := &c.frags[f.level]
	k.fn, k.slices = c.name(name), 1
	k.groups, k.shared = t.block(t.g, rowThreads)
	k.block = k.groups * t.g
	k.row = c.countRows(f.used, f.instrs, written)
	t.head(b, name, k.block, f.used)
	fmt.Fprintf(b, "\tfor (ll i = blockIdx.x * (ll)%d + group; i < n; i += gridDim.x * (ll)%d) {\n", k.groups, k.groups)
	if p.Edges {
		b.WriteString("\t\tconst ll e = from + i, entry = saga_entry(ptr, entries, e), row = rowids ? rowids[entry] : entry;\n" +
			"\t\tconst unsigned far = " + farID(p, "e") + "; (void)row; (void)far;\n" + c.ifPlaces("\t\t"+edgePlace))
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
