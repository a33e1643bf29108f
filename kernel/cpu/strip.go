package cpu

import (
	"sagann/internal/simd"
	"sagann/kernel"
)

// fillGlobals points Global registers at their buffers and repeats spread rows.
func (r *run) fillGlobals(w *worker) {
	if w.ready {
		return
	}
	w.ready = true
	c := r.c
	for _, l := range c.p.Leaves {
		if l.From != kernel.Global || c.skip[l.Reg] {
			continue
		}
		buf := r.l.Bufs[l.Operand]
		if !l.Spread {
			w.at[l.Reg] = buf
			continue
		}
		full := c.reg(w, l.Reg, c.strip)
		simd.RepeatRow(full, buf[:l.Cols], c.strip)
		w.at[l.Reg] = full
	}
}

// execute runs the instructions over a strip of n rows; first is the strip's first
// row in Store buffers.
func (r *run) execute(w *worker, first, n int) {
	c := r.c
	for i := range c.p.Instrs {
		if c.skipIn[i] {
			continue
		}
		in := &c.p.Instrs[i]
		cols := c.p.Widths[in.Dst]
		var dst []float32
		if s := c.stored[in.Dst]; s >= 0 {
			dst = r.l.Bufs[c.p.Outs[s].Operand][first*cols : (first+n)*cols]
		} else {
			dst = c.reg(w, in.Dst, n)
		}
		w.at[in.Dst] = dst
		if in.Role.Product() {
			simd.GemmPacked(n, w.at[in.In[0]], c.p.Widths[in.In[0]], &r.packed[i], dst, cols, false, w.gemm)
			continue
		}
		a := &w.args
		a.Rows, a.Out, a.OutCols, a.I, a.J, a.F = n, dst, cols, in.I, in.J, in.F
		a.In, a.InCols, a.InRows = a.In[:0], c.inCols[i], c.inRows[i]
		for k, x := range in.In {
			s := w.at[x]
			if a.InRows[k] == 0 {
				s = s[:n*a.InCols[k]]
			}
			a.In = append(a.In, s)
		}
		in.Fn(a)
	}
}
