package kernel

import (
	"math"

	"sagann/internal/simd"
)

// AddTo adds x to dst: how the sums of several devices become one.
func AddTo(dst, x []float32) { simd.AddTo(dst, x) }

var negInf = float32(math.Inf(-1))

// Every accumulator has state in own rows of buffers, so that a schedule can swap
// it out and in between cells: start before the first cell, step per edge, finish
// after the last.

func (r *run) start(lo, hi int) {
	for i := range r.c.p.Outs {
		o := &r.c.p.Outs[i]
		switch o.Acc {
		case Sum:
			simd.Fill(r.l.Bufs[o.Operand][lo*o.LD:hi*o.LD], 0)
		case Max:
			simd.Fill(r.l.Bufs[o.Operand][lo*o.LD:hi*o.LD], negInf)
			if o.Aux >= 0 {
				simd.Fill(r.l.Bufs[o.Aux][lo*o.AuxLD:hi*o.AuxLD], -1)
			}
		case LSE:
			simd.Fill(r.l.Bufs[o.Operand][lo*o.LD:hi*o.LD], 0)
			simd.Fill(r.l.Bufs[o.Aux][lo*o.AuxLD:hi*o.AuxLD], negInf)
		}
	}
}

// step folds the strip that starts at edge e into the accumulators of result i.
func (r *run) step(w *worker, i, e int) {
	o := &r.c.p.Outs[i]
	cols := r.c.p.Widths[o.Reg]
	x, buf := w.at[o.Reg], r.l.Bufs[o.Operand]
	for _, g := range w.segs {
		at := g.row * o.LD
		switch {
		case o.Acc == Sum && o.Key == NoKey:
			w.long[i].segment(buf[at:at+cols], g, func(dst []float32, lo, hi int) {
				simd.SumRows(dst, x[lo*cols:hi*cols], hi-lo)
			})
		case o.Acc == Sum:
			r.stepKeyed(&w.long[i], o, g, x, buf[at:at+o.Blocks*cols], e)
		case o.Acc == Max:
			r.stepMax(o, g, x, buf[at:at+cols], e)
		case o.Acc == LSE:
			m := r.l.Bufs[o.Aux][g.row*o.AuxLD:]
			if g.fresh {
				stepLSE(buf[at:at+cols], m[:cols], x[g.lo*cols:g.hi*cols])
			} else {
				w.lse[i].segment(buf[at:at+cols], m[:cols], g, x[g.lo*cols:g.hi*cols])
			}
		}
	}
}

// fewKeyed is how many edges of a row are added to its blocks one by one: the sum of a cell
// is not worth its blocks' memory.
const fewKeyed = 16

// stepKeyed adds edges to the blocks of a row that their keys name. A rank is that of one
// edge; many edges may have one type.
func (r *run) stepKeyed(s *longSum, o *Out, g segment, x, blocks []float32, e int) {
	cols := len(blocks) / o.Blocks
	few := o.Key == ByRank || g.first && g.last && g.hi-g.lo <= fewKeyed
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

func (r *run) stepMax(o *Out, g segment, x, acc []float32, e int) {
	cols := len(acc)
	if o.Aux < 0 {
		for i := g.lo; i < g.hi; i++ {
			simd.Max(acc, acc, x[i*cols:(i+1)*cols])
		}
		return
	}
	arg := r.l.Bufs[o.Aux][g.row*o.AuxLD:][:cols]
	for i := g.lo; i < g.hi; i++ {
		rank := r.l.Cell.Rank[e+i]
		for k, y := range x[i*cols : (i+1)*cols] {
			// Ties go to the lowest rank, so that the order of cells does not matter.
			if y > acc[k] || y == acc[k] && rank < arg[k] {
				acc[k], arg[k] = y, rank
			}
		}
	}
}

// stepLSE is longLSE for a row of few edges that has no state yet.
func stepLSE(s, m, x []float32) {
	cols := len(s)
	for at := 0; at < len(x); at += cols {
		for k, y := range x[at : at+cols] {
			switch {
			case y == negInf: // adds nothing
			case y <= m[k]:
				s[k] += float32(math.Exp(float64(y - m[k])))
			default:
				s[k] = s[k]*float32(math.Exp(float64(m[k]-y))) + 1
				m[k] = y
			}
		}
	}
}

// longLSE is (s, m) of the row at hand, which stand for s·e^m: s = Σ exp(x - m) and the
// largest x so far, m, for every column.
type longLSE struct {
	s []float64
	m []float32
}

// segment adds segment g of a row's edges, with rows x, to (s, m) when it is the last.
func (l *longLSE) segment(s, m []float32, g segment, x []float32) {
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

// add adds s·e^y to column k.
func (l *longLSE) add(k int, s float64, y float32) {
	switch m := l.m[k]; {
	case y == negInf: // adds nothing
	case y <= m:
		l.s[k] += s * math.Exp(float64(y-m))
	default:
		l.s[k] = l.s[k]*math.Exp(float64(m-y)) + s
		l.m[k] = y
	}
}

func (r *run) finish(lo, hi int) {
	for i := range r.c.p.Outs {
		o := &r.c.p.Outs[i]
		if o.Acc != Max && o.Acc != LSE {
			continue
		}
		cols := r.c.p.Widths[o.Reg]
		for row := lo; row < hi; row++ {
			acc := r.l.Bufs[o.Operand][row*o.LD:][:cols]
			for k, y := range acc {
				if o.Acc == Max {
					if y == negInf {
						acc[k] = 0
					}
					continue
				}
				if m := r.l.Bufs[o.Aux][row*o.AuxLD+k]; m == negInf {
					acc[k] = 0
				} else {
					acc[k] = m + float32(math.Log(float64(y)))
				}
			}
		}
	}
}
