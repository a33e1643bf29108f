package cuda

import (
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// sliceWidth is the number of columns of a slice: a slice of all rows of a large
// interval then about fits the second-level cache, and a row of it is a whole line.
const sliceWidth = 32

// gatherThreads is the size of a gather's blocks. They are small: a block keeps its
// place until its longest row is done.
const gatherThreads = 64

// gatherKernel renders the pass over the edges of a cell: a warp has a row of the
// list, its groups of lanes take the row's edges in turn, and their sums are joined in
// a fixed order. When the program is dense the registers come from memory.
func (c *Program) gatherKernel(b *strings.Builder) error {
	p := c.p
	var instrs []*kernel.Instr
	made := make([]bool, len(p.Widths))
	var used []int
	want := func(r int) {
		if !made[r] && !slices.Contains(used, r) {
			used = append(used, r)
		}
	}
	if !c.Dense {
		for i := range p.Instrs {
			in := &p.Instrs[i]
			instrs = append(instrs, in)
			for _, r := range in.In {
				want(r)
			}
			made[in.Dst] = true
		}
	}
	var outs []*kernel.Out
	for i := range p.Outs {
		o := &p.Outs[i]
		if o.Acc.Global() || c.Dense && o.Acc == kernel.Store {
			continue
		}
		outs = append(outs, o)
		c.start = c.start || o.Acc == kernel.Sum && o.Key != kernel.NoKey
		want(o.Reg)
	}
	if len(outs) == 0 {
		return nil
	}
	width := 1
	for r, w := range p.Widths {
		if made[r] || slices.Contains(used, r) {
			width = max(width, w)
		}
	}
	if c.start { // columns of keyed sums are updated in memory, by one group a row
		if err := c.gatherWay(b, "gather", 0, instrs, outs, used, width); err != nil {
			return err
		}
	} else {
		t := &emitter{c: c}
		t.shape(width)
		t.spreadHeads(instrs, used, outs, width)
		if c.sliced(t, instrs, outs, used, width) {
			if err := c.gatherWay(b, "gather", c.sliceWidth(t, used, width), instrs, outs, used, width); err != nil {
				return err
			}
		}
		name := [2]string{"gather", "gather_whole"}[len(c.gather)]
		if err := c.gatherWay(b, name, 0, instrs, outs, used, width); err != nil {
			return err
		}
	}
	c.startKernels(b, outs)
	return nil
}

// sliceWidth is the number of columns of a slice: a line of each wide row that edges
// gather, twice as many where all such rows are of bfloat16 and a head's columns are not
// fewer than a lane's. Eight lanes take it.
func (c *Program) sliceWidth(t *emitter, used []int, width int) int {
	if t.heads > 0 && t.per%8 != 0 {
		return sliceWidth
	}
	all := false
	for i := range c.p.Leaves {
		if l := &c.p.Leaves[i]; l.From == kernel.Other && l.Cols == width && slices.Contains(used, l.Reg) {
			if !l.Half {
				return sliceWidth
			}
			all = true
		}
	}
	if all {
		return 2 * sliceWidth
	}
	return sliceWidth
}

// farBytes is what a row of the far end takes of the cache, whole and by slices of so many
// columns (0: none): its lines, whatever is read of them.
func (c *Program) farBytes(used []int, slice int) (whole, sliced int64) {
	for i := range c.p.Leaves {
		l := &c.p.Leaves[i]
		if l.From != kernel.Other || !slices.Contains(used, l.Reg) {
			continue
		}
		each := int64(4)
		if l.Half {
			each = 2
		}
		whole += 4 * int64(l.LD)
		sliced += min(4*int64(l.LD), each*int64(slice))
	}
	return whole, sliced
}

// gatherWay renders the kernels that work on slices of so many columns, or on whole
// rows with 0.
func (c *Program) gatherWay(b *strings.Builder, name string, slice int, instrs []*kernel.Instr, outs []*kernel.Out, used []int, width int) error {
	p := c.p
	all := used
	var body, before strings.Builder
	t := &emitter{c: c, b: &body, tab: "\t\t\t", ptr: make([]string, len(p.Widths))}
	t.shape(width)
	switch {
	case c.start:
		t.g = 32
	default:
		t.spreadHeads(instrs, used, outs, width)
		if slice > 0 {
			t.slice, t.v = slice, slice/8
			t.g = 8
		}
	}
	used, late := c.late(instrs, outs, used)
	t.loadEdges(used, &before)
	if err := t.edge(instrs, outs, late); err != nil {
		return err
	}
	way := gatherKernels{hub: entry{fn: -1}, large: t.hub()}
	way.far, way.slice = c.farBytes(all, slice)
	way.narrow = width < 2*slice
	k := &way.rows
	k.fn, k.slices = c.name(name), 1
	if t.slice > 0 {
		k.slices = (width + t.slice - 1) / t.slice
	}
	groups, shared := t.block(t.g, gatherThreads)
	threads := max(32, groups*t.g)
	k.groups, k.block, k.shared = threads/32, threads, shared
	k.row, k.edge = c.countGather(used, instrs, outs)
	if groups*t.g < 32 {
		k.shared = uint32(32 / t.g * t.shared * 4)
	}
	far := slices.ContainsFunc(p.Leaves, func(l kernel.Leaf) bool { return l.From == kernel.Other })
	floats := t.handover(outs)
	pass := func(hub bool) {
		b.WriteString(before.String())
		u := *t
		u.b, u.tab = b, "\t\t"
		fold := hub || floats == 0
		u.openRounds(outs, fold)
		fmt.Fprintf(b, "\t\t#pragma unroll %d\n\t\tfor (; next < stop; next += step) {\n\t\t\tconst ll e = lo + next; (void)e;\n", t.unroll(instrs))
		if far {
			b.WriteString("\t\t\tconst unsigned far = " + farID(p, "e") + ";\n")
		}
		b.WriteString(body.String())
		b.WriteString("\t\t}\n")
		u.closeRounds(outs, fold, func() {
			for i, o := range outs {
				u.merge(i, o)
			}
			if hub {
				u.join(outs)
			}
			u.line("if (lead) {")
			for i, o := range outs {
				u.end(i, o)
			}
			u.line("}")
		})
		b.WriteString("\t}}\n}\n")
	}
	t.head(b, name, threads, used)
	t.rowLoop(b, k.groups, outs, floats > 0)
	pass(false)
	if floats > 0 {
		way.hub = entry{fn: c.name(name + hubName), groups: hubThreads, block: hubThreads,
			shared: uint32(hubThreads / t.g * t.shared * 4), slices: k.slices, row: k.row, edge: k.edge}
		t.head(b, name+hubName, hubThreads, used)
		t.hubLoop(b, floats)
		pass(true)
	}
	var err error
	way.few, err = c.few(b, name, slice, instrs, outs, all, width)
	c.gather = append(c.gather, way)
	return err
}

// sliced tells whether columns can be worked on slice by slice: no instruction sees
// other columns than its own, and all wide registers are equally wide. Rows of edges lie
// in their order in memory, which slices would read in pieces.
func (c *Program) sliced(t *emitter, instrs []*kernel.Instr, outs []*kernel.Out, used []int, width int) bool {
	edgeRows := slices.ContainsFunc(outs, func(o *kernel.Out) bool { return o.Acc == kernel.Store }) ||
		slices.ContainsFunc(used, func(r int) bool { return c.Home[r].Kind != kernel.NoHome && c.p.Widths[r] >= sliceWidth })
	if edgeRows || width <= sliceWidth || t.heads > 0 && sliceWidth%t.per != 0 {
		return false
	}
	regs := slices.Clone(used)
	for _, in := range instrs {
		one := c.p.Widths[in.Dst] == 1
		for _, r := range in.In {
			one = one && c.p.Widths[r] == 1
		}
		switch {
		case in.Role == kernel.Widen && c.p.Widths[in.In[0]] == 1, one:
		case t.isHeads(in.In[0], in.Dst) && (in.Role == kernel.Widen || in.Role == kernel.GroupSum):
		case in.CUDA == "" || strings.Contains(in.CUDA, ";") || !c.global(in):
			return false
		}
		regs = append(regs, in.Dst)
	}
	for _, r := range regs {
		if w := c.p.Widths[r]; w != 1 && w != width && w != t.heads && !c.constant(r) {
			return false
		}
	}
	return true
}
