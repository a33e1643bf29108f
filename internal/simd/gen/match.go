package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// matchRows compares rows, which it prefetches as gatherRows does, with one number each, and writes a bit for every column.
func matchRows(e *emitter) {
	e.begin("matchRows", "found []uint64, words int, src []float32, ld int, idx []uint32, want []float32, cols int")
	found, src, ld, idx := e.ptr("found"), e.ptr("src"), e.num("ld"), e.ptr("idx")
	end, cols, want := e.length("idx"), e.num("cols"), e.ptr("want")
	fetchEnd := e.GP64()
	e.Load(e.Param("idx").Cap(), fetchEnd)
	e.LEAQ(operand.Mem{Base: idx, Index: fetchEnd, Scale: 4, Disp: -4 * ahead}, fetchEnd)
	e.LEAQ(operand.Mem{Base: idx, Index: end, Scale: 4}, end)
	e.SHLQ(operand.U8(2), ld)
	rest := e.GP64()
	e.MOVQ(cols, rest)
	e.ANDQ(imm(e.width()-1), rest)
	mask := e.lanes(rest)
	row, n, to := e.GP64(), e.GP64(), e.GP64()
	loop, comparing, fetch := e.label("row"), e.label("compare"), e.label("fetch")
	e.Label(loop)
	e.CMPQ(idx, fetchEnd)
	e.JGE(operand.LabelRef(comparing))
	e.MOVL(at(idx, 4*ahead), row.As32())
	e.IMULQ(ld, row)
	e.ADDQ(src, row)
	e.LEAQ(operand.Mem{Base: row, Index: cols, Scale: 4}, n)
	e.Label(fetch)
	e.PREFETCHT0(at(row, 0))
	e.ADDQ(imm(64), row)
	e.CMPQ(row, n)
	e.JL(operand.LabelRef(fetch))
	e.Label(comparing)
	e.MOVL(at(idx, 0), row.As32())
	e.IMULQ(ld, row)
	e.ADDQ(src, row)
	e.MOVQ(cols, n)
	e.MOVQ(found, to)
	x := e.vec()
	e.VBROADCASTSS(at(want, 0), x)
	e.tileLoop(n, rest, mask, []reg.GPVirtual{row}, 4, func(vecs int, mask reg.Register) {
		for v := range vecs {
			same := e.cmp(cmpEQ, x, loadLanes(e, at(row, 4*e.width()*v), mask))
			if mask != nil {
				same = e.both(same, mask)
			}
			if e.wide {
				e.KMOVW(same, at(to, 2*v))
				continue
			}
			bits := e.GP32()
			e.VMOVMSKPS(same, bits)
			e.MOVB(bits.As8(), at(to, v))
		}
		e.ADDQ(imm(vecs*e.width()/8), to)
	})
	e.ADDQ(imm(4), want)
	e.MOVQ(e.paramMem("words"), row)
	e.LEAQ(operand.Mem{Base: found, Index: row, Scale: 8}, found)
	e.ADDQ(imm(4), idx)
	e.CMPQ(idx, end)
	e.JL(operand.LabelRef(loop))
	e.end()
}
