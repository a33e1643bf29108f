package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// laneTable returns the address of 8 words of ones followed by 8 of zeros: the
// vector at word 8-n is the AVX2 mask of the first n lanes.
func (e *emitter) laneTable() reg.GPVirtual {
	const key = 0xffffffff // no float constant has these bits
	m, ok := e.pool[key]
	if !ok {
		m = e.StaticGlobal("lanes")
		e.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 16 {
			w := uint32(0)
			if i < 8 {
				w = 0xffffffff
			}
			e.AddDatum(4*i, operand.U32(w))
		}
		e.pool[key] = m
	}
	r := e.GP64()
	e.LEAQ(m, r)
	return r
}

// lanes returns the mask of the first n lanes, 0 <= n <= width; n is kept.
func (e *emitter) lanes(n reg.GPVirtual) reg.Register {
	var m reg.Register = e.vec()
	if e.wide {
		m = e.K()
	}
	e.setLanes(n, m)
	return m
}

// setLanes is lanes into a given mask.
func (e *emitter) setLanes(n reg.GPVirtual, m reg.Register) {
	if e.wide {
		ones := e.GP32()
		e.MOVL(operand.U32(0xffffffff), ones)
		e.BZHIL(n.As32(), ones, ones)
		e.KMOVW(ones, m)
		return
	}
	table, back := e.laneTable(), e.GP64()
	e.MOVQ(n, back)
	e.NEGQ(back)
	e.VMOVUPS(operand.Mem{Base: table, Index: back, Scale: 4, Disp: 32}, m)
}

// loadMasked loads the lanes of mask and zeros the others; memory behind those
// is not touched.
func (e *emitter) loadMasked(src operand.Mem, mask reg.Register) reg.VecVirtual {
	r := e.vec()
	if e.wide {
		e.VMOVUPS_Z(src, mask, r)
	} else {
		e.VMASKMOVPS(src, mask, r)
	}
	return r
}

// loadLanes is loadMasked, or a load of the whole vector where mask is nil.
func loadLanes(e *emitter, src operand.Mem, mask reg.Register) reg.VecVirtual {
	if mask != nil {
		return e.loadMasked(src, mask)
	}
	return e.copyOf(src)
}

// storeMasked stores the lanes of mask.
func (e *emitter) storeMasked(v, mask reg.Register, dst operand.Mem) {
	if e.wide {
		e.VMOVUPS(v, mask, dst)
	} else {
		e.VMASKMOVPS(v, mask, dst)
	}
}

// at is the memory disp bytes behind a pointer.
func at(p reg.Register, disp int) operand.Mem { return operand.Mem{Base: p, Disp: disp} }

// imm is a 32-bit immediate.
func imm(n int) operand.Constant { return operand.U32(n) }
