package cpu

import (
	"math/bits"
	"slices"

	"sagann/internal/simd"
	"sagann/kernel"
)

// chosen is a sum at sources that takes a number of a row at the other end from one edge alone: the gradient of a maximum, which goes to
// the edge whose rank the row has. Most edges have few such numbers, or none: they are added without a strip.
type chosen struct {
	out      int // result
	row, arg int // leaves: the rows, and the ranks that they go to
}

// leastChosen is the least number of columns of such rows: those of fewer are a cache line, and a strip reads no more.
const leastChosen = 32

// findChosen finds such sums, and takes what only they read from uses.
func (c *Program) findChosen(uses, by []int) {
	p := c.p
	leaf := func(reg int, from kernel.From) int {
		return slices.IndexFunc(p.Leaves, func(l kernel.Leaf) bool {
			return l.Reg == reg && l.From == from && l.Key == kernel.NoKey && (from != kernel.Cell || l.Array == kernel.Rank)
		})
	}
	made := func(reg int, role kernel.Role) *kernel.Instr { // the instruction of the role that makes a register; nil: there is none
		if k := by[reg]; k >= 0 && p.Instrs[k].Role == role {
			return &p.Instrs[k]
		}
		return nil
	}
	for i, o := range p.Outs {
		if !p.Edges || o.Acc != kernel.Sum || o.Key != kernel.NoKey || uses[o.Reg] != 1 || p.Widths[o.Reg] < leastChosen {
			continue
		}
		mask := made(o.Reg, kernel.Mask)
		if mask == nil || uses[mask.In[1]] != 1 {
			continue
		}
		eq := made(mask.In[1], kernel.Eq)
		for s := 0; eq != nil && s < 2; s++ {
			f, rank := chosen{i, leaf(mask.In[0], kernel.Other), leaf(eq.In[s], kernel.Other)}, made(eq.In[1-s], kernel.Widen)
			if f.row < 0 || f.arg < 0 || rank == nil || leaf(rank.In[0], kernel.Cell) < 0 {
				continue
			}
			c.chosen = append(c.chosen, f)
			for _, reg := range append(append([]int{o.Reg}, mask.In...), eq.In...) {
				uses[reg]--
			}
			break
		}
	}
}

// stepChosen adds the strip that starts at edge e to such a sum.
func (r *run) stepChosen(w *worker, f chosen, e, n int) {
	o, row, arg := &r.c.p.Outs[f.out], &r.c.p.Leaves[f.row], &r.c.p.Leaves[f.arg]
	cols := row.Cols
	words := (cols + 63) / 64
	w.found = slices.Grow(w.found[:0], n*words)[:n*words]
	simd.MatchRows(w.found, r.l.Bufs[arg.Operand], arg.LD, w.rowsOf(r.l, arg, w.far), r.l.Cell.Rank[e:e+n], cols)
	far, src := w.rowsOf(r.l, row, w.far), r.l.Bufs[row.Operand]
	more := func(sum []float32, lo, hi int) {
		for i := lo; i < hi; i++ {
			x := src[int(far[i])*row.LD:][:cols]
			for k, found := range w.found[i*words : (i+1)*words] {
				for ; found != 0; found &= found - 1 {
					c := 64*k + bits.TrailingZeros64(found)
					sum[c] += x[c]
				}
			}
		}
	}
	dst := r.l.Bufs[o.Operand]
	for k := range w.segs {
		g := &w.segs[k]
		w.long[f.out].segment(dst[g.row*o.LD:][:cols], *g, func(dst []float32) {
			if g.fresh {
				more(dst, g.lo, g.hi)
				return
			}
			w.made = zeros(w.made, cols)
			more(w.made, g.lo, g.hi)
			simd.AddTo(dst, w.made)
		}, more)
	}
}
