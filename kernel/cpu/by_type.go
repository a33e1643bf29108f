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
	sum      []float32 // by pair: the sum of its edges, if the strip has them
	edges    edgeList  // else: the edges that are summed
	byType   edgeList  // these, by type
	own      []float32 // by pair: SumTNByType, the row of the other operand, if the strip has it
	order    []int32   // pairs by type
	begin    []int     // by type: where its pairs begin in order
	left     []float32 // by type: sums
	side     []float32 // of one type: rows of the other operand
	out      []float32 // by type: products
	place    []int32   // by pair: where it is in order
	at       []uint32  // of one type: the places of these rows
	total    longSum
}

// edgeList is edges of pairs: the rows of their far ends, what these are multiplied by, and where the edges of each pair lie.
type edgeList struct {
	far        []uint32
	weight     []float32
	begin, end []uint32
	number     []float32 // by pair, in place of weight
}

// paired says where the edges of a result's pairs find what is summed, if that needs no strip.
type paired struct {
	row    int // leaf of the other end; -1: the strip has the rows
	weight int // register of what they are multiplied by; -1: nothing, or number
	number int // leaf of the own end, of a number for each type: what they are multiplied by; -1: weight
	own    int // SumTNByType: leaf of the own end; -1: the strip has the rows
	with   int // the first result of the same sums: their pairs are collected once
}

// findPaired finds rows that nothing else reads.
func findPaired(c *Program, uses, by []int) {
	p := c.p
	leaf := func(reg int, from kernel.From) int {
		return slices.IndexFunc(p.Leaves, func(l kernel.Leaf) bool {
			return l.Reg == reg && l.From == from && l.Key == kernel.NoKey && uses[reg] == 1
		})
	}
	for i, o := range p.Outs {
		c.sums.paired = append(c.sums.paired, paired{-1, -1, -1, -1, i})
		if !o.Acc.ByType() {
			continue
		}
		f := &c.sums.paired[i]
		if o.Acc == kernel.SumTNByType {
			f.own = leaf(o.Reg2, kernel.Own)
		}
		if at := slices.IndexFunc(p.Outs[:i], func(q kernel.Out) bool {
			return q.Acc.ByType() && q.Reg == o.Reg && q.Key == o.Key && q.Blocks == o.Blocks
		}); at >= 0 && (o.Acc == kernel.SumByType || f.own >= 0) {
			f.with = at
			uses[o.Reg]--
		}
	}
	for i, o := range p.Outs {
		f := &c.sums.paired[i]
		if !o.Acc.ByType() || f.with != i {
			continue
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

// pair adds the strip of n edges that starts at edge e to the pairs of result i.
func (r *run) pair(w *worker, i, e, n, block int) {
	o, p, f := &r.c.p.Outs[i], &w.pairs[i], &r.c.sums.paired[i]
	cols, keys := r.c.p.Widths[o.Reg], r.keys(w, o.Key, e, n)
	var far []uint32
	if f.row >= 0 {
		far = w.rowsOf(r.l, &r.c.p.Leaves[f.row], w.far)
	}
	first := r.listEdges(w, f, p, far, 0) // of the strip's edges, in the list
	for k := range w.segs {
		g := &w.segs[k]
		for lo, hi := g.lo, 0; lo < g.hi; lo = hi {
			key := keys[lo]
			for hi = lo + 1; hi < g.hi && keys[hi] == key; hi++ {
			}
			for at := lo; at < hi && key < o.Blocks; {
				n := len(p.row)
				if n == 0 || p.row[n-1] != int32(g.row) || p.key[n-1] != int32(key) || p.terms == pairTerms {
					if n > 0 && (p.row[n-1] != int32(g.row) && n >= pairPairs || n-p.first >= pairRow) {
						r.multiply(w, i, block)
						first = r.listEdges(w, f, p, far, at)
					}
					r.newPair(w, i, g, first+at, at, key)
				}
				to := min(hi, at+pairTerms-p.terms)
				if last := len(p.row) - 1; f.row >= 0 {
					first -= p.edges.closeGap(last, first+at)
					p.edges.end[last] = uint32(first + to)
				} else {
					simd.MoreRows(p.sum[last*cols:], w.at[o.Reg][at*cols:to*cols], to-at)
				}
				p.terms += to - at
				at = to
			}
		}
	}
}

// listEdges adds the strip's edges from edge at on, whose far ends are far, to the list of p, and returns where edge 0 is or would be.
func (r *run) listEdges(w *worker, f *paired, p *pairs, far []uint32, at int) int {
	first := len(p.edges.far) - at
	if f.row >= 0 {
		p.edges.far = append(p.edges.far, far[at:]...)
	}
	if f.weight >= 0 {
		p.edges.weight = append(p.edges.weight, w.at[f.weight][at:len(far)]...)
	}
	return first
}

// closeGap drops the edges between the end of pair n, the last one, and place, and returns how many they are. There are none where
// the edges of a row come sorted by type.
func (e *edgeList) closeGap(n, place int) int {
	end := int(e.end[n])
	if end < place {
		e.far = slices.Delete(e.far, end, place)
		if len(e.weight) > 0 {
			e.weight = slices.Delete(e.weight, end, place)
		}
	}
	return place - end
}

// newPair begins a pair of row and type with edge at of segment g, which lies at place in the list.
func (r *run) newPair(w *worker, i int, g *segment, place, at, key int) {
	o, p, f := &r.c.p.Outs[i], &w.pairs[i], &r.c.sums.paired[i]
	n := len(p.row)
	if n == 0 || p.row[n-1] != int32(g.row) {
		p.first = n
	}
	cols, side := r.c.p.Widths[o.Reg], r.c.p.Widths[o.Reg2]
	p.row, p.key, p.terms = append(p.row, int32(g.row)), append(p.key, int32(key)), 0
	if f.row < 0 {
		p.sum = slices.Grow(p.sum, cols)[:(n+1)*cols]
		clear(p.sum[n*cols:])
	} else {
		p.edges.begin, p.edges.end = append(p.edges.begin, uint32(place)), append(p.edges.end, uint32(place))
		switch {
		case f.number >= 0:
			l := &r.c.p.Leaves[f.number]
			p.edges.number = append(p.edges.number, r.l.Bufs[l.Operand][r.l.row(l, g.row)*l.LD+key])
		case f.weight < 0:
			p.edges.number = append(p.edges.number, 1)
		}
	}
	if o.Acc == kernel.SumTNByType && f.own < 0 {
		p.own = append(p.own, w.at[o.Reg2][at*side:(at+1)*side]...)
	}
}

// sums computes the sums of the pairs, in their order by type, of rows of src.
func (p *pairs) sums(src []float32, ld, cols int) {
	e, t := &p.edges, &p.byType
	t.far, t.weight = slices.Grow(t.far[:0], len(e.far))[:len(e.far)], slices.Grow(t.weight[:0], len(e.far))[:len(e.far)]
	t.end = slices.Grow(t.end[:0], len(p.order))[:len(p.order)]
	to := 0
	for k, n := range p.order {
		far := e.far[e.begin[n]:e.end[n]]
		for i, v := range far { // few
			t.far[to+i] = v
		}
		if weight := t.weight[to:][:len(far)]; len(e.number) == 0 {
			copy(weight, e.weight[e.begin[n]:])
		} else {
			for i, x := 0, e.number[n]; i < len(weight); i++ {
				weight[i] = x
			}
		}
		to += len(far)
		t.end[k] = uint32(to)
	}
	p.left = slices.Grow(p.left[:0], len(p.order)*cols)[:len(p.order)*cols]
	simd.GatherSums(p.left, cols, src, ld, t.far[:to], t.weight[:to], t.end)
	e.far, e.weight, e.begin, e.end, e.number = e.far[:0], e.weight[:0], e.begin[:0], e.end[:0], e.number[:0]
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

// multiply multiplies the pairs that are collected of result i and of those with the same sums, and forgets them.
func (r *run) multiply(w *worker, i, block int) {
	o, p := &r.c.p.Outs[i], &w.pairs[i]
	if len(p.row) == 0 {
		return
	}
	p.sort(o.Blocks)
	cols := r.c.p.Widths[o.Reg]
	if f := &r.c.sums.paired[i]; f.row >= 0 {
		l := &r.c.p.Leaves[f.row]
		p.sums(r.l.Bufs[l.Operand], l.LD, cols)
	} else {
		p.left = take(p.left, p.sum, cols, p.order)
	}
	for j := i; j < len(w.pairs); j++ {
		switch o := &r.c.p.Outs[j]; {
		case r.c.sums.paired[j].with != i:
		case o.Acc == kernel.SumByType:
			r.multiplyRows(w, j, o, p, cols)
		default:
			r.multiplyOwn(w, j, p, &r.sums[j][block*r.c.lanes[j]/lanes], cols)
		}
	}
	p.row, p.key, p.sum, p.own, p.first = p.row[:0], p.key[:0], p.sum[:0], p.own[:0], 0
}

// multiplyRows adds the products of pairs to own rows.
func (r *run) multiplyRows(w *worker, i int, o *kernel.Out, p *pairs, cols int) {
	t := &r.types[i]
	p.out = slices.Grow(p.out[:0], len(p.row)*t.cols)[:len(p.row)*t.cols]
	for k := range o.Blocks {
		if lo, hi := p.begin[k], p.begin[k+1]; lo < hi {
			simd.GemmPacked(hi-lo, p.left[lo*cols:], cols, &t.packed[k], p.out[lo*t.cols:], t.cols, false, w.gemm)
		}
	}
	p.place = slices.Grow(p.place[:0], len(p.row))[:len(p.row)]
	for at, n := range p.order {
		p.place[n] = int32(at)
	}
	buf := r.l.Bufs[o.Operand]
	for lo := 0; lo < len(p.row); {
		hi := lo + 1
		for hi < len(p.row) && p.row[hi] == p.row[lo] {
			hi++
		}
		p.total.reset(t.cols)
		for _, at := range p.place[lo:hi] {
			simd.AddTo(p.total.next(), p.out[int(at)*t.cols:(int(at)+1)*t.cols])
		}
		p.total.addTo(buf[int(p.row[lo])*o.LD:][:t.cols])
		lo = hi
	}
}

// multiplyOwn adds, for each type, the products of pairs and own rows of result i to sum.
func (r *run) multiplyOwn(w *worker, i int, p *pairs, sum *longSum, cols int) {
	o := &r.c.p.Outs[i]
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
			left := p.left[(p.begin[k]+lo)*cols:]
			if own == nil {
				p.side = take(p.side, p.own, side, of)
			} else {
				p.side, p.at = slices.Grow(p.side[:0], len(of)*side)[:len(of)*side], p.at[:0]
				for _, n := range of {
					p.at = append(p.at, uint32(r.l.row(own, int(p.row[n]))))
				}
				simd.GatherRows(p.side, r.l.Bufs[own.Operand], own.LD, p.at, side)
			}
			m := to[k*cols*side : (k+1)*cols*side]
			if o.Trans {
				simd.GemmTN(len(of), side, cols, p.side, side, left, cols, m, cols, w.tn)
			} else {
				simd.GemmTN(len(of), cols, side, left, cols, p.side, side, m, side, w.tn)
			}
		}
	}
}
