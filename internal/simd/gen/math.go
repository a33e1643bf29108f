package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The constants of the approximations, by the part that uses them.

func expConsts(e *emitter) {
	ln2hi := float64(float32(math.Ln2))
	e.constant("one", 1)
	e.constant("expmax", 89)   // e**89 overflows
	e.constant("expmin", -104) // e**-104 rounds to 0
	e.constant("log2e", math.Log2E)
	e.constant("ln2hi", ln2hi)
	e.constant("ln2lo", math.Ln2-ln2hi)
	e.poly("e", expTail)
	if !e.wide {
		e.constBits("bias", 127)
	}
}

func logConsts(e *emitter) {
	ln2hi := float64(float32(math.Ln2))
	e.constant("one", 1)
	e.constant("half", 0.5)
	e.constBits("sqrthalf", math.Float32bits(math.Sqrt2/2))
	e.constant("ln2hi", ln2hi)
	e.constant("ln2lo", math.Ln2-ln2hi)
	e.poly("l", logTail)
}

func absConsts(e *emitter) {
	e.constBits("sign", 1<<31)
	e.constBits("rest", 1<<31-1)
	e.constant("zero", 0)
}

// expParts returns p and n with e**x = (1+p) * 2**n. The argument is clamped to
// where the result is neither certainly 0 nor certainly +Inf; NaN passes.
func (e *emitter) expParts(x reg.VecVirtual) (p, n reg.VecVirtual) {
	x = e.min(e.kreg("expmax"), x)
	x = e.max(e.kreg("expmin"), x)
	t := e.mul(x, e.k("log2e"))
	n = e.vec()
	if e.wide {
		e.VRNDSCALEPS(operand.U8(8), t, n) // to nearest even
	} else {
		e.VROUNDPS(operand.U8(8), t, n)
	}
	e.fnma(x, e.k("ln2hi"), n)
	e.fnma(x, e.k("ln2lo"), n)
	p = e.horner("e", len(expTail)-1, x)
	e.mulAdd(p, e.mul(x, x), x)
	return p, n
}

// scale returns x * 2**n for integer n in [-150, 128]. The AVX2 form multiplies
// twice, as 2**n itself may be no normal number; only the second rounds.
func (e *emitter) scale(x, n reg.VecVirtual) reg.VecVirtual {
	if e.wide {
		r := e.vec()
		e.VSCALEFPS(n, x, r)
		return r
	}
	i, h := e.vec(), e.vec()
	e.VCVTPS2DQ(n, i)
	e.VPSRAD(operand.U8(1), i, h)
	e.VPSUBD(h, i, i)
	for _, part := range []reg.VecVirtual{h, i} {
		e.VPADDD(e.k("bias"), part, part)
		e.VPSLLD(operand.U8(23), part, part)
		x = e.mul(x, part)
	}
	return x
}

// exp returns e**x.
func (e *emitter) exp(x reg.VecVirtual) reg.VecVirtual {
	p, n := e.expParts(x)
	return e.scale(e.add(p, e.k("one")), n)
}

// logNormal returns log(x) for normal x > 0, plus off*log(2) where off is not
// nil.
func (e *emitter) logNormal(x, off reg.VecVirtual) reg.VecVirtual {
	// With x seen as an integer, the distance from sqrt(1/2) has in its
	// exponent field the exponent that leaves a fraction in [sqrt(1/2), sqrt(2)).
	i, f, n := e.vec(), e.vec(), e.vec()
	e.VPSUBD(e.k("sqrthalf"), x, i)
	e.VPSRAD(operand.U8(23), i, i)
	e.VCVTDQ2PS(i, n)
	e.VPSLLD(operand.U8(23), i, i)
	e.VPSUBD(i, x, f)
	f = e.sub(f, e.k("one"))
	if off != nil {
		n = e.sub(n, off)
	}
	y := e.horner("l", len(logTail)-1, f)
	sq := e.mul(f, f)
	y = e.mul(y, e.mul(sq, f))
	e.fma(y, e.k("ln2lo"), n)
	e.fnma(y, e.k("half"), sq)
	y = e.add(y, f)
	e.fma(y, e.k("ln2hi"), n)
	return y
}

// mathKernels returns the kernels with approximations.
func mathKernels() []elemKernel {
	type vv = []reg.VecVirtual
	type v = reg.VecVirtual
	unary := func(name string, consts func(*emitter), body func(e *emitter, in vv) v) elemKernel {
		return elemKernel{name: name, params: unaryParams, inputs: "x", unroll: 1, consts: consts, body: body}
	}
	expAbs := func(e *emitter) { expConsts(e); absConsts(e) }
	return []elemKernel{
		unary("exp", expConsts, func(e *emitter, in vv) v { return e.exp(in[0]) }),
		unary("sigmoid", expAbs, func(e *emitter, in vv) v {
			t := e.exp(e.xor(in[0], e.k("sign")))
			return e.div(e.kreg("one"), e.add(t, e.k("one")))
		}),
		unary("elu", func(e *emitter) { expAbs(e); e.constant("elumin", -40) }, elu),
		unary("tanh", func(e *emitter) {
			expAbs(e)
			e.poly("t", tanhTail)
			e.constant("small", tanhSmall)
			e.constant("two", 2)
		}, tanh),
		unary("log", func(e *emitter) {
			e.spill = true
			logConsts(e)
			e.constant("zero", 0)
			e.constant("normal", 0x1p-126)
			e.constant("2^23", 1<<23)
			e.constant("23", 23)
			e.constant("+inf", math.Inf(1))
			e.constant("-inf", math.Inf(-1))
			e.constBits("nan", 0x7fc00000)
		}, logarithm),
		unary("softplus", func(e *emitter) { e.spill = true; expAbs(e); logConsts(e) }, softplus),
		unary("gelu", func(e *emitter) { expAbs(e); geluConsts(e) }, gelu),
		unary("geluGrad", func(e *emitter) { expAbs(e); geluConsts(e) }, geluGrad),
	}
}

// elu keeps the small part of e**x - 1 = 2**n*p + (2**n - 1) apart from the 1.
// Below -40 the result is -1 to the last bit.
func elu(e *emitter, in []reg.VecVirtual) reg.VecVirtual {
	x := e.max(e.kreg("elumin"), e.min(e.kreg("zero"), in[0]))
	p, n := e.expParts(x)
	s := e.scale(e.kreg("one"), n)
	e.mulAdd(p, s, e.sub(s, e.k("one")))
	return e.sel(e.cmp(cmpGT, in[0], e.k("zero")), in[0], p)
}

// tanh is a polynomial near 0, where 1 - 2/(e**2|x|+1) would cancel.
func tanh(e *emitter, in []reg.VecVirtual) reg.VecVirtual {
	x := in[0]
	z := e.and(x, e.k("rest"))
	t := e.add(e.exp(e.add(z, z)), e.k("one"))
	big := e.sub(e.kreg("one"), e.div(e.kreg("two"), t))
	big = e.or(big, e.and(x, e.k("sign")))
	sq := e.mul(x, x)
	low := e.horner("t", len(tanhTail)-1, sq)
	low = e.mul(low, sq)
	e.mulAdd(low, x, x)
	return e.sel(e.cmp(cmpLT, z, e.k("small")), low, big)
}

// logarithm scales denormal arguments up and mends 0, negatives, +Inf and NaN.
func logarithm(e *emitter, in []reg.VecVirtual) reg.VecVirtual {
	x := in[0]
	tiny := e.cmp(cmpLT, x, e.k("normal"))
	y := e.logNormal(e.sel(tiny, e.mul(x, e.k("2^23")), x), e.selz(tiny, e.k("23")))
	y = e.sel(e.cmp(cmpEQ, x, e.k("+inf")), x, y)
	y = e.sel(e.cmp(cmpNotGE, x, e.k("zero")), e.k("nan"), y)
	return e.sel(e.cmp(cmpEQ, x, e.k("zero")), e.k("-inf"), y)
}

// softplus is max(x, 0) + log1p(t) with t = e**-|x|. With u = 1+t rounded,
// log1p(t) = log(u) + (t-(u-1))/u to first order.
func softplus(e *emitter, in []reg.VecVirtual) reg.VecVirtual {
	t := e.exp(e.or(in[0], e.k("sign")))
	u := e.add(t, e.k("one"))
	lost := e.sub(t, e.sub(u, e.k("one")))
	y := e.add(e.logNormal(u, nil), e.div(lost, u))
	return e.add(y, e.max(in[0], e.k("zero")))
}

// The tanh form of GELU, x * sigmoid(2u): 2u = x*(c1 + c3*x**2).
const (
	geluC1 = 2 * 0.7978845608028654
	geluC3 = geluC1 * 0.044715
)

func geluConsts(e *emitter) {
	e.constant("c1", geluC1)
	e.constant("c3", geluC3)
	e.constant("3c3", 3*geluC3)
	e.constant("-c1", -geluC1)
	e.constant("-c3", -geluC3)
	e.constant("gelumin", -9)
	e.constant("gelumax", 9)
}

func gelu(e *emitter, in []reg.VecVirtual) reg.VecVirtual {
	x := in[0]
	z := e.kreg("-c3")
	e.mulAdd(z, e.mul(x, x), e.k("-c1"))
	t := e.exp(e.mul(z, x))
	return e.div(x, e.add(t, e.k("one")))
}

// geluGrad writes s*(1-s) as t*s*s with t = e**-2u, which does not cancel. The
// argument is clamped to where t stays finite and the result is 0 or 1 beyond.
func geluGrad(e *emitter, in []reg.VecVirtual) reg.VecVirtual {
	x := e.max(e.kreg("gelumin"), e.min(e.kreg("gelumax"), in[0]))
	sq := e.mul(x, x)
	z := e.kreg("-c3")
	e.mulAdd(z, sq, e.k("-c1"))
	t := e.exp(e.mul(z, x))
	s := e.div(e.kreg("one"), e.add(t, e.k("one")))
	d := e.kreg("3c3")
	e.mulAdd(d, sq, e.k("c1"))
	d = e.mul(d, x)
	d = e.mul(d, e.mul(e.mul(t, s), s))
	return e.add(d, s)
}
