package cpu

import (
	"math"

	"sagann/internal/simd"
	"sagann/kernel"
)

// A sum over all rows is computed as partial sums, which are added to the Global in a fixed
// order, so its bits do not depend on the workers. The rows are divided into `lanes` blocks, and each
// block has a partial sum of its own. In a reduction by key the Global can be so
// large that many copies would fill the memory; then neighbouring blocks share a partial sum. If all blocks
// share one, rows are added to the Global in place. The number of partial sums depends
// on the result alone, and not on the other results of the program.

// countLanes decides how many partial sums each reduction has, a power of two, and how many
// neighbouring blocks one worker does in order, as they share a partial sum.
func (c *Program) countLanes() {
	c.lanes, c.chain = make([]int, len(c.p.Outs)), 1
	for _, i := range c.reduces {
		o, n := &c.p.Outs[i], lanes
		least := 1
		if o.Acc == kernel.SumTNByType {
			least = 2 // one is added in place
		}
		for (o.Acc.KeyedRows() || o.Acc == kernel.SumTNByType) && n > least && n*c.reduceFloats(o) > laneFloats {
			n /= 2
		}
		c.lanes[i], c.chain = n, max(c.chain, lanes/n)
	}
}

func (c *Program) reduceFloats(o *kernel.Out) int {
	switch {
	case o.Acc == kernel.SumTN:
		return c.p.Widths[o.Reg] * c.p.Widths[o.Reg2]
	case o.Acc == kernel.SumTNByType:
		return c.p.Widths[o.Reg] * c.p.Widths[o.Reg2] * o.Blocks
	case o.Acc.KeyedRows():
		return c.p.Widths[o.Reg] * o.Blocks
	}
	return c.p.Widths[o.Reg]
}

// inPlace reports whether result i is added to its Global without partial sums. One worker then does all
// blocks.
func (c *Program) inPlace(i int) bool { return c.lanes[i] == 1 && c.p.Outs[i].Acc != kernel.SumSparse }

// startReduce makes all partial sums zero. Those of reductions by key are in float64 from the start, as rows
// of the same key are not neighbours and do not form chains.
func (r *run) startReduce(blocks int) {
	c := r.c
	for _, i := range c.reduces {
		if c.inPlace(i) {
			continue
		}
		o, n := &c.p.Outs[i], c.usedLanes(i, blocks)
		for len(r.sums[i]) < n {
			r.sums[i] = append(r.sums[i], longSum{})
		}
		for k := range r.sums[i][:n] {
			if o.Acc == kernel.SumBy || o.Acc == kernel.SumSparse {
				r.sums[i][k].resetWide(c.reduceFloats(o))
			} else {
				r.sums[i][k].reset(c.reduceFloats(o))
			}
		}
	}
}

// usedLanes is how many partial sums of result i are used with so many blocks.
func (c *Program) usedLanes(i, blocks int) int { return (blocks-1)*c.lanes[i]/lanes + 1 }

// reduce adds n rows of a strip of a block to the block's partial sum of result i.
func (r *run) reduce(w *worker, i, block, n int) {
	c := r.c
	o, m := &c.p.Outs[i], c.p.Widths[c.p.Outs[i].Reg]
	x := w.at[o.Reg][:n*m]
	var s *longSum
	var top []float32 // for MaxBy
	if c.inPlace(i) {
		top = r.l.Bufs[o.Operand]
	} else {
		s = &r.sums[i][block*c.lanes[i]/lanes]
		top = s.part
	}
	switch o.Acc {
	case kernel.SumRows:
		s.more(n, func(sum []float32, lo, hi int) { simd.MoreRows(sum, x[lo*m:hi*m], hi-lo) })
	case kernel.SumTN:
		k := c.p.Widths[o.Reg2]
		simd.GemmTN(n, m, k, x, m, w.at[o.Reg2], k, s.next(), k, w.tn) // a strip is a chain
	case kernel.SumSparse:
		k := c.p.Widths[o.Reg2]
		for row := range n {
			addSparse(s.total, x[row*m:(row+1)*m], w.at[o.Reg2][row*k:(row+1)*k], o.Blocks)
		}
	case kernel.SumBy, kernel.MaxBy:
		for row, key := range w.at[o.Reg2][:n] {
			k := rowOfKey(key, o.Blocks)
			if k < 0 {
				continue
			}
			switch y := x[row*m : (row+1)*m]; {
			case o.Acc == kernel.MaxBy:
				maxOrderedOf(top[k*m:(k+1)*m], y)
			case s == nil:
				w.by[i].add(r.l.Bufs[o.Operand], k, y)
			default:
				addWide(s.total[k*m:(k+1)*m], y)
			}
		}
	}
}

// addWide adds x to sum.
func addWide(sum []float64, x []float32) {
	for i, y := range x {
		sum[i] += float64(y)
	}
}

// addSparse adds y times the value of each entry of a sparse row to the row of sum that the entry's column
// names, if it is below rows.
func addSparse(sum []float64, y, row []float32, rows int) {
	k := len(row) / 2
	for j, c := range row[:k] {
		id := math.Float32bits(c)
		if id >= uint32(rows) {
			return
		}
		s, v := sum[int(id)*len(y):][:len(y)], row[k+j]
		for i, x := range y {
			s[i] += float64(v * x)
		}
	}
}

// rowOfKey is key as an index below n, or -1 if it is not one.
func rowOfKey(key float32, n int) int {
	if k := int(key); key >= 0 && key < float32(n) && float32(k) == key {
		return k
	}
	return -1
}

// keySum adds up consecutive rows of the same key, before the sum is added to a Global in place.
type keySum struct {
	sum  longSum
	key  int // of the rows in sum
	rows int // in sum
}

func (s *keySum) add(dst []float32, k int, x []float32) {
	if s.rows > 0 && s.key != k {
		s.flush(dst)
	}
	if s.rows == 0 {
		s.sum.reset(len(x))
	}
	s.key = k
	s.rows++
	simd.AddTo(s.sum.next(), x)
}

// flush adds the sum to its row of dst.
func (s *keySum) flush(dst []float32) {
	if s.rows > 0 {
		m := len(s.sum.part)
		s.sum.addTo(dst[s.key*m : (s.key+1)*m])
		s.rows = 0
	}
}

// finishReduce adds the partial sums, in their order, to the Globals.
func (r *run) finishReduce(blocks int) {
	c := r.c
	for _, i := range c.reduces {
		o := &c.p.Outs[i]
		dst := r.l.Bufs[o.Operand]
		switch {
		case c.inPlace(i) && o.Acc == kernel.SumBy:
			for _, w := range r.work {
				w.by[i].flush(dst)
			}
		case c.inPlace(i):
		case o.Acc == kernel.MaxBy:
			for _, s := range r.sums[i][:c.usedLanes(i, blocks)] {
				MaxOrdered(dst[:len(s.part)], s.part)
			}
		default:
			addSums(o, dst, r.sums[i][:c.usedLanes(i, blocks)], c.reduceFloats(o))
		}
	}
}

// addSums adds partial sums of n numbers each to the Global of o. It adds in float32 if the partial sums are
// of so few rows that they are in float32, and the Global has no Carry.
func addSums(o *kernel.Out, dst []float32, sums []longSum, n int) {
	wide := o.Carry
	for k := range sums {
		sums[k].endChain()
		wide = wide || sums[k].wide
	}
	if !wide {
		for k := range sums[1:] {
			simd.AddTo(sums[0].part, sums[1+k].part)
		}
		simd.AddTo(dst[:n], sums[0].part)
		return
	}
	for k := range sums {
		sums[k].widen()
	}
	var block [512]float64 // sums of so many numbers at a time, so that each partial sum is read from its first number to its last
	for lo := 0; lo < n; lo += len(block) {
		all := block[:min(len(block), n-lo)]
		clear(all)
		for k := range sums {
			for i, x := range sums[k].total[lo:][:len(all)] {
				all[i] += x
			}
		}
		for i, x := range all {
			if o.Carry {
				addCarry(&dst[lo+i], &dst[n+lo+i], x)
			} else {
				dst[lo+i] += float32(x)
			}
		}
	}
}

// MaxOrdered sets dst to the larger of dst and x, both ordered bit patterns. It joins the
// maxima of several lanes or devices.
func MaxOrdered(dst, x []float32) {
	for i, y := range x {
		if b := math.Float32bits(y); b > math.Float32bits(dst[i]) {
			dst[i] = math.Float32frombits(b)
		}
	}
}

// maxOrderedOf sets dst to the larger of dst, ordered bit patterns, and the numbers x.
func maxOrderedOf(dst, x []float32) {
	for i, y := range x {
		if b := kernel.Ordered(y); b > math.Float32bits(dst[i]) {
			dst[i] = math.Float32frombits(b)
		}
	}
}
