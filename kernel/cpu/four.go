package cpu

import (
	"slices"

	"sagann/chunk"
	"sagann/internal/simd"
	"sagann/kernel"
)

// four is the sum, the sum of squares, the maximum and the minimum (the maximum of negated rows) of one register, with ranks, which are
// computed together: one pass over its rows, and none that squares or negates them. Some may be missing: what they cost is little
// beside reading the rows.
type four struct {
	reg                    int
	leaf                   int // its rows are read where they lie, in this leaf; -1: they are in a strip
	sum, squares, top, low int // results; -1: missing
}

// results are the results of the four, -1 where one is missing.
func (f *four) results() [4]int { return [4]int{f.sum, f.squares, f.top, f.low} }

// stripFours tells whether some four are computed from strips.
func (s *sums) stripFours() bool {
	return slices.ContainsFunc(s.fours, func(f four) bool { return f.leaf < 0 })
}

// findFour takes such results out of those that are computed one by one: those of a leaf, and two and more of another register,
// but no sum alone.
func (c *Program) findFour() {
	p := c.p
	uses, by := readers(p)
	// of is the result in c.outs of the register, or of what an instruction of the role makes of it and nothing else reads.
	of := func(acc kernel.Acc, reg int, role kernel.Role) int {
		at := slices.IndexFunc(c.outs, func(i int) bool {
			o := &p.Outs[i]
			if o.Acc != acc || o.Key != kernel.NoKey {
				return false
			}
			if role == kernel.Func {
				return o.Reg == reg
			}
			k := by[o.Reg]
			return k >= 0 && p.Instrs[k].Role == role && p.Instrs[k].In[0] == reg && uses[o.Reg] == 1
		})
		if at < 0 {
			return -1
		}
		return c.outs[at]
	}
	for reg := range p.Widths {
		f := four{reg, -1, of(kernel.Sum, reg, kernel.Func), of(kernel.Sum, reg, kernel.Square), of(kernel.Max, reg, kernel.Func), of(kernel.Max, reg, kernel.Neg)}
		all := f.results()
		rest := slices.DeleteFunc(slices.Clone(c.outs), func(i int) bool { return slices.Contains(all[:], i) })
		if !p.Edges || max(f.squares, f.top, f.low) < 0 {
			continue
		}
		if uses[reg] == len(c.outs)-len(rest) {
			f.leaf = slices.IndexFunc(p.Leaves, func(l kernel.Leaf) bool { return l.Reg == reg && l.From == kernel.Other && l.Key == kernel.NoKey })
		}
		if f.leaf >= 0 || len(rest) <= len(c.outs)-2 {
			c.sums.fours, c.outs = append(c.sums.fours, f), rest
		}
	}
}

// readers counts, for each register, the instructions and results that read it; by is the instruction that makes it, -1: none.
func readers(p *kernel.Program) (uses, by []int) {
	uses, by = make([]int, len(p.Widths)), slices.Repeat([]int{-1}, len(p.Widths))
	for i, in := range p.Instrs {
		by[in.Dst] = i
		for _, r := range in.In {
			uses[r]++
		}
	}
	for _, o := range p.Outs {
		uses[o.Reg]++
		if o.Acc.Pair() {
			uses[o.Reg2]++
		}
	}
	return uses, by
}

// weighted is the leaf, of those that leaf knows by register, of rows that reg is times one number each, and the register of
// these; -1: reg is something else.
func weighted(p *kernel.Program, uses, by []int, reg int, leaf func(reg int) int) (row, weight int) {
	k := by[reg]
	if k < 0 || p.Instrs[k].Role != kernel.Mul {
		return -1, -1
	}
	in := p.Instrs[k].In
	for s := range 2 {
		l, w := leaf(in[s]), by[in[1-s]]
		if l >= 0 && w >= 0 && p.Instrs[w].Role == kernel.Widen && p.Widths[p.Instrs[w].In[0]] == 1 && uses[in[1-s]] == 1 {
			return l, p.Instrs[w].In[0]
		}
	}
	return -1, -1
}

// ranks are the ranks of edges [lo, hi) of the cell. Cells have none where no maximum is wanted, as for a variance alone: nothing reads them then.
func (w *worker) ranks(cell *chunk.View, lo, hi int) []float32 {
	if cell.Rank != nil {
		return cell.Rank[lo:hi]
	}
	w.held.none = slices.Grow(w.held.none, max(0, hi-lo-len(w.held.none)))
	return w.held.none[:hi-lo]
}

// findAscent finds the segments of the strip that starts at edge e before whose last edge no rank of the row falls. Where the program
// says that ranks ascend, and where there are none, it looks at none.
func (r *run) findAscent(w *worker, e int) {
	for k := range w.segs {
		g := &w.segs[k]
		if g.ascends = r.c.p.Ascend || r.l.Cell.Rank == nil; g.ascends {
			continue
		}
		places := r.l.Cell.Rank[e+g.lo : e+g.hi]
		last := places[0]
		if !g.first {
			last = w.rank
		}
		g.ascends = g.first || w.up
		for _, x := range places {
			g.ascends = g.ascends && last <= x
			last = x
		}
		w.up, w.rank = g.ascends, last
	}
}

// stepFour adds the strip that starts at edge e to the results that there are of the four.
func (r *run) stepFour(w *worker, f four, e int) {
	cols := r.c.p.Widths[f.reg]
	x, held := w.at[f.reg], r.held(w, f)
	for k := range w.segs {
		g := &w.segs[k]
		if !g.fresh || !g.ascends {
			r.stepApart(w, f, *g, x[g.lo*cols:g.hi*cols], e)
			continue
		}
		for i := len(w.held.count); i < g.hi; i++ {
			w.held.count = append(w.held.count, uint32(i))
		}
		simd.GatherFour(held.row(g.row), cols, x, cols, w.held.count[g.lo:g.hi], w.ranks(r.l.Cell, e+g.lo, e+g.hi), !g.first, false)
	}
}

// gatherFours computes the four of the rows of block b, without strips. One cell has all edges: rows that have none here are finished.
func (r *run) gatherFours(w *worker, f four, b block) {
	c, l, v, leaf := r.c, r.l, r.l.Cell, &r.c.p.Leaves[f.leaf]
	all, held, src, stream := f.results(), r.held(w, f), r.l.Bufs[leaf.Operand], r.streams(f)
	none := func(lo, hi int) { // rows [lo, hi) have no edges
		if l.First && lo < hi {
			r.start(all[:], lo, hi)
			if l.Last {
				r.finish(all[:], lo, hi)
			}
		}
	}
	next := b.lo
	for i := b.from; i < b.to; i++ {
		lo, hi := int(v.Ptr[i]), int(v.Ptr[i+1])
		if lo == hi {
			continue
		}
		row := rowOf(v, i)
		none(next, row)
		next = row + 1
		ids, ranks := w.rowsOf(l, leaf, w.farIDs(v, lo, hi)), w.ranks(v, lo, hi)
		if l.First && hi-lo <= chainTerms && (c.p.Ascend || slices.IsSorted(ranks)) {
			simd.GatherFour(held.row(row), leaf.Cols, src, leaf.LD, ids, ranks, false, stream)
			continue
		}
		if l.First {
			r.start(all[:], row, next)
		}
		for e := lo; e < hi; e += c.strip {
			n := min(c.strip, hi-e)
			w.held.rows = slices.Grow(w.held.rows[:0], n*leaf.Cols)[:n*leaf.Cols]
			simd.GatherRows(w.held.rows, src, leaf.LD, ids[e-lo:][:n], leaf.Cols)
			r.stepApart(w, f, segment{row: row, hi: n, all: hi - lo, first: e == lo, last: e+n == hi, fresh: l.First && hi-lo <= chainTerms}, w.held.rows, e)
		}
	}
	if stream {
		simd.Fence()
	}
	none(next, b.hi)
	if l.Last && !l.First {
		r.finish(all[:], b.lo, b.hi)
	}
}

// streamBytes are the bytes of results from which on they are written past the caches, which would lose them before they are read.
const streamBytes = 8 << 20

// streams tells whether the results of gathered four are written past the caches.
func (r *run) streams(f four) bool {
	bytes := 0
	for _, i := range f.results() {
		if i >= 0 {
			o := &r.c.p.Outs[i]
			bytes += 4 * r.l.Rows * (o.LD + o.AuxLD)
		}
	}
	return bytes >= streamBytes
}

// held are the buffers of the four, in the order of simd.GatherFour; nil: one that nobody wants. It also has a worker's room for them.
type held struct {
	cols int
	buf  [6][]float32
	ld   [6]int
	at   [6][]float32 // the last row

	rows  []float32 // copies of rows
	count []uint32  // 0, 1, 2 and so on: the rows of a strip
	none  []float32 // ranks where cells have none
}

func (r *run) held(w *worker, f four) *held {
	h := &w.held
	h.cols, h.buf, h.at = r.c.p.Widths[f.reg], [6][]float32{}, [6][]float32{}
	for i, out := range f.results() {
		if out < 0 {
			continue
		}
		o := &r.c.p.Outs[out]
		at := max(i, 2*i-2)
		h.buf[at], h.ld[at] = r.l.Bufs[o.Operand], o.LD
		if o.Aux >= 0 {
			h.buf[at+1], h.ld[at+1] = r.l.Bufs[o.Aux], o.AuxLD
		}
	}
	return h
}

// row is where the results of a row are, valid until the next call.
func (h *held) row(row int) *[6][]float32 {
	for i, buf := range h.buf {
		if buf != nil {
			h.at[i] = buf[row*h.ld[i]:][:h.cols]
		}
	}
	return &h.at
}

// stepApart adds the rows of a segment to the results one by one.
func (r *run) stepApart(w *worker, f four, g segment, rows []float32, e int) {
	at := g
	at.lo, at.hi = 0, g.hi-g.lo
	for _, out := range []struct {
		i    int
		make func(dst, x []float32)
	}{{f.sum, nil}, {f.top, nil}, {f.squares, simd.Square}, {f.low, simd.Neg}} {
		x := rows
		if out.i >= 0 && out.make != nil {
			w.made = slices.Grow(w.made[:0], len(rows))[:len(rows)]
			out.make(w.made, rows)
			x = w.made
		}
		if out.i >= 0 {
			r.stepOf(w, out.i, at, x, e+g.lo)
		}
	}
}
