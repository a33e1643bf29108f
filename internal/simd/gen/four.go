package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fourRows keeps six numbers of some vectors of columns in registers while it reads the rows. Ranks ascend, so that of equal
// maxima the one that is held stays. A NaN makes the sum NaN: where no sum is, no number of the rows was, and the maxima need
// one comparison each. Else the vectors, which are not stored yet, are computed again with care.
func fourRows(e *emitter) {
	e.begin("fourRows", "sum, squares, top, topRank, low, lowRank, x, rank []float32")
	cols := e.length("sum")
	f := four{emitter: e}
	for _, name := range []string{"sum", "squares", "top", "topRank", "low", "lowRank"} {
		f.to = append(f.to, e.ptr(name))
	}
	f.x = e.ptr("x")
	f.ld = e.GP64()
	rest := e.GP64()
	e.MOVQ(cols, f.ld)
	e.SHLQ(operand.U8(2), f.ld)
	e.MOVQ(cols, rest)
	e.ANDQ(imm(e.width()-1), rest)
	mask := e.lanes(rest)
	f.p, f.r, f.n = e.GP64(), e.GP64(), e.GP64()
	together := 2
	if e.wide {
		together = 4
	}
	e.constBits("sign", 1<<31)
	e.tileLoop(cols, rest, mask, append(f.to, f.x), together, func(vecs int, mask reg.Register) {
		care, done := e.label("care"), e.label("tile")
		held := make([][]reg.VecVirtual, vecs)
		for v := range held {
			held[v] = f.load(v, mask)
			f.turn(held[v])
		}
		f.rows(0, func(rank reg.VecVirtual) {
			for v, h := range held {
				y := loadLanes(e, at(f.p, 4*e.width()*v), mask)
				e.VADDPS(y, h[0], h[0])
				e.set(h[3], e.cmp(cmpGT, y, h[2]), rank)
				e.VMAXPS(h[2], y, h[2])
				e.set(h[5], e.cmp(cmpLT, y, h[4]), rank)
				e.VMINPS(h[4], y, h[4])
				e.VMULPS(y, y, y)
				e.VADDPS(y, h[1], h[1])
			}
		})
		none := e.cmp(cmpNaN, held[0][0], held[0][0])
		for _, h := range held[1:] {
			none = e.either(none, e.cmp(cmpNaN, h[0], h[0]))
		}
		if e.wide {
			e.KORTESTW(none, none)
		} else {
			e.VMOVMSKPS(none, f.n.As32())
			e.TESTL(f.n.As32(), f.n.As32())
		}
		e.JNE(operand.LabelRef(care))
		for v, h := range held {
			f.turn(h)
			f.store(h, v, mask)
		}
		e.JMP(operand.LabelRef(done))
		e.Label(care)
		for v := range vecs {
			f.careful(v, mask)
		}
		e.Label(done)
	})
	e.end()
}

// four has the registers of fourRows.
type four struct {
	*emitter
	to             []reg.GPVirtual // the six numbers
	x, ld, p, r, n reg.GPVirtual   // rows, bytes of one; row, its rank, rows left
}

func (f *four) load(v int, mask reg.Register) (held []reg.VecVirtual) {
	for _, to := range f.to {
		held = append(held, loadLanes(f.emitter, at(to, 4*f.width()*v), mask))
	}
	return held
}

func (f *four) store(held []reg.VecVirtual, v int, mask reg.Register) {
	for i, to := range f.to {
		if mask != nil {
			f.storeMasked(held[i], mask, at(to, 4*f.width()*v))
		} else {
			f.VMOVUPS(held[i], at(to, 4*f.width()*v))
		}
	}
}

// turn makes the maximum of negated rows the minimum of rows, and back.
func (f *four) turn(held []reg.VecVirtual) { f.VXORPS(f.k("sign"), held[4], held[4]) }

// rows runs body for each row, from vector v on.
func (f *four) rows(v int, body func(rank reg.VecVirtual)) {
	f.LEAQ(at(f.x, 4*f.width()*v), f.p)
	f.Load(f.Param("rank").Base(), f.r)
	f.Load(f.Param("rank").Len(), f.n)
	loop := f.label("row")
	f.Label(loop)
	rank := f.vec()
	f.VBROADCASTSS(at(f.r, 0), rank)
	body(rank)
	f.ADDQ(f.ld, f.p)
	f.ADDQ(imm(4), f.r)
	f.DECQ(f.n)
	f.JNE(operand.LabelRef(loop))
}

// careful computes vector v where rows may have NaN.
func (f *four) careful(v int, mask reg.Register) {
	h := f.load(v, mask)
	f.rows(v, func(rank reg.VecVirtual) {
		y := loadLanes(f.emitter, at(f.p, 0), mask)
		f.VADDPS(y, h[0], h[0])
		f.VADDPS(f.mul(y, y), h[1], h[1])
		for i := 2; i < 6; i += 2 {
			if i == 4 {
				f.VXORPS(f.k("sign"), y, y)
			}
			above := f.both(f.cmp(cmpNotLE, y, h[i]), f.cmp(cmpOrdered, h[i], h[i]))
			f.set(h[i], above, y)
			f.set(h[i+1], above, rank)
		}
	})
	f.store(h, v, mask)
}
