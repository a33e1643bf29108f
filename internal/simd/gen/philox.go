package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// philoxKernels returns the kernels that make random words.
func philoxKernels() []kernel {
	return []kernel{{name: "philox", params: "w0, w1, w2, w3, of []uint32, step, slot, site, k0, k1 uint32", avx512: true, emit: philox}}
}

// philox computes the words of eight counters at a time, of sixteen with AVX-512. The instruction for 64-bit
// products multiplies even lanes only. So the counters of odd lanes are moved to even lanes of other registers
// before the first round, and back after the last. In between only the lower half of each 64-bit lane matters.
func philox(e *emitter) {
	e.begin("philox", "w0, w1, w2, w3, of []uint32, step, slot, site, k0, k1 uint32")
	from, n := e.ptr("of"), e.length("of")
	var to [4]reg.GPVirtual
	for i, name := range []string{"w0", "w1", "w2", "w3"} {
		to[i] = e.ptr(name)
	}
	m0, m1 := e.words(0xD2511F53), e.words(0xCD9E8D57)
	w0, w1 := e.words(0x9E3779B9), e.words(0xBB67AE85)
	var same [5]reg.Register // the words that all counters share, and the key
	for i, name := range []string{"step", "slot", "site", "k0", "k1"} {
		same[i] = e.Load(e.Param(name), e.GP32())
	}
	spread := func(from reg.Register) reg.VecVirtual {
		x, to := e.XMM(), e.vec()
		e.VMOVD(from, x)
		e.VPBROADCASTD(x, to)
		return to
	}
	loop := e.label("counters")
	e.Label(loop)
	k0, k1 := spread(same[3]), spread(same[4])
	var a, b, c, d [2]reg.VecVirtual // for even lanes, and for odd lanes
	for h := range 2 {
		a[h], b[h], c[h], d[h] = e.vec(), spread(same[0]), spread(same[1]), spread(same[2])
	}
	e.load(from, a[0])
	e.VPSRLQ(operand.U8(32), a[0], a[1])
	for i := range 10 {
		if i > 0 {
			e.VPADDD(w0, k0, k0)
			e.VPADDD(w1, k1, k1)
		}
		for h := range 2 {
			x, y := e.vec(), e.vec()
			e.VPMULUDQ(m0, a[h], x)
			e.VPMULUDQ(m1, c[h], y)
			a[h], c[h] = e.high(y, b[h], k0), e.high(x, d[h], k1)
			b[h], d[h] = y, x
		}
	}
	for i, w := range [][2]reg.VecVirtual{a, b, c, d} {
		e.VPSLLQ(operand.U8(32), w[1], w[1])
		e.odd(w[1], w[0])
		e.store(w[0], to[i])
		e.ADDQ(imm(4*e.width()), to[i])
	}
	e.ADDQ(imm(4*e.width()), from)
	e.SUBQ(imm(e.width()), n)
	e.JNE(operand.LabelRef(loop))
	e.end()
}

// words is a register with the same number in all lanes.
func (e *emitter) words(x uint32) reg.VecVirtual {
	to := e.vec()
	if e.wide {
		e.VPBROADCASTD(e.bits(x), to)
	} else {
		e.VMOVDQU(e.bits(x), to)
	}
	return to
}

// load and store move a register of whole numbers.
func (e *emitter) load(from reg.Register, to reg.VecVirtual) {
	if e.wide {
		e.VMOVDQU32(at(from, 0), to)
	} else {
		e.VMOVDQU(at(from, 0), to)
	}
}

func (e *emitter) store(from reg.VecVirtual, to reg.Register) {
	if e.wide {
		e.VMOVDQU32(from, at(to, 0))
	} else {
		e.VMOVDQU(from, at(to, 0))
	}
}

// high moves the upper halves of products to the lower halves, and computes xor with x and y.
func (e *emitter) high(product, x, y reg.VecVirtual) reg.VecVirtual {
	to := e.vec()
	e.VPSRLQ(operand.U8(32), product, to)
	if e.wide {
		e.VPTERNLOGD(operand.U8(0x96), x, y, to)
	} else {
		e.VPXOR(x, to, to)
		e.VPXOR(y, to, to)
	}
	return to
}

// odd sets the odd lanes of to.
func (e *emitter) odd(from, to reg.VecVirtual) {
	if !e.wide {
		e.VPBLENDD(operand.U8(0xaa), from, to, to)
		return
	}
	odd, mask := e.K(), e.GP32()
	e.MOVL(operand.U32(0xaaaa), mask)
	e.KMOVW(mask, odd)
	e.VMOVDQA32(from, odd, to)
}
