package cuda

import (
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// sliceWidth is the number of columns of a slice. A slice of a row is then a whole cache line, and the slices of all
// rows of a large interval just about fit the L2 cache.
const sliceWidth = 32

// gatherThreads is the number of threads per block of a gather. Blocks are small, since a block occupies its
// multiprocessor until its longest row is done.
const gatherThreads = 64

// gathering is the work of a gather: instructions per edge and reductions over edges.
type gathering struct {
	instrs []*kernel.Instr
	outs   []*kernel.Out
	used   []int // registers that are read from memory
	width  int   // of the widest register
}

// gathering collects the work of the gather. If the program has products, row kernels compute its registers, and the
// gather reads them from memory.
func (c *Program) gathering() *gathering {
	p, g := c.p, &gathering{width: 1}
	made := make([]bool, len(p.Widths))
	want := func(r int) {
		if !made[r] && !slices.Contains(g.used, r) {
			g.used = append(g.used, r)
		}
	}
	for i := range p.Instrs {
		if in := &p.Instrs[i]; !c.Dense {
			g.instrs = append(g.instrs, in)
			for _, r := range in.In {
				want(r)
			}
			made[in.Dst] = true
		}
	}
	for i := range p.Outs {
		if o := &p.Outs[i]; !o.Acc.Global() && !(c.Dense && o.Acc == kernel.Store) {
			g.outs = append(g.outs, o)
			want(o.Reg)
		}
	}
	for r, w := range p.Widths {
		if made[r] || slices.Contains(g.used, r) {
			g.width = max(g.width, w)
		}
	}
	return g
}

// gatherKernel renders the pass over the edges of a cell. A warp computes a row of the row list: its groups of lanes
// take the row's edges in turn, and their sums are added in a fixed order.
func (c *Program) gatherKernel(b *strings.Builder) error {
	g := c.gathering()
	if len(g.outs) == 0 {
		return nil
	}
	c.start = slices.ContainsFunc(g.outs, func(o *kernel.Out) bool { return o.Acc == kernel.Sum && o.Key != kernel.NoKey })
	if !c.start { // with c.start, keyed sums are updated in memory, by one group per row
		t := &emitter{c: c}
		t.shape(g.width)
		t.spreadHeads(g.instrs, g.used, g.outs, g.width)
		if c.sliced(t, g) {
			way, err := c.gatherWay(b, "gather", c.sliceWidth(t, g.used, g.width), g)
			if err != nil {
				return err
			}
			c.gather = append(c.gather, way)
			if c.laid.Pair && t.heads == 0 {
				if way, err = c.gatherWay(b, "pair", pairCols, g); err != nil {
					return err
				}
				c.pair = &way
				pairLay(b, c)
			}
		}
	}
	name := [2]string{"gather", "gather_whole"}[len(c.gather)]
	way, err := c.gatherWay(b, name, 0, g)
	if err != nil {
		return err
	}
	c.gather = append(c.gather, way)
	wonKernels(b, c)
	c.startKernels(b, g.outs)
	return thenRows(b, c)
}

// sliceWidth is the number of columns of a slice, which eight lanes compute: a cache line of float32 numbers. It is
// twice as many if all wide rows that edges read are of bfloat16, unless a head's columns are no multiple of eight.
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

// farBytes is how many bytes of cache a row of a far end takes, over all operands: whole, and a slice of so many
// columns (0: no slices).
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

// gatherShape chooses lanes and columns for slices of so many columns, or for whole rows if slice is 0.
func (t *emitter) gatherShape(slice int, g *gathering) {
	t.shape(g.width)
	if t.c.start {
		t.g = 32
		return
	}
	t.spreadHeads(g.instrs, g.used, g.outs, g.width)
	if slice > 0 {
		t.slice, t.v, t.g = slice, slice/8, 8
	}
}

// gatherWay renders the kernels for slices of so many columns, or for whole rows if slice is 0.
func (c *Program) gatherWay(b *strings.Builder, name string, slice int, g *gathering) (way gatherKernels, err error) {
	var loads, body, before strings.Builder
	t := &emitter{c: c, b: &body, tab: "\t\t\t", ptr: make([]string, len(c.p.Widths))}
	t.gatherShape(slice, g)
	used, late := c.late(g.instrs, g.outs, g.used)
	if ofPairs(slice) {
		t.b, t.round = &loads, true
	}
	t.loadEdges(used, &before)
	t.b, t.round = &body, false
	if err := t.edge(g.instrs, g.outs, late); err != nil {
		return way, err
	}
	way = gatherKernels{hub: entry{fn: -1}, large: t.hub(), sums: 32 / t.g, narrow: g.width < 2*slice}
	way.far, way.slice = c.farBytes(g.used, slice)
	k := &way.rows
	k.fn, k.slices = c.name(name), t.slices(g.width)
	groups, shared := t.block(t.g, gatherThreads)
	threads := max(32, groups*t.g)
	k.groups, k.block, k.shared = threads/32, threads, shared
	k.row, k.edge = c.countGather(used, g.instrs, g.outs)
	if groups*t.g < 32 {
		k.shared = uint32(32 / t.g * t.shared * 4)
	}
	floats := t.handover(g.outs)
	t.head(b, name, threads, globalsOf(c.p, used))
	if ofPairs(t.slice) {
		b.WriteString(pairSide)
	}
	t.rowLoop(b, k.groups, g.outs, floats > 0)
	if err := t.pass(b, g, before.String(), loads.String(), body.String(), false, floats == 0); err != nil {
		return way, err
	}
	if floats > 0 {
		way.hub = entry{fn: c.name(name + hubName), groups: hubThreads, block: hubThreads,
			shared: uint32(hubThreads / t.g * t.shared * 4), slices: k.slices, row: k.row, edge: k.edge}
		t.head(b, name+hubName, hubThreads, globalsOf(c.p, used))
		if way.most = ofWarps(t); way.most > 0 {
			warpLoop(b, way.most)
			if err := t.pass(b, g, before.String(), loads.String(), body.String(), false, true); err != nil {
				return way, err
			}
		}
		t.hubLoop(b, floats)
		if err := t.pass(b, g, before.String(), loads.String(), body.String(), true, true); err != nil {
			return way, err
		}
	}
	way.few, err = c.few(b, name, slice, g)
	return way, err
}

// pass writes the code for a row: before its edges, for each edge, and for their sums. fold is the argument of
// openRounds. Of pairs, what is read of an edge stands in loads.
func (t *emitter) pass(b *strings.Builder, g *gathering, before, loads, body string, hub, fold bool) (err error) {
	b.WriteString(before)
	u := *t
	u.b, u.tab = b, "\t\t"
	u.openRounds(g.outs, fold)
	if ofPairs(t.slice) && !hub {
		pairEdges(b, t, loads, body)
	} else {
		fmt.Fprintf(b, "\t\t#pragma unroll %d\n\t\tfor (; next < stop; next += step) {\n\t\t\tconst ll e = lo + next; (void)e;\n", t.unroll(g.instrs))
		if slices.ContainsFunc(t.c.p.Leaves, func(l kernel.Leaf) bool { return l.From == kernel.Other }) {
			b.WriteString("\t\t\tconst unsigned far = " + farID(t.c.p, "e") + ";\n" + t.c.ifPlaces("\t\t\t"+edgePlace))
		}
		if ofPairs(t.slice) {
			b.WriteString("\t\t\tconstexpr int u = 0;\n" + holding(t, "\t\t\t", 1))
		}
		b.WriteString(loads + body + "\t\t}\n")
	}
	u.closeRounds(g.outs, fold, func() {
		for i, o := range g.outs {
			accumulatorOf(&u, i, o).merge()
		}
		if hub {
			u.join(g.outs)
		}
		u.line("if (lead) {")
		for i, o := range g.outs {
			accumulatorOf(&u, i, o).end()
		}
		err = then(&u)
		u.line("}")
	})
	b.WriteString("\t}}\n}\n")
	return err
}

// sliced tells whether columns can be computed slice by slice. No instruction may read columns other than its own, and
// all wide registers must be equally wide. A gather that reads or writes rows of edges is not sliced: these rows are
// contiguous in memory, and slices would access them in pieces.
func (c *Program) sliced(t *emitter, g *gathering) bool {
	edgeRows := slices.ContainsFunc(g.outs, func(o *kernel.Out) bool { return o.Acc == kernel.Store }) ||
		slices.ContainsFunc(g.used, func(r int) bool { return c.Home[r].Kind != kernel.NoHome && c.p.Widths[r] >= sliceWidth })
	if edgeRows || g.width <= sliceWidth || t.heads > 0 && sliceWidth%t.per != 0 {
		return false
	}
	regs := slices.Clone(g.used)
	for _, in := range g.instrs {
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
		if w := c.p.Widths[r]; w != 1 && w != g.width && w != t.heads && !c.constant(r) {
			return false
		}
	}
	return true
}
