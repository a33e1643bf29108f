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

// step folds the strip that starts at edge e into the accumulators of o.
func (r *run) step(w *worker, o *Out, e int) {
	cols := r.c.p.Widths[o.Reg]
	x, buf := w.at[o.Reg], r.l.Bufs[o.Operand]
	for _, g := range w.segs {
		at := g.row * o.LD
		switch {
		case o.Acc == Sum && o.Key == NoKey:
			simd.SumRows(buf[at:at+cols], x[g.lo*cols:g.hi*cols], g.hi-g.lo)
		case o.Acc == Sum:
			for i := g.lo; i < g.hi; i++ {
				if k := r.key(o.Key, e+i); k < o.Blocks {
					simd.AddTo(buf[at+k*cols:at+(k+1)*cols], x[i*cols:(i+1)*cols])
				}
			}
		case o.Acc == Max:
			r.stepMax(o, g, x, buf[at:at+cols], e)
		case o.Acc == LSE:
			m := r.l.Bufs[o.Aux][g.row*o.AuxLD:]
			stepLSE(buf[at:at+cols], m[:cols], x[g.lo*cols:g.hi*cols])
		}
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

// stepLSE keeps s = Σ exp(x - m) and the running maximum m for every column.
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
