package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const gatherSumsParams = "dst []float32, cols int, src []float32, ld int, idx []uint32, w []float32, ends []uint32"

// gatherSums is gatherWSum for one group of rows after the other: it writes a sum for each, and prefetches over their ends.
func gatherSums(e *emitter) {
	e.begin("gatherSums", gatherSumsParams)
	dst, src, weights, cols := e.ptr("dst"), e.ptr("src"), e.ptr("w"), e.num("cols")
	base := func(name string) operand.Mem {
		b, err := e.Param(name).Base().Resolve()
		if err != nil {
			panic(err)
		}
		return b.Addr
	}
	fetchEnd := e.length("idx") // where no index is ahead edges later
	e.SHLQ(operand.U8(2), fetchEnd)
	e.ADDQ(base("idx"), fetchEnd)
	e.SUBQ(imm(4*ahead), fetchEnd)
	e.SUBQ(base("idx"), weights)
	w4 := 4 * e.width()
	e.tiles(cols, func(vecs int, mask reg.Register) {
		p, stop, row, end, left, to := e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64()
		e.Load(e.Param("idx").Base(), p)
		e.Load(e.Param("ends").Base(), end)
		e.Load(e.Param("ends").Len(), left)
		e.MOVQ(dst, to)
		group, loop, there, over := e.label("group"), e.label("edge"), e.label("there"), e.label("over")
		e.Label(group)
		sums := e.startSums(vecs, to, mask, false)
		e.MOVL(at(end, 0), stop.As32())
		e.SHLQ(operand.U8(2), stop)
		e.ADDQ(base("idx"), stop)
		e.CMPQ(p, stop)
		e.JGE(operand.LabelRef(over))
		e.Label(loop)
		e.CMPQ(p, fetchEnd)
		e.JGE(operand.LabelRef(there))
		e.MOVL(at(p, 4*ahead), row.As32())
		e.IMULQ(e.paramMem("ld"), row)
		for off := 0; off < vecs*w4; off += 64 {
			e.PREFETCHT0(operand.Mem{Base: src, Index: row, Scale: 4, Disp: off})
		}
		e.Label(there)
		e.MOVL(at(p, 0), row.As32())
		e.IMULQ(e.paramMem("ld"), row)
		a := e.vec()
		e.VBROADCASTSS(operand.Mem{Base: p, Index: weights, Scale: 1}, a)
		for v, s := range sums {
			var x operand.Op = operand.Mem{Base: src, Index: row, Scale: 4, Disp: v * w4}
			if v == vecs-1 {
				x = e.loadMasked(x.(operand.Mem), mask)
			}
			e.VADDPS(e.mul(a, x), s, s) // the product is rounded, as one in memory is
		}
		e.ADDQ(imm(4), p)
		e.CMPQ(p, stop)
		e.JL(operand.LabelRef(loop))
		e.Label(over)
		for v, s := range sums {
			if v == vecs-1 {
				e.storeMasked(s, mask, at(to, v*w4))
			} else {
				e.VMOVUPS(s, at(to, v*w4))
			}
		}
		e.MOVQ(e.paramMem("cols"), row)
		e.LEAQ(operand.Mem{Base: to, Index: row, Scale: 4}, to)
		e.ADDQ(imm(4), end)
		e.DECQ(left)
		e.JNE(operand.LabelRef(group))
	}, func(bytes int) {
		e.ADDQ(imm(bytes), dst)
		e.ADDQ(imm(bytes), src)
	})
	e.end()
}
