package cpu

import (
	"math"
	"slices"

	"sagann/internal/simd"
	"sagann/kernel"
)

// AddTo adds x to dst. It adds up the sums of several devices.
func AddTo(dst, x []float32) { simd.AddTo(dst, x) }

var negInf = float32(math.Inf(-1))

// The maximum of no edges is 0, but that of edges which are all -Inf is -Inf, so the two must differ in the
// state. noEdge is the initial rank of an arg-max; every rank is below it. A maximum without ranks begins
// with nothing, a signalling NaN, which arithmetic never results in.
var noEdge = float32(math.Inf(1))

const nothing = 0x7fa5a5a5

// isNothing reports whether a row of a maximum without ranks has had no edge yet.
func isNothing(row []float32) bool { return math.Float32bits(row[0]) == nothing }

// The state of an accumulator is in rows of buffers, so that a schedule can swap
// it out and in between cells. start is called before the first cell, step for each edge, finish
// after the last cell.

func (r *run) start(outs []int, lo, hi int) {
	for _, i := range outs {
		if i < 0 {
			continue
		}
		o := &r.c.p.Outs[i]
		switch o.Acc {
		case kernel.Sum, kernel.SumByType:
			simd.Fill(r.l.Bufs[o.Operand][lo*o.LD:hi*o.LD], 0)
		case kernel.Max:
			init := math.Float32frombits(nothing)
			if o.Aux >= 0 {
				init = negInf
				simd.Fill(r.l.Bufs[o.Aux][lo*o.AuxLD:hi*o.AuxLD], noEdge)
			}
			simd.Fill(r.l.Bufs[o.Operand][lo*o.LD:hi*o.LD], init)
		case kernel.SumExp:
			simd.Fill(r.l.Bufs[o.Operand][lo*o.LD:hi*o.LD], 0)
			simd.Fill(r.l.Bufs[o.Aux][lo*o.AuxLD:hi*o.AuxLD], negInf)
		}
	}
}

// step adds the strip that starts at edge e to the accumulators of result i.
func (r *run) step(w *worker, i, e int) {
	x := w.at[r.c.p.Outs[i].Reg]
	for k := range w.segs {
		r.stepOf(w, i, w.segs[k], x, e)
	}
}

// stepOf adds the rows of x that are of segment g to the accumulator of result i. x begins with edge e.
func (r *run) stepOf(w *worker, i int, g segment, x []float32, e int) {
	o := &r.c.p.Outs[i]
	cols := r.c.p.Widths[o.Reg]
	buf, at := r.l.Bufs[o.Operand], g.row*o.LD
	switch {
	case o.Acc == kernel.Sum && o.Key == kernel.NoKey:
		dst, rows := buf[at:at+cols], x[g.lo*cols:g.hi*cols]
		if g.fresh {
			simd.MoreRows(dst, rows, g.hi-g.lo)
			return
		}
		w.long[i].segment(dst, g,
			func(dst []float32) { simd.SumRows(dst, rows, g.hi-g.lo) },
			func(sum []float32, lo, hi int) { simd.MoreRows(sum, x[lo*cols:hi*cols], hi-lo) })
	case o.Acc == kernel.Sum:
		r.stepKeyed(&w.long[i], o, g, x, buf[at:at+o.Blocks*cols], e)
	case o.Acc == kernel.Max:
		r.stepMax(o, g, x, buf[at:at+cols], e)
	case o.Acc == kernel.SumExp:
		m := r.l.Bufs[o.Aux][g.row*o.AuxLD:]
		w.lse[i].segment(buf[at:at+cols], m[:cols], g, x[g.lo*cols:g.hi*cols])
	}
}

// fewKeyed is the number of edges of a row up to which they are added to its blocks one by one. For so few
// a separate sum of the cell is not worth the memory of its blocks.
const fewKeyed = 16

// stepKeyed adds edges to the blocks of a row that their keys name. Keys that are ranks are different for all
// edges; keys that are types may be equal.
func (r *run) stepKeyed(s *longSum, o *kernel.Out, g segment, x, blocks []float32, e int) {
	cols := len(blocks) / o.Blocks
	few := o.Key == kernel.ByRank || g.all <= fewKeyed
	if !few && g.first {
		s.reset(len(blocks))
	}
	for i := g.lo; i < g.hi; i++ {
		k := r.key(o.Key, e+i)
		if k >= o.Blocks {
			continue
		}
		to := blocks
		if !few {
			to = s.next() // a chain of one edge
		}
		simd.AddTo(to[k*cols:(k+1)*cols], x[i*cols:(i+1)*cols])
	}
	if !few && g.last {
		s.addTo(blocks)
	}
}

func (r *run) stepMax(o *kernel.Out, g segment, x, acc []float32, e int) {
	cols := len(acc)
	if o.Aux < 0 {
		lo := g.lo
		if isNothing(acc) {
			copy(acc, x[lo*cols:(lo+1)*cols])
			lo++
		}
		for i := lo; i < g.hi; i++ {
			simd.Max(acc, acc, x[i*cols:(i+1)*cols])
		}
		return
	}
	arg := r.l.Bufs[o.Aux][g.row*o.AuxLD:][:cols]
	simd.MaxRows(acc, arg, x[g.lo*cols:g.hi*cols], r.l.Cell.Rank[e+g.lo:e+g.hi])
}

// longLSE is the sum s·e^m = Σ e^x of the current row, as a pair (s, m) for every column: m is the
// largest x so far and s = Σ exp(x - m). An x equal to m counts as 1, also if both are
// infinite. Without edges s is 0. If a row has few edges and had none before, the pair is
// computed in the row's state, in float32. Otherwise it is computed in float64 and then stored in the
// state.
type longLSE struct {
	few bool
	s   []float64
	m   []float32
}

// segment adds segment g of a row's edges, with rows x, to (s, m). The state may be updated only after the
// row's last segment.
func (l *longLSE) segment(s, m []float32, g segment, x []float32) {
	if g.first {
		l.few = g.all <= chainTerms && s[0] == 0
	}
	if l.few {
		fewLSE(s, m, x)
		return
	}
	if g.first {
		l.s, l.m = l.s[:0], l.m[:0]
		for range m {
			l.s, l.m = append(l.s, 0), append(l.m, negInf)
		}
	}
	cols := len(m)
	for at := 0; at < len(x); at += cols {
		for k, y := range x[at : at+cols] {
			l.add(k, 1, y)
		}
	}
	if g.last {
		for k := range m {
			l.add(k, float64(s[k]), m[k])
			s[k], m[k] = float32(l.s[k]), l.m[k]
		}
	}
}

// fewLSE adds rows x to (s, m).
func fewLSE(s, m, x []float32) {
	cols := len(s)
	for at := 0; at < len(x); at += cols {
		for k, y := range x[at : at+cols] {
			switch {
			case y == m[k]:
				s[k]++
			case y < m[k]:
				s[k] += float32(math.Exp(float64(y - m[k])))
			default:
				s[k] = s[k]*float32(math.Exp(float64(m[k]-y))) + 1
				m[k] = y
			}
		}
	}
}

// add adds s·e^y to column k.
func (l *longLSE) add(k int, s float64, y float32) {
	switch m := l.m[k]; {
	case y == m:
		l.s[k] += s
	case y < m:
		l.s[k] += s * math.Exp(float64(y-m))
	default:
		l.s[k] = l.s[k]*math.Exp(float64(m-y)) + s
		l.m[k] = y
	}
}

func (r *run) finish(outs []int, lo, hi int) {
	for _, i := range outs {
		if i < 0 {
			continue
		}
		o := &r.c.p.Outs[i]
		if o.Acc != kernel.Max && o.Acc != kernel.SumExp {
			continue
		}
		cols := r.c.p.Widths[o.Reg]
		for row := lo; row < hi; row++ {
			acc := r.l.Bufs[o.Operand][row*o.LD:][:cols]
			if o.Acc == kernel.Max {
				if o.Aux < 0 && isNothing(acc) || o.Aux >= 0 && r.l.Bufs[o.Aux][row*o.AuxLD] == noEdge {
					clear(acc)
				}
				continue
			}
			for k, y := range acc {
				if y == 0 {
					acc[k], r.l.Bufs[o.Aux][row*o.AuxLD+k] = 1, 0
				}
			}
		}
	}
}

// key is the block number that edge e carries.
func (r *run) key(k kernel.Key, e int) int {
	if k == kernel.ByRank {
		return int(r.l.Cell.Rank[e])
	}
	return int(r.l.Cell.Type[e])
}

// keys are the keys of n edges from edge e on, valid until the next call.
func (r *run) keys(w *worker, k kernel.Key, e, n int) []int {
	w.keys = slices.Grow(w.keys[:0], n)[:n]
	if k == kernel.ByRank {
		for i, x := range r.l.Cell.Rank[e : e+n] {
			w.keys[i] = int(x)
		}
	} else {
		for i, x := range r.l.Cell.Type[e : e+n] {
			w.keys[i] = int(x)
		}
	}
	return w.keys
}
