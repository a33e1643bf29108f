package cpu

import (
	"slices"

	"sagann/internal/simd"
	"sagann/kernel"
)

// four is the sum, the sum of squares, the maximum and the minimum (the maximum of negated rows) of one register, with ranks, which are
// computed together: one pass over the rows of a strip, and none that squares or negates them. Some may be missing: what they cost is little
// beside a maximum.
type four struct {
	reg                    int
	sum, squares, top, low int // results; -1: missing
}

// findFour takes such results out of those that are computed one by one: two and more, of which one is a maximum or a minimum.
func (c *Program) findFour() {
	p := c.p
	uses, by := readers(p)
	// of is the result in c.outs of the register, or of what an instruction of the role makes of it and nothing else reads.
	of := func(acc kernel.Acc, reg int, role kernel.Role) int {
		at := slices.IndexFunc(c.outs, func(i int) bool {
			o := &p.Outs[i]
			if o.Acc != acc || o.Key != kernel.NoKey || acc == kernel.Max && o.Aux < 0 {
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
		f := four{reg, of(kernel.Sum, reg, kernel.Func), of(kernel.Sum, reg, kernel.Square), of(kernel.Max, reg, kernel.Func), of(kernel.Max, reg, kernel.Neg)}
		all := []int{f.sum, f.squares, f.top, f.low}
		rest := slices.DeleteFunc(slices.Clone(c.outs), func(i int) bool { return slices.Contains(all, i) })
		if p.Edges && len(rest) <= len(c.outs)-2 && max(f.top, f.low) >= 0 {
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

// findAscent finds the segments of the strip that starts at edge e before whose last edge no rank of the row falls. Where the program
// says that ranks ascend it looks at none.
func (r *run) findAscent(w *worker, e int) {
	ranks := r.l.Cell.Rank
	for k := range w.segs {
		g := &w.segs[k]
		if g.ascends = r.c.p.Ascend; g.ascends {
			continue
		}
		places := ranks[e+g.lo : e+g.hi]
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
	outs := r.c.p.Outs
	cols, ranks := r.c.p.Widths[f.reg], r.l.Cell.Rank
	x := w.at[f.reg]
	w.spare = slices.Grow(w.spare[:0], 6*cols)[:6*cols]
	for k := range w.segs {
		g := &w.segs[k]
		rows, places := x[g.lo*cols:g.hi*cols], ranks[e+g.lo:e+g.hi]
		if !g.fresh || !g.ascends {
			r.stepApart(w, f, *g, rows, e)
			continue
		}
		clear(w.spare[:cols])
		var held [6][]float32 // the four, then the ranks of the last two
		for i := range held {
			held[i] = w.spare[i*cols:][:cols]
		}
		for i, out := range []int{f.sum, f.squares, f.top, f.low} {
			if out < 0 {
				continue
			}
			o := &outs[out]
			held[i] = r.l.Bufs[o.Operand][g.row*o.LD:][:cols]
			if i >= 2 {
				held[i+2] = r.l.Bufs[o.Aux][g.row*o.AuxLD:][:cols]
			}
		}
		sum, squares, top, low, topRank, lowRank := held[0], held[1], held[2], held[3], held[4], held[5]
		if g.first { // the first row is held, whatever it is
			copy(top, rows)
			simd.Neg(low, rows[:cols])
			simd.Fill(topRank, places[0])
			simd.Fill(lowRank, places[0])
		}
		simd.FourRows(sum, squares, top, topRank, low, lowRank, rows, places)
	}
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
