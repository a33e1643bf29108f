package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elemKernel is an element-wise kernel: body maps one vector of each input to
// the result. Whole vectors and the masked rest use the same body, so a result
// does not depend on its position.
type elemKernel struct {
	name   string
	params string // in the order of the Go signature
	inputs string // the slices read, in the order of body's arguments
	unroll int    // vectors in flight
	consts func(e *emitter)
	body   func(e *emitter, in []reg.VecVirtual) reg.VecVirtual
}

const (
	binaryParams = "dst, x, y []float32"
	unaryParams  = "dst, x []float32"
	scalarParams = "dst, x []float32, a float32"
)

// elemKernels returns the arithmetic; mathKernels the functions.
func elemKernels() []elemKernel {
	type vv = []reg.VecVirtual
	type v = reg.VecVirtual
	binary := func(name string, body func(e *emitter, in vv) v) elemKernel {
		return elemKernel{name: name, params: binaryParams, inputs: "x y", unroll: 4, body: body}
	}
	unary := func(name string, consts func(*emitter), body func(e *emitter, in vv) v) elemKernel {
		return elemKernel{name: name, params: unaryParams, inputs: "x", unroll: 4, consts: consts, body: body}
	}
	scalar := func(name string, consts func(*emitter), body func(e *emitter, in vv) v) elemKernel {
		return elemKernel{name: name, params: scalarParams, inputs: "x", unroll: 4, consts: consts, body: body}
	}
	one := func(e *emitter) { e.constant("one", 1) }
	zero := func(e *emitter) { e.constant("zero", 0) }
	both := func(e *emitter) { one(e); zero(e) }
	sign := func(e *emitter) { e.constBits("sign", 1<<31) }
	rest := func(e *emitter) { e.constBits("rest", 1<<31-1) }
	return []elemKernel{
		binary("add", func(e *emitter, in vv) v { return e.add(in[0], in[1]) }),
		binary("sub", func(e *emitter, in vv) v { return e.sub(in[0], in[1]) }),
		binary("mul", func(e *emitter, in vv) v { return e.mul(in[0], in[1]) }),
		binary("div", func(e *emitter, in vv) v { return e.div(in[0], in[1]) }),
		binary("max", func(e *emitter, in vv) v { return e.maxNaN(in[0], in[1]) }),
		binary("min", func(e *emitter, in vv) v { return e.minNaN(in[0], in[1]) }),
		{name: "eq", params: binaryParams, inputs: "x y", unroll: 4, consts: one,
			body: func(e *emitter, in vv) v { return e.selz(e.cmp(cmpEQ, in[0], in[1]), e.k("one")) }},
		{name: "mask", params: binaryParams, inputs: "x y", unroll: 4, consts: zero,
			body: func(e *emitter, in vv) v { return e.selz(e.cmp(cmpNotEQ, in[1], e.k("zero")), in[0]) }},
		{name: "mulAddTo", params: binaryParams, inputs: "dst x y", unroll: 4,
			body: func(e *emitter, in vv) v { e.fma(in[0], in[1], in[2]); return in[0] }},

		unary("neg", sign, func(e *emitter, in vv) v { return e.xor(in[0], e.k("sign")) }),
		unary("abs", rest, func(e *emitter, in vv) v { return e.and(in[0], e.k("rest")) }),
		unary("square", nil, func(e *emitter, in vv) v { return e.mul(in[0], in[0]) }),
		unary("sqrt", nil, func(e *emitter, in vv) v { r := e.vec(); e.VSQRTPS(in[0], r); return r }),
		unary("step", both, func(e *emitter, in vv) v {
			return e.selz(e.cmp(cmpGT, in[0], e.k("zero")), e.k("one"))
		}),
		// The vector maximum gives its second operand where one is NaN: that must be x.
		unary("relu", func(e *emitter) { e.consts["zero"] = e.zero() }, func(e *emitter, in vv) v {
			return e.max(e.k("zero"), in[0])
		}),
		unary("eluStep", both, func(e *emitter, in vv) v {
			return e.sel(e.cmp(cmpLE, in[0], e.k("zero")), e.add(in[0], e.k("one")), e.kreg("one"))
		}),
		unary("sigmoidGrad", one, func(e *emitter, in vv) v {
			return e.mul(in[0], e.sub(e.kreg("one"), in[0]))
		}),
		unary("tanhGrad", one, func(e *emitter, in vv) v {
			r := e.kreg("one")
			e.fnma(r, in[0], in[0])
			return r
		}),

		{name: "axpy", params: scalarParams, inputs: "dst x", unroll: 4,
			body: func(e *emitter, in vv) v { e.fma(in[0], in[1], e.k("a")); return in[0] }},
		scalar("scale", nil, func(e *emitter, in vv) v { return e.mul(in[0], e.k("a")) }),
		scalar("addScalar", nil, func(e *emitter, in vv) v { return e.add(in[0], e.k("a")) }),
		scalar("leakyRelu", zero, func(e *emitter, in vv) v {
			return e.sel(e.cmp(cmpGT, in[0], e.k("zero")), in[0], e.mul(in[0], e.k("a")))
		}),
		scalar("leakyStep", both, func(e *emitter, in vv) v {
			return e.sel(e.cmp(cmpGT, in[0], e.k("zero")), e.k("one"), e.k("a"))
		}),
		{name: "fill", params: "dst []float32, a float32", unroll: 4,
			body: func(e *emitter, _ vv) v { return e.k("a").(reg.VecVirtual) }},
	}
}

// emit writes the kernel: a loop over unroll vectors, one over single vectors,
// and the masked rest.
func (g elemKernel) emit(e *emitter) {
	e.begin(g.name, g.params)
	dst, n := e.ptr("dst"), e.length("dst")
	inputs := strings.Fields(g.inputs)
	ptrs := map[string]reg.GPVirtual{"dst": dst}
	order := []reg.GPVirtual{dst} // the pointers to advance, each once
	for _, s := range inputs {
		if _, ok := ptrs[s]; !ok {
			ptrs[s] = e.ptr(s)
			order = append(order, ptrs[s])
		}
	}
	if strings.HasSuffix(g.params, "a float32") {
		r := e.vec()
		e.VBROADCASTSS(e.paramMem("a"), r)
		e.consts["a"] = r
	}
	if g.consts != nil {
		g.consts(e)
	}
	w := e.width()
	single, tail, done := e.label("single"), e.label("tail"), e.label("done")
	if g.unroll > 1 {
		loop := e.label("loop")
		e.Label(loop)
		e.CMPQ(n, imm(g.unroll*w))
		e.JL(operand.LabelRef(single))
		for u := range g.unroll {
			var in []reg.VecVirtual
			for _, s := range inputs {
				in = append(in, e.copyOf(at(ptrs[s], 4*w*u)))
			}
			e.VMOVUPS(g.body(e, in), at(dst, 4*w*u))
		}
		for _, p := range order {
			e.ADDQ(imm(4*w*g.unroll), p)
		}
		e.SUBQ(imm(w*g.unroll), n)
		e.JMP(operand.LabelRef(loop))
	}
	e.Label(single)
	e.CMPQ(n, imm(w))
	e.JL(operand.LabelRef(tail))
	var in []reg.VecVirtual
	for _, s := range inputs {
		in = append(in, e.copyOf(at(ptrs[s], 0)))
	}
	e.VMOVUPS(g.body(e, in), at(dst, 0))
	for _, p := range order {
		e.ADDQ(imm(4*w), p)
	}
	e.SUBQ(imm(w), n)
	e.JMP(operand.LabelRef(single))

	e.Label(tail)
	e.TESTQ(n, n)
	e.JE(operand.LabelRef(done))
	mask := e.lanes(n)
	in = nil
	for _, s := range inputs {
		in = append(in, e.loadMasked(at(ptrs[s], 0), mask))
	}
	e.storeMasked(g.body(e, in), mask, at(dst, 0))
	e.Label(done)
	e.end()
}
