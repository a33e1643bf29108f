package cpu

import (
	"slices"

	"sagann/internal/simd"
	"sagann/kernel"
)

// four is the sum, the sum of squares, the maximum and the minimum (the maximum of negated rows) of one register, with ranks, which are
// computed together: one pass over the rows of a strip, and none that squares or negates them.
type four struct{ sum, squares, top, low int } // results

// findFour takes such results out of those that are computed one by one, and the instructions that only they need.
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
		f := four{of(kernel.Sum, reg, kernel.Func), of(kernel.Sum, reg, kernel.Square), of(kernel.Max, reg, kernel.Func), of(kernel.Max, reg, kernel.Neg)}
		all := []int{f.sum, f.squares, f.top, f.low}
		if !p.Edges || slices.Min(all) < 0 {
			continue
		}
		c.fours = append(c.fours, f)
		c.outs = slices.DeleteFunc(c.outs, func(i int) bool { return slices.Contains(all, i) })
		c.skipIn[by[p.Outs[f.squares].Reg]], c.skipIn[by[p.Outs[f.low].Reg]] = true, true
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

// findAscent finds the segments of the strip that starts at edge e before whose last edge no rank of the row falls.
func (w *worker) findAscent(ranks []float32, e int) {
	for k := range w.segs {
		g := &w.segs[k]
		places := ranks[e+g.lo : e+g.hi]
		g.ascends = (g.first || w.up && w.rank <= places[0]) && slices.IsSorted(places)
		w.up, w.rank = g.ascends, places[len(places)-1]
	}
}

// stepFour adds the strip that starts at edge e to the four results.
func (r *run) stepFour(w *worker, f four, e int) {
	outs := r.c.p.Outs
	cols, ranks := r.c.p.Widths[outs[f.sum].Reg], r.l.Cell.Rank
	x := w.at[outs[f.sum].Reg]
	for k := range w.segs {
		g := &w.segs[k]
		row := func(i int) []float32 { o := &outs[i]; return r.l.Bufs[o.Operand][g.row*o.LD:][:cols] }
		rank := func(i int) []float32 { o := &outs[i]; return r.l.Bufs[o.Aux][g.row*o.AuxLD:][:cols] }
		rows, places := x[g.lo*cols:g.hi*cols], ranks[e+g.lo:e+g.hi]
		if !g.fresh || !g.ascends {
			r.stepApart(w, f, *g, rows, e)
			continue
		}
		top, low := row(f.top), row(f.low)
		if g.first { // the first row is held, whatever it is
			copy(top, rows)
			simd.Neg(low, rows[:cols])
			simd.Fill(rank(f.top), places[0])
			simd.Fill(rank(f.low), places[0])
		}
		simd.FourRows(row(f.sum), row(f.squares), top, rank(f.top), low, rank(f.low), rows, places)
	}
}

// stepApart adds the rows of a segment to the four results one by one.
func (r *run) stepApart(w *worker, f four, g segment, rows []float32, e int) {
	at := g
	at.lo, at.hi = 0, g.hi-g.lo
	made := func(fn func(dst, x []float32)) []float32 {
		w.made = slices.Grow(w.made[:0], len(rows))[:len(rows)]
		fn(w.made, rows)
		return w.made
	}
	r.stepOf(w, f.sum, at, rows, e+g.lo)
	r.stepOf(w, f.top, at, rows, e+g.lo)
	r.stepOf(w, f.squares, at, made(simd.Square), e+g.lo)
	r.stepOf(w, f.low, at, made(simd.Neg), e+g.lo)
}
