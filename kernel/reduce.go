package kernel

import "sagann/internal/simd"

// Sums over all rows go to private partial sums, one a block of rows, which are added
// to the Global in block order: the bits do not depend on the workers. There are
// `lanes` blocks; less where a Global that rows are sorted into by key is so large that
// copies of it would fill the memory. With one lane such a Global is summed into in place.

// lane is what one block of rows sums.
type lane struct {
	part   []float32 // of all reduces, one behind the other
	strips int       // summed into part since it went to total
	wide   bool      // total holds something
	total  []float64 // sums by key go there at once
}

// countLanes is the number of partial sums. It depends on the program alone.
func (c *CPU) countLanes() int {
	if len(c.reduces) == 0 {
		return 0
	}
	total := 0
	for _, i := range c.reduces {
		o := &c.p.Outs[i]
		total += c.reduceFloats(o)
		c.keyed = c.keyed || o.Acc.KeyedRows()
	}
	if !c.keyed {
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

// inPlace tells whether o is summed into without lanes.
func (c *CPU) inPlace(o *Out) bool { return c.lanes == 1 && o.Acc.KeyedRows() }

// partial is where in a lane o is, [at, at+n).
func (c *CPU) partial(o *Out) (at, n int) {
	for _, i := range c.reduces {
		q := &c.p.Outs[i]
		if q == o {
			return at, c.reduceFloats(o)
		}
		if !c.inPlace(q) {
			at += c.reduceFloats(q)
		}
	}
	panic("kernel: not a reduce")
}

func (r *run) startReduce(blocks int) {
	c := r.c
	if c.lanes == 0 {
		return
	}
	total := 0
	for _, i := range c.reduces {
		if o := &c.p.Outs[i]; !c.inPlace(o) {
			total += c.reduceFloats(o)
		}
	}
	for len(r.lanes) < blocks {
		r.lanes = append(r.lanes, &lane{part: make([]float32, total)})
	}
	for _, l := range r.lanes[:blocks] {
		clear(l.part)
		l.strips, l.wide = 0, false
		if c.keyed {
			l.widen(nil)
		}
	}
}

// reduce adds n rows of a strip to the lane's partial sum of result i.
func (r *run) reduce(w *worker, i, lane, n int) {
	c := r.c
	o := &c.p.Outs[i]
	m := c.p.Widths[o.Reg]
	x, at, size := w.at[o.Reg], 0, 0
	var part []float32
	if c.inPlace(o) {
		part = r.l.Bufs[o.Operand]
	} else {
		at, size = c.partial(o)
		part = r.lanes[lane].part[at : at+size]
	}
	switch o.Acc {
	case SumRows:
		for lo := 0; lo < n; lo += chainTerms {
			hi := min(n, lo+chainTerms)
			simd.SumRows(part, x[lo*m:hi*m], hi-lo)
		}
	case SumBy:
		for row, key := range w.at[o.Reg2][:n] {
			k := rowOfKey(key, o.Blocks)
			switch {
			case k < 0:
			case c.inPlace(o):
				w.by[i].add(part, k, x[row*m:(row+1)*m])
			default:
				sum := r.lanes[lane].total[at+k*m:][:m]
				for j, y := range x[row*m : (row+1)*m] {
					sum[j] += float64(y)
				}
			}
		}
	case MaxBy:
		for i, key := range w.at[o.Reg2][:n] {
			if k := rowOfKey(key, o.Blocks); k >= 0 {
				maxOrderedOf(part[k*m:(k+1)*m], x[i*m:(i+1)*m])
			}
		}
	default:
		k := c.p.Widths[o.Reg2]
		simd.GemmTN(n, m, k, x, m, w.at[o.Reg2], k, part, k, w.tn)
	}
}

// rowOfKey is key as an index below n, or -1 if it is none.
func rowOfKey(key float32, n int) int {
	if k := int(key); key >= 0 && key < float32(n) && float32(k) == key {
		return k
	}
	return -1
}

// keySum sums rows of one key that follow each other before they go to a Global in place.
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

// stripDone follows the reduction of a strip: each strip is a chain of additions.
func (r *run) stripDone(lane int) {
	if r.c.lanes == 0 {
		return
	}
	l := r.lanes[lane]
	if l.strips++; l.strips >= chainSums {
		l.widen(r.c)
	}
}

// widen moves the sums of rows and of products, those of c, from part to total.
func (l *lane) widen(c *CPU) {
	if l.total == nil {
		l.total = make([]float64, len(l.part))
	}
	if !l.wide {
		clear(l.total)
	}
	l.strips, l.wide = 0, true
	if c == nil {
		return
	}
	for _, i := range c.reduces {
		if o := &c.p.Outs[i]; !o.Acc.KeyedRows() {
			at, n := c.partial(o)
			for j := at; j < at+n; j++ {
				l.total[j] += float64(l.part[j])
				l.part[j] = 0
			}
		}
	}
}

// finishReduce adds the partial sums, in block order, to the Globals.
func (r *run) finishReduce(blocks int) {
	c := r.c
	for _, i := range c.reduces {
		o := &c.p.Outs[i]
		dst := r.l.Bufs[o.Operand]
		if c.inPlace(o) {
			if o.Acc == SumBy {
				for _, w := range r.work {
					w.by[i].flush(dst)
				}
			}
			continue
		}
		at, n := c.partial(o)
		all := r.lanes[:blocks]
		if o.Acc == MaxBy {
			for _, l := range all {
				MaxOrdered(dst[:n], l.part[at:at+n])
			}
			continue
		}
		r.addLanes(o, dst, all, at, n)
	}
}

// addLanes adds numbers [at, at+n) of the lanes to a Global: in float32 where each has so
// few rows that it is in float32 itself.
func (r *run) addLanes(o *Out, dst []float32, all []*lane, at, n int) {
	wide := false
	for _, l := range all {
		wide = wide || l.wide
	}
	first := all[0].part[at : at+n]
	if !wide {
		for _, l := range all[1:] {
			simd.AddTo(first, l.part[at:at+n])
		}
		if !o.Carry {
			simd.AddTo(dst[:n], first)
			return
		}
	}
	for j, y := range first {
		x := float64(y)
		if wide {
			x = sumLanes(all, at+j)
		}
		if o.Carry {
			addCarry(&dst[j], &dst[n+j], x)
		} else {
			dst[j] += float32(x)
		}
	}
}

// sumLanes is number i of all lanes.
func sumLanes(all []*lane, i int) (x float64) {
	for _, l := range all {
		x += float64(l.part[i])
		if l.wide {
			x += l.total[i]
		}
	}
	return x
}
