package cpu

import (
	"sort"

	"sagann/internal/simd"
	"sagann/kernel"
)

// segment is a run of edges [lo, hi) of a strip, relative to its start, with the same own row. It may have
// the first edge of the row in the cell, the last one, both or neither.
type segment struct {
	row, lo, hi, all int
	first, last      bool
	fresh            bool // the row is still zero, and its edges in the cell are one chain
	ascends          bool // ranks of the row's edges up to these ascend (findAscent)
}

// edgeBlocks splits a cell into ranges of own rows with about equally many edges.
// Every own row is in exactly one block, also those without edges. With sums into
// a Global the number of blocks is fixed.
func edgeBlocks(l *Launch, sums bool) []block {
	v := l.Cell
	entries := len(v.Ptr) - 1
	nnz := int(v.Ptr[entries])
	n := min(256, 1+nnz/8192+l.Rows/4096)
	if sums {
		n = lanes
	}
	var out []block
	b := block{}
	for k := 1; k <= n; k++ {
		if k == n {
			b.to, b.hi = entries, l.Rows
		} else {
			target := uint32(int64(nnz) * int64(k) / int64(n))
			b.to = max(b.from, sort.Search(entries, func(i int) bool { return v.Ptr[i] >= target }))
			b.hi = b.to
			if v.RowIDs != nil {
				b.hi = l.Rows
				if b.to < entries {
					b.hi = int(v.RowIDs[b.to])
				}
			}
		}
		if b.hi > b.lo || b.to > b.from {
			out = append(out, b)
		}
		b = block{lo: b.hi, from: b.to}
	}
	return out
}

func (r *run) edges(w *worker, b block, number int) {
	c, l := r.c, r.l
	v := l.Cell
	if l.First {
		r.start(c.starts, b.lo, b.hi)
	}
	for _, d := range c.sums.directs {
		if d.weight >= 0 {
			continue
		}
		o, f := &c.p.Outs[d.out], &c.p.Leaves[d.leaf]
		dst, src := l.Bufs[o.Operand], l.Bufs[f.Operand]
		for i := b.from; i < b.to; i++ {
			if lo, hi := v.Ptr[i], v.Ptr[i+1]; lo < hi {
				at := rowOf(v, i) * o.LD
				w.long[d.out].gather(dst[at:at+f.Cols], src, f.LD, w.rowsOf(l, f, w.farIDs(v, int(lo), int(hi))))
			}
		}
	}
	for _, f := range c.sums.fours {
		if f.leaf >= 0 {
			r.gatherFours(w, f, b)
		}
	}
	if c.needs && b.from < b.to {
		end := int(v.Ptr[b.to])
		entry := b.from
		for e := int(v.Ptr[b.from]); e < end; {
			n := min(c.strip, end-e)
			w.segs = w.segs[:0]
			for done := 0; done < n; {
				for int(v.Ptr[entry+1]) <= e+done {
					entry++
				}
				lo, hi := int(v.Ptr[entry])-e, int(v.Ptr[entry+1])-e
				w.segs = append(w.segs, segment{rowOf(v, entry), done, min(n, hi), hi - lo,
					lo == done, hi <= n, l.First && hi-lo <= chainTerms, false})
				done = min(n, hi)
			}
			r.strip(w, e, n, number)
			e += n
		}
		for i := range w.pairs {
			r.multiply(w, i, number)
		}
	}
	if l.Last {
		r.finish(c.starts, b.lo, b.hi)
	}
}

// strip runs edges [e, e+n) of a block.
func (r *run) strip(w *worker, e, n, block int) {
	c, l := r.c, r.l
	w.far = w.farIDs(l.Cell, e, e+n)
	for i := range c.p.Leaves {
		if f := &c.p.Leaves[i]; f.From != kernel.Global && !c.skip[f.Reg] {
			r.load(w, f, e, n)
		}
	}
	r.execute(w, e, n)
	for _, d := range c.sums.directs {
		if d.weight < 0 {
			continue
		}
		o, f := &c.p.Outs[d.out], &c.p.Leaves[d.leaf]
		dst, src, s, far := l.Bufs[o.Operand], l.Bufs[f.Operand], w.at[d.weight], w.rowsOf(l, f, w.far)
		for _, g := range w.segs {
			at := g.row * o.LD
			w.long[d.out].segment(dst[at:at+f.Cols], g,
				func(dst []float32) { simd.GatherWSum(dst, src, f.LD, far[g.lo:g.hi], s[g.lo:g.hi]) },
				func(sum []float32, lo, hi int) { simd.GatherWMore(sum, src, f.LD, far[lo:hi], s[lo:hi]) })
		}
	}
	for _, f := range c.sums.chosen {
		r.stepChosen(w, f, e, n)
	}
	if c.sums.stripFours() {
		r.findAscent(w, e)
	}
	for _, f := range c.sums.fours {
		if f.leaf < 0 {
			r.stepFour(w, f, e)
		}
	}
	for _, i := range c.outs {
		o := &c.p.Outs[i]
		switch o.Acc {
		case kernel.SumByType, kernel.SumTNByType:
			if c.sums.paired[i].with == i {
				r.pair(w, i, e, n, block)
			}
		case kernel.Store:
			r.store(w, o, e, n)
		case kernel.SumTN, kernel.SumRows, kernel.SumBy, kernel.MaxBy, kernel.SumSparse:
			r.reduce(w, i, block, n)
		default:
			r.step(w, i, e)
		}
	}
}

// load fills the register of leaf f for edges [e, e+n).
func (r *run) load(w *worker, f *kernel.Leaf, e, n int) {
	c, v := r.c, r.l.Cell
	if f.From == kernel.Cell {
		switch f.Array {
		case kernel.Rank:
			w.at[f.Reg] = v.Rank[e : e+n]
		case kernel.Weight:
			w.at[f.Reg] = v.Weight[e : e+n]
		case kernel.Data:
			w.at[f.Reg] = v.Data[e*f.Cols : (e+n)*f.Cols]
		case kernel.Type:
			dst := c.reg(w, f.Reg, n)
			for i, t := range v.Type[e : e+n] {
				dst[i] = float32(t)
			}
			w.at[f.Reg] = dst
		}
		return
	}
	buf := r.l.Bufs[f.Operand]
	if f.From == kernel.EdgeBuf && f.LD == f.Cols {
		w.at[f.Reg] = buf[e*f.Cols : (e+n)*f.Cols]
		return
	}
	dst := c.reg(w, f.Reg, n)
	w.at[f.Reg] = dst
	switch {
	case f.Key != kernel.NoKey:
		r.loadKeyed(w, f, dst, e)
	case f.From == kernel.Other:
		simd.GatherRows(dst, buf, f.LD, w.rowsOf(r.l, f, w.far), f.Cols)
	case f.From == kernel.Own:
		for _, g := range w.segs {
			at := r.l.row(f, g.row) * f.LD
			simd.RepeatRow(dst[g.lo*f.Cols:g.hi*f.Cols], buf[at:at+f.Cols], g.hi-g.lo)
		}
	case f.From == kernel.EdgeBuf:
		for i := range n {
			copy(dst[i*f.Cols:(i+1)*f.Cols], buf[(e+i)*f.LD:])
		}
	}
}

func (r *run) loadKeyed(w *worker, f *kernel.Leaf, dst []float32, e int) {
	buf := r.l.Bufs[f.Operand]
	keys := r.keys(w, f.Key, e, len(dst)/f.Cols)
	if far := w.far; f.Cols == 1 && f.From == kernel.Other && !f.Indexed {
		for i, k := range keys {
			if dst[i] = 0; k < f.Blocks {
				dst[i] = buf[int(far[i])*f.LD+k]
			}
		}
		return
	}
	for _, g := range w.segs {
		for i := g.lo; i < g.hi; i++ {
			row := g.row
			if f.From == kernel.Other {
				row = int(w.far[i])
			}
			to := dst[i*f.Cols : (i+1)*f.Cols]
			k := keys[i]
			if k >= f.Blocks {
				clear(to)
				continue
			}
			copy(to, buf[r.l.row(f, row)*f.LD+k*f.Cols:])
		}
	}
}
