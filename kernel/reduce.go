package kernel

import "sagann/internal/simd"

// Sums over all rows go to private partial sums, which are added to the Global in their
// order: the bits do not depend on the workers. The rows are in `lanes` blocks, and each
// block has a partial sum of its own; where a Global that rows are sorted into by key is so
// large that copies of it would fill the memory, neighbouring blocks share one. With one
// for all it is summed into in place. How many a result has depends on that result alone,
// not on what else the program computes.

// countLanes settles how many partial sums each reduce has, a power of two, and how many
// neighbouring blocks are worked on one after the other, as they share a partial sum.
func (c *CPU) countLanes() {
	c.lanes, c.chain = make([]int, len(c.p.Outs)), 1
	for _, i := range c.reduces {
		o, n := &c.p.Outs[i], lanes
		for o.Acc.KeyedRows() && n > 1 && n*c.reduceFloats(o) > laneFloats {
			n /= 2
		}
		c.lanes[i], c.chain = n, max(c.chain, lanes/n)
	}
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
	c := r.c
	for _, i := range c.reduces {
		n := c.usedLanes(i, blocks) * c.reduceFloats(&c.p.Outs[i])
		switch {
		case c.lanes[i] == 1:
		case len(r.sums[i]) < n:
			r.sums[i] = make([]float32, n)
		default:
			clear(r.sums[i][:n])
		}
	}
}

// usedLanes is how many partial sums of result i so many blocks have.
func (c *CPU) usedLanes(i, blocks int) int { return (blocks-1)*c.lanes[i]/lanes + 1 }

// reduce adds n rows of a strip of a block to the block's partial sum of result i.
func (r *run) reduce(w *worker, i, block, n int) {
	c := r.c
	o, part := &c.p.Outs[i], r.partial(i, block*c.lanes[i]/lanes)
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

func (r *run) partial(i, lane int) []float32 {
	o := &r.c.p.Outs[i]
	n := r.c.reduceFloats(o)
	if r.c.lanes[i] == 1 {
		return r.l.Bufs[o.Operand][:n]
	}
	return r.sums[i][lane*n : (lane+1)*n]
}

// finishReduce adds the partial sums, in their order, to the Globals.
func (r *run) finishReduce(blocks int) {
	c := r.c
	for _, i := range c.reduces {
		if c.lanes[i] == 1 {
			continue
		}
		o := &c.p.Outs[i]
		dst := r.l.Bufs[o.Operand][:c.reduceFloats(o)]
		for lane := range c.usedLanes(i, blocks) {
			if o.Acc == MaxBy {
				MaxOrdered(dst, r.partial(i, lane))
			} else {
				simd.AddTo(dst, r.partial(i, lane))
			}
		}
	}
}
