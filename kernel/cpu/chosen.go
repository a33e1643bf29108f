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
func findChosen(c *Program, uses, by []int) {
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
			c.sums.chosen = append(c.sums.chosen, f)
			for _, reg := range append(append([]int{o.Reg}, mask.In...), eq.In...) {
				uses[reg]--
			}
			break
		}
	}
}

// found are the numbers of a strip's rows that one sum takes.
type found struct {
	bits []uint64 // by edge and column
	at   []uint32 // their columns, of the first edge first
	of   []int    // by edge: the first of its columns; then their number
}

// find finds the columns whose bits are set in rows of so many words. It reads no numbers: what it cannot predict waits for no memory.
func (f *found) find(words int) {
	f.at, f.of = f.at[:0], append(f.of[:0], 0)
	for i := 0; i < len(f.bits); i += words {
		for k, b := range f.bits[i : i+words] {
			for ; b != 0; b &= b - 1 {
				f.at = append(f.at, uint32(64*k+bits.TrailingZeros64(b)))
			}
		}
		f.of = append(f.of, len(f.at))
	}
}

// stepChosen adds the strip that starts at edge e to such a sum.
func (r *run) stepChosen(w *worker, f chosen, e, n int) {
	o, row, arg := &r.c.p.Outs[f.out], &r.c.p.Leaves[f.row], &r.c.p.Leaves[f.arg]
	cols := row.Cols
	words := (cols + 63) / 64
	w.found.bits = slices.Grow(w.found.bits[:0], n*words)[:n*words]
	simd.MatchRows(w.found.bits, r.l.Bufs[arg.Operand], arg.LD, w.rowsOf(r.l, arg, w.far), r.l.Cell.Rank[e:e+n], cols)
	w.found.find(words)
	at, of, far, src := w.found.at, w.found.of, w.rowsOf(r.l, row, w.far), r.l.Bufs[row.Operand]
	more := func(sum []float32, lo, hi int) {
		for i := lo; i < hi; i++ {
			x := src[int(far[i])*row.LD:][:len(sum)]
			for _, c := range at[of[i]:of[i+1]] {
				sum[c] += x[c]
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
