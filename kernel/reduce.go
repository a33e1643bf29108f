package kernel

import "sagann/internal/simd"

// Sums over all rows go to private partial sums, one a block of rows, which are added
// to the Global in block order: the bits do not depend on the workers. There are
// `lanes` blocks; less where a Global that rows are sorted into by key is so large that
// copies of it would fill the memory. With one lane it is summed into in place.

// countLanes is the number of partial sums. It depends on the program alone.
func (c *CPU) countLanes() int {
	if len(c.reduces) == 0 {
		return 0
	}
	total, keyed := 0, false
	for _, i := range c.reduces {
		o := &c.p.Outs[i]
		total += c.reduceFloats(o)
		keyed = keyed || o.Acc.KeyedRows()
	}
	if !keyed {
		return lanes
	}
	return max(1, min(lanes, laneFloats/max(1, total)))
}

func (c *CPU) reduceFloats(o *Out) int {
	switch {
	case o.Acc == SumTN:
		return c.p.Widths[o.Reg] * c.p.Widths[o.Reg2]
	case o.Acc.KeyedRows():
		return c.p.Widths[o.Reg] * o.Blocks
	}
	return c.p.Widths[o.Reg]
}

func (r *run) startReduce(blocks int) {
	if r.c.lanes <= 1 {
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
	m := c.p.Widths[o.Reg]
	switch o.Acc {
	case SumRows:
		simd.SumRows(part, w.at[o.Reg][:n*m], n)
	case SumBy:
		for i, key := range w.at[o.Reg2][:n] {
			if k := rowOfKey(key, o.Blocks); k >= 0 {
				simd.AddTo(part[k*m:(k+1)*m], w.at[o.Reg][i*m:(i+1)*m])
			}
		}
	case MaxBy:
		for i, key := range w.at[o.Reg2][:n] {
			if k := rowOfKey(key, o.Blocks); k >= 0 {
				maxOrderedOf(part[k*m:(k+1)*m], w.at[o.Reg][i*m:(i+1)*m])
			}
		}
	default:
		k := c.p.Widths[o.Reg2]
		simd.GemmTN(n, m, k, w.at[o.Reg], m, w.at[o.Reg2], k, part, k, w.tn)
	}
}

// rowOfKey is key as an index below n, or -1 if it is none.
func rowOfKey(key float32, n int) int {
	if k := int(key); key >= 0 && key < float32(n) && float32(k) == key {
		return k
	}
	return -1
}

func (r *run) partial(o *Out, lane int) []float32 {
	if r.c.lanes == 1 {
		return r.l.Bufs[o.Operand][:r.c.reduceFloats(o)]
	}
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
	if r.c.lanes <= 1 {
		return
	}
	for _, i := range r.c.reduces {
		o := &r.c.p.Outs[i]
		dst := r.l.Bufs[o.Operand][:r.c.reduceFloats(o)]
		for lane := range blocks {
			if o.Acc == MaxBy {
				MaxOrdered(dst, r.partial(o, lane))
			} else {
				simd.AddTo(dst, r.partial(o, lane))
			}
		}
	}
}
