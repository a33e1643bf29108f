package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// philoxKernels returns the kernels that make random words.
func philoxKernels() []kernel {
	return []kernel{{name: "philox", params: "w0, w1, w2, w3, of []uint32, step, slot, site, k0, k1 uint32", emit: philox}}
}

// philox makes the words of eight counters at a time. Products of 64 bits are made of the even lanes, then of the odd ones.
func philox(e *emitter) {
	e.begin("philox", "w0, w1, w2, w3, of []uint32, step, slot, site, k0, k1 uint32")
	from, n := e.ptr("of"), e.length("of")
	var to [4]reg.GPVirtual
	for i, name := range []string{"w0", "w1", "w2", "w3"} {
		to[i] = e.ptr(name)
	}
	multiply := func(x, by reg.VecVirtual) (high, low reg.VecVirtual) {
		high, low = e.YMM(), e.YMM()
		odd, even := e.YMM(), e.YMM()
		e.VPSRLQ(operand.U8(32), x, odd)
		e.VPMULUDQ(by, x, even)
		e.VPMULUDQ(by, odd, odd)
		e.VPSRLQ(operand.U8(32), even, high)
		e.VPBLENDD(operand.U8(0xaa), odd, high, high)
		e.VPSLLQ(operand.U8(32), odd, low)
		e.VPBLENDD(operand.U8(0xaa), low, even, low)
		return high, low
	}
	m0, m1 := e.YMM(), e.YMM()
	e.VMOVDQU(e.bits(0xD2511F53), m0)
	e.VMOVDQU(e.bits(0xCD9E8D57), m1)
	var same [5]reg.Register // of all counters, and the key
	for i, name := range []string{"step", "slot", "site", "k0", "k1"} {
		same[i] = e.Load(e.Param(name), e.GP32())
	}
	spread := func(from reg.Register, to reg.VecVirtual) {
		x := e.XMM()
		e.VMOVD(from, x)
		e.VPBROADCASTD(x, to)
	}
	loop := e.label("counters")
	e.Label(loop)
	a, b, c, d, k0, k1 := e.YMM(), e.YMM(), e.YMM(), e.YMM(), e.YMM(), e.YMM()
	e.VMOVDQU(at(from, 0), a)
	spread(same[0], b)
	spread(same[1], c)
	spread(same[2], d)
	spread(same[3], k0)
	spread(same[4], k1)
	for i := range 10 {
		if i > 0 {
			e.VPADDD(e.bits(0x9E3779B9), k0, k0)
			e.VPADDD(e.bits(0xBB67AE85), k1, k1)
		}
		xHigh, xLow := multiply(a, m0)
		yHigh, yLow := multiply(c, m1)
		e.VPXOR(b, yHigh, yHigh)
		e.VPXOR(k0, yHigh, yHigh)
		e.VPXOR(d, xHigh, xHigh)
		e.VPXOR(k1, xHigh, xHigh)
		a, b, c, d = yHigh, yLow, xHigh, xLow
	}
	for i, w := range []reg.VecVirtual{a, b, c, d} {
		e.VMOVDQU(w, at(to[i], 0))
		e.ADDQ(imm(32), to[i])
	}
	e.ADDQ(imm(32), from)
	e.SUBQ(imm(8), n)
	e.JNE(operand.LabelRef(loop))
	e.end()
}
