package kernel

import "sagann/internal/simd"

// Sums over all rows go to `lanes` private partial sums, one a block of rows, which
// are added to the Global in block order: the bits do not depend on the workers.

func (c *CPU) reduceFloats(o *Out) int {
	if o.Acc == SumTN {
		return c.p.Widths[o.Reg] * c.p.Widths[o.Reg2]
	}
	return c.p.Widths[o.Reg]
}

func (r *run) startReduce(blocks int) {
	if len(r.c.reduces) == 0 {
		return
	}
	total := 0
	for _, i := range r.c.reduces {
		total += r.c.reduceFloats(&r.c.p.Outs[i])
	}
	for len(r.lanes) < blocks {
		r.lanes = append(r.lanes, make([]float32, total))
	}
	for _, x := range r.lanes[:blocks] {
		clear(x)
	}
}

// reduce adds n rows of a strip to the lane's partial sum of o.
func (r *run) reduce(w *worker, o *Out, lane, n int) {
	c := r.c
	part := r.partial(o, lane)
	if o.Acc == SumRows {
		simd.SumRows(part, w.at[o.Reg][:n*c.p.Widths[o.Reg]], n)
		return
	}
	m, k := c.p.Widths[o.Reg], c.p.Widths[o.Reg2]
	simd.GemmTN(n, m, k, w.at[o.Reg], m, w.at[o.Reg2], k, part, k, w.tn)
}

func (r *run) partial(o *Out, lane int) []float32 {
	at := 0
	for _, i := range r.c.reduces {
		q := &r.c.p.Outs[i]
		n := r.c.reduceFloats(q)
		if q == o {
			return r.lanes[lane][at : at+n]
		}
		at += n
	}
	panic("kernel: not a reduce")
}

// finishReduce adds the partial sums, in block order, to the Globals.
func (r *run) finishReduce(blocks int) {
	for _, i := range r.c.reduces {
		o := &r.c.p.Outs[i]
		dst := r.l.Bufs[o.Operand][:r.c.reduceFloats(o)]
		for lane := range blocks {
			simd.AddTo(dst, r.partial(o, lane))
		}
	}
}
