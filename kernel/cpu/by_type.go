package cpu

import (
	"slices"

	"sagann/internal/simd"
	"sagann/kernel"
)

// Products by type. The edges of a row come sorted by type, so the sum of those of one type is complete when the next type begins. Such
// pairs of a row and a type are collected, sorted by type and multiplied by the matrix of each type. So memory is that
// of pairPairs pairs, and the work that of the pairs which have edges. A row's pairs are added in their order, and it
// depends on the row alone when they are multiplied, so the bits of a row do not depend on the rows around it.

const (
	pairTerms = chainTerms // most edges of a pair; a row may have several of one type
	pairPairs = 1024       // pairs that are collected before they are multiplied, at the end of a row
	pairRow   = 1 << 14    // most pairs of one row before they are multiplied
)

// pairs are the pairs of one result that a worker has collected.
type pairs struct {
	row, key []int32
	terms    int       // edges in the last pair
	first    int       // the first pair of the last row
	sum      []float32 // by pair: the sum of its edges
	own      []float32 // by pair: SumTNByType, the row of the other operand, if the strip has it
	order    []int32   // pairs by type
	begin    []int     // by type: where its pairs begin in order
	left     []float32 // of one type: sums
	side     []float32 // of one type: products, or rows of the other operand
	out      []float32 // by pair: products
	total    longSum
}

// paired says where the edges of a result's pairs find what is summed, if that needs no strip.
type paired struct {
	row    int // leaf of the other end; -1: the strip has the rows
	weight int // register of what they are multiplied by; -1: nothing, or number
	number int // leaf of the own end, of a number for each type: what they are multiplied by; -1: weight
	own    int // SumTNByType: leaf of the own end; -1: the strip has the rows
}

// findPaired finds rows that nothing else reads.
func findPaired(c *Program, uses, by []int) {
	p := c.p
	leaf := func(reg int, from kernel.From) int {
		return slices.IndexFunc(p.Leaves, func(l kernel.Leaf) bool {
			return l.Reg == reg && l.From == from && l.Key == kernel.NoKey && uses[reg] == 1
		})
	}
	c.sums.paired = slices.Repeat([]paired{{-1, -1, -1, -1}}, len(p.Outs))
	for i, o := range p.Outs {
		if !o.Acc.ByType() {
			continue
		}
		f := &c.sums.paired[i]
		if o.Acc == kernel.SumTNByType {
			f.own = leaf(o.Reg2, kernel.Own)
		}
		if f.row = leaf(o.Reg, kernel.Other); f.row >= 0 || uses[o.Reg] != 1 {
			continue
		}
		f.row, f.weight = weighted(p, uses, by, o.Reg, func(reg int) int { return leaf(reg, kernel.Other) })
		f.number = slices.IndexFunc(p.Leaves, func(l kernel.Leaf) bool {
			return l.Reg == f.weight && l.From == kernel.Own && l.Key == o.Key && l.Blocks == o.Blocks
		})
		if f.number >= 0 {
			f.weight = -1
		}
	}
}

// typeMatrices are the packed matrices of a SumByType, by type.
type typeMatrices struct {
	room   []float32
	packed []simd.PackedB
	cols   int // of a result
}

func (t *typeMatrices) pack(o *kernel.Out, g *kernel.Leaf, bufs [][]float32) {
	rows := g.Rows / o.Blocks
	k, n := rows, g.Cols
	if o.Trans {
		k, n = n, k
	}
	size := simd.PackedBSize(k, n)
	if t.room == nil {
		t.room, t.packed = make([]float32, o.Blocks*size), make([]simd.PackedB, o.Blocks)
	}
	t.cols = n
	for b := range o.Blocks {
		t.packed[b] = simd.PackB(bufs[g.Operand][b*rows*g.LD:], g.LD, k, n, o.Trans, t.room[b*size:(b+1)*size])
	}
}

// pair adds the strip that starts at edge e to the pairs of result i.
func (r *run) pair(w *worker, i, e, block int) {
	o, p, f := &r.c.p.Outs[i], &w.pairs[i], &r.c.sums.paired[i]
	cols := r.c.p.Widths[o.Reg]
	add := r.adder(w, o, f, cols)
	for k := range w.segs {
		g := &w.segs[k]
		for lo, hi := g.lo, 0; lo < g.hi; lo = hi {
			key := r.key(o.Key, e+lo)
			for hi = lo + 1; hi < g.hi && r.key(o.Key, e+hi) == key; hi++ {
			}
			for at := lo; at < hi && key < o.Blocks; {
				n := len(p.row)
				if n == 0 || p.row[n-1] != int32(g.row) || p.key[n-1] != int32(key) || p.terms == pairTerms {
					if n > 0 && (p.row[n-1] != int32(g.row) && n >= pairPairs || n-p.first >= pairRow) {
						r.multiply(w, i, block)
					}
					r.newPair(w, i, g, at, key)
				}
				to := min(hi, at+pairTerms-p.terms)
				add(p.sum[len(p.sum)-cols:], g.row, key, at, to)
				p.terms += to - at
				at = to
			}
		}
	}
}

// newPair begins a pair of row and type with edge at of segment g.
func (r *run) newPair(w *worker, i int, g *segment, at, key int) {
	o, p, f := &r.c.p.Outs[i], &w.pairs[i], &r.c.sums.paired[i]
	n := len(p.row)
	if n == 0 || p.row[n-1] != int32(g.row) {
		p.first = n
	}
	cols, side := r.c.p.Widths[o.Reg], r.c.p.Widths[o.Reg2]
	p.row, p.key, p.terms = append(p.row, int32(g.row)), append(p.key, int32(key)), 0
	p.sum = slices.Grow(p.sum, cols)[:(n+1)*cols]
	clear(p.sum[n*cols:])
	if o.Acc == kernel.SumTNByType && f.own < 0 {
		p.own = append(p.own, w.at[o.Reg2][at*side:(at+1)*side]...)
	}
}

// adder adds rows lo to hi-1 of the strip, edges of a row and a type, to a sum. It finds them as f says.
func (r *run) adder(w *worker, o *kernel.Out, f *paired, cols int) func(sum []float32, row, key, lo, hi int) {
	if f.row < 0 {
		return func(sum []float32, _, _, lo, hi int) { simd.MoreRows(sum, w.at[o.Reg][lo*cols:hi*cols], hi-lo) }
	}
	l := &r.c.p.Leaves[f.row]
	src, far := r.l.Bufs[l.Operand], w.rowsOf(r.l, l, w.far)
	if f.weight >= 0 {
		weight := w.at[f.weight]
		return func(sum []float32, _, _, lo, hi int) { simd.GatherWMore(sum, src, l.LD, far[lo:hi], weight[lo:hi]) }
	}
	w.same = slices.Grow(w.same[:0], len(far))[:len(far)]
	return func(sum []float32, row, key, lo, hi int) {
		x := float32(1)
		if f.number >= 0 {
			n := &r.c.p.Leaves[f.number]
			x = r.l.Bufs[n.Operand][r.l.row(n, row)*n.LD+key]
		}
		simd.Fill(w.same[lo:hi], x)
		simd.GatherWMore(sum, src, l.LD, far[lo:hi], w.same[lo:hi])
	}
}

// sort orders the pairs by type.
func (p *pairs) sort(types int) {
	p.begin = slices.Grow(p.begin[:0], types+1)[:types+1]
	clear(p.begin)
	for _, k := range p.key {
		p.begin[k+1]++
	}
	for k := range types {
		p.begin[k+1] += p.begin[k]
	}
	p.order = slices.Grow(p.order[:0], len(p.key))[:len(p.key)]
	for n, k := range p.key {
		p.order[p.begin[k]] = int32(n)
		p.begin[k]++
	}
	copy(p.begin[1:], p.begin[:types])
	p.begin[0] = 0
}

// take copies the rows of x, of cols columns, of so many pairs to dst, whose memory it uses if that is large enough.
func take(dst, x []float32, cols int, pairs []int32) []float32 {
	dst = dst[:0]
	for _, n := range pairs {
		dst = append(dst, x[int(n)*cols:(int(n)+1)*cols]...)
	}
	return dst
}

// multiply multiplies the pairs that are collected of result i, and forgets them.
func (r *run) multiply(w *worker, i, block int) {
	o, p := &r.c.p.Outs[i], &w.pairs[i]
	if len(p.row) == 0 {
		return
	}
	p.sort(o.Blocks)
	cols := r.c.p.Widths[o.Reg]
	if o.Acc == kernel.SumByType {
		r.multiplyRows(w, i, o, p, cols)
	} else {
		r.multiplyOwn(w, i, &r.sums[i][block*r.c.lanes[i]/lanes], cols)
	}
	p.row, p.key, p.sum, p.own, p.first = p.row[:0], p.key[:0], p.sum[:0], p.own[:0], 0
}

// multiplyRows adds the products of pairs to own rows.
func (r *run) multiplyRows(w *worker, i int, o *kernel.Out, p *pairs, cols int) {
	t := &r.types[i]
	p.out = slices.Grow(p.out[:0], len(p.row)*t.cols)[:len(p.row)*t.cols]
	for k := range o.Blocks {
		of := p.order[p.begin[k]:p.begin[k+1]]
		if len(of) == 0 {
			continue
		}
		p.left = take(p.left, p.sum, cols, of)
		p.side = slices.Grow(p.side[:0], len(of)*t.cols)[:len(of)*t.cols]
		simd.GemmPacked(len(of), p.left, cols, &t.packed[k], p.side, t.cols, false, w.gemm)
		for j, n := range of {
			copy(p.out[int(n)*t.cols:], p.side[j*t.cols:(j+1)*t.cols])
		}
	}
	buf := r.l.Bufs[o.Operand]
	for lo := 0; lo < len(p.row); {
		hi := lo + 1
		for hi < len(p.row) && p.row[hi] == p.row[lo] {
			hi++
		}
		p.total.reset(t.cols)
		for n := lo; n < hi; n++ {
			simd.AddTo(p.total.next(), p.out[n*t.cols:(n+1)*t.cols])
		}
		p.total.addTo(buf[int(p.row[lo])*o.LD:][:t.cols])
		lo = hi
	}
}

// multiplyOwn adds, for each type, the products of pairs of result i and own rows to sum.
func (r *run) multiplyOwn(w *worker, i int, sum *longSum, cols int) {
	o, p := &r.c.p.Outs[i], &w.pairs[i]
	side := r.c.p.Widths[o.Reg2]
	var own *kernel.Leaf
	if f := &r.c.sums.paired[i]; f.own >= 0 {
		own = &r.c.p.Leaves[f.own]
	}
	for lo, more := 0, true; more; lo += rowStrip {
		more = false
		var to []float32
		for k := range o.Blocks {
			of := p.order[p.begin[k]:p.begin[k+1]]
			if lo >= len(of) {
				continue
			}
			more = more || lo+rowStrip < len(of)
			of = of[lo:min(lo+rowStrip, len(of))]
			if to == nil {
				to = sum.next() // what is added to the matrix of a type is one chain
			}
			p.left = take(p.left, p.sum, cols, of)
			if own == nil {
				p.side = take(p.side, p.own, side, of)
			} else {
				p.side = p.side[:0]
				for _, n := range of {
					p.side = append(p.side, r.l.Bufs[own.Operand][r.l.row(own, int(p.row[n]))*own.LD:][:side]...)
				}
			}
			simd.GemmTN(len(of), cols, side, p.left, cols, p.side, side, to[k*cols*side:(k+1)*cols*side], side, w.tn)
		}
	}
}
