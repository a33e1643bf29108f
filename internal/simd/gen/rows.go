package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowKernels returns the kernels over consecutive rows.
func rowKernels() []kernel {
	return []kernel{
		{name: "sumRows", params: "acc, x []float32, n int", avx512: true,
			emit: func(e *emitter) { sumRows(e, "sumRows", false) }},
		{name: "moreRows", params: "acc, x []float32, n int", avx512: true,
			emit: func(e *emitter) { sumRows(e, "moreRows", true) }},
		{name: "maxRows", params: "acc, arg, x, rank []float32", avx512: true, emit: maxRows},
		{name: "rowScale", params: "dst, x, s []float32, cols int", avx512: true, emit: rowScale},
		{name: "rowFill", params: "dst, s []float32, cols int", avx512: true, emit: rowFill},
		// Groups are narrow: AVX2 has the shorter way from lanes to one sum.
		{name: "rowSum", params: "dst, x []float32, cols int", emit: rowSum},
		{name: "unpackHalf", params: "dst, x []float32", emit: unpackHalf},
		{name: "copyTile", params: "dst []float32, w int, src []float32, ld, rows, cols int", avx512: true, emit: copyTile},
	}
}

// sumRows keeps the sums of one tile in registers while it reads the rows, and adds them
// to the accumulator. With more it continues the sums in the accumulator.
func sumRows(e *emitter, name string, more bool) {
	e.begin(name, "acc, x []float32, n int")
	acc, x, rows, cols := e.ptr("acc"), e.ptr("x"), e.num("n"), e.length("acc")
	ld := e.GP64()
	e.MOVQ(cols, ld)
	e.SHLQ(operand.U8(2), ld)
	w4 := 4 * e.width()
	e.tiles(cols, func(vecs int, mask reg.Register) {
		sums := e.startSums(vecs, acc, mask, more)
		p, n, loop := e.GP64(), e.GP64(), e.label("row")
		e.MOVQ(x, p)
		e.MOVQ(rows, n)
		e.Label(loop)
		for v, s := range sums {
			if v < vecs-1 {
				e.VADDPS(at(p, v*w4), s, s)
			} else {
				e.VADDPS(e.loadMasked(at(p, v*w4), mask), s, s)
			}
		}
		e.ADDQ(ld, p)
		e.DECQ(n)
		e.JNE(operand.LabelRef(loop))
		e.endSums(sums, acc, mask, more)
	}, func(bytes int) {
		e.ADDQ(imm(bytes), acc)
		e.ADDQ(imm(bytes), x)
	})
	e.end()
}

// maxRows keeps the maxima of some vectors of columns, and their ranks, in registers while it reads the
// rows. A maximum waits for the one of the row before: several vectors fill that time.
func maxRows(e *emitter) {
	e.begin("maxRows", "acc, arg, x, rank []float32")
	acc, cols, arg, x := e.ptr("acc"), e.length("acc"), e.ptr("arg"), e.ptr("x")
	ranks, rows := e.ptr("rank"), e.length("rank")
	ld, rest := e.GP64(), e.GP64()
	e.MOVQ(cols, ld)
	e.SHLQ(operand.U8(2), ld)
	e.MOVQ(cols, rest)
	e.ANDQ(imm(e.width()-1), rest)
	mask := e.lanes(rest)
	p, r, n := e.GP64(), e.GP64(), e.GP64()
	together := 2
	if e.wide {
		together = 4
	}
	e.tileLoop(cols, rest, mask, []reg.GPVirtual{acc, arg, x}, together, func(vecs int, mask reg.Register) {
		load := func(m operand.Mem) reg.VecVirtual { return loadLanes(e, m, mask) }
		a, g := make([]reg.VecVirtual, vecs), make([]reg.VecVirtual, vecs)
		for v := range vecs {
			a[v], g[v] = load(at(acc, 4*e.width()*v)), load(at(arg, 4*e.width()*v))
		}
		e.MOVQ(x, p)
		e.MOVQ(ranks, r)
		e.MOVQ(rows, n)
		loop := e.label("row")
		e.Label(loop)
		rank := e.vec()
		e.VBROADCASTSS(at(r, 0), rank)
		for v := range vecs {
			y := load(at(p, 4*e.width()*v))
			above := e.both(e.cmp(cmpNotLE, y, a[v]), e.cmp(cmpOrdered, a[v], a[v]))
			equal := e.either(e.cmp(cmpEQ, y, a[v]), e.cmp(cmpNaN, y, y))
			taken := e.either(above, e.both(e.cmp(cmpLT, rank, g[v]), equal))
			e.set(a[v], taken, y)
			e.set(g[v], taken, rank)
		}
		e.ADDQ(ld, p)
		e.ADDQ(imm(4), r)
		e.DECQ(n)
		e.JNE(operand.LabelRef(loop))
		for v := range vecs {
			if mask != nil {
				e.storeMasked(a[v], mask, at(acc, 4*e.width()*v))
				e.storeMasked(g[v], mask, at(arg, 4*e.width()*v))
			} else {
				e.VMOVUPS(a[v], at(acc, 4*e.width()*v))
				e.VMOVUPS(g[v], at(arg, 4*e.width()*v))
			}
		}
	})
	e.end()
}

// eachRow runs body once for each float of s, broadcast, with a mask for the
// columns that are left over by whole vectors.
func (e *emitter) eachRow(cols reg.GPVirtual, body func(a reg.VecVirtual, n, rest reg.GPVirtual, mask reg.Register)) {
	s, rows := e.ptr("s"), e.length("s")
	rest := e.GP64()
	e.MOVQ(cols, rest)
	e.ANDQ(imm(e.width()-1), rest)
	mask := e.lanes(rest)
	loop := e.label("row")
	e.Label(loop)
	a, n := e.vec(), e.GP64()
	e.VBROADCASTSS(at(s, 0), a)
	e.MOVQ(cols, n)
	body(a, n, rest, mask)
	e.ADDQ(imm(4), s)
	e.DECQ(rows)
	e.JNE(operand.LabelRef(loop))
}

func rowScale(e *emitter) {
	e.begin("rowScale", "dst, x, s []float32, cols int")
	dst, x := e.ptr("dst"), e.ptr("x")
	e.eachRow(e.num("cols"), func(a reg.VecVirtual, n, rest reg.GPVirtual, mask reg.Register) {
		e.rowLoop(n, rest, mask, []reg.GPVirtual{dst, x}, 4, func(off int, mask reg.Register) {
			if mask != nil {
				e.storeMasked(e.mul(e.loadMasked(at(x, off), mask), a), mask, at(dst, off))
			} else {
				e.VMOVUPS(e.mul(a, at(x, off)), at(dst, off))
			}
		})
	})
	e.end()
}

func rowFill(e *emitter) {
	e.begin("rowFill", "dst, s []float32, cols int")
	dst := e.ptr("dst")
	e.eachRow(e.num("cols"), func(a reg.VecVirtual, n, rest reg.GPVirtual, mask reg.Register) {
		e.rowLoop(n, rest, mask, []reg.GPVirtual{dst}, 1, func(off int, mask reg.Register) {
			if mask != nil {
				e.storeMasked(a, mask, at(dst, off))
			} else {
				e.VMOVUPS(a, at(dst, off))
			}
		})
	})
	e.end()
}

// unpackHalf converts bfloat16 numbers, two in each word, to floats. The
// length of dst is a multiple of 8.
func unpackHalf(e *emitter) {
	e.begin("unpackHalf", "dst, x []float32")
	dst, n, x := e.ptr("dst"), e.length("dst"), e.ptr("x")
	loop, done := e.label("vector"), e.label("done")
	e.Label(loop)
	e.SUBQ(imm(8), n)
	e.JL(operand.LabelRef(done))
	v := e.YMM()
	e.VPMOVZXWD(at(x, 0), v)
	e.VPSLLD(operand.U8(16), v, v)
	e.VMOVDQU(v, at(dst, 0))
	e.ADDQ(imm(16), x)
	e.ADDQ(imm(32), dst)
	e.JMP(operand.LabelRef(loop))
	e.Label(done)
	e.end()
}

// rowSum adds up vectors of a row, then the lanes: halves, pairs, one.
func rowSum(e *emitter) {
	e.begin("rowSum", "dst, x []float32, cols int")
	dst, rows, x, cols := e.ptr("dst"), e.length("dst"), e.ptr("x"), e.num("cols")
	rest := e.GP64()
	e.MOVQ(cols, rest)
	e.ANDQ(imm(e.width()-1), rest)
	mask := e.lanes(rest)
	loop, n := e.label("row"), e.GP64()
	e.Label(loop)
	e.MOVQ(cols, n)
	sum := e.YMM()
	e.VXORPS(sum, sum, sum)
	e.rowLoop(n, rest, mask, []reg.GPVirtual{x}, 1, func(off int, mask reg.Register) {
		if mask != nil {
			e.VADDPS(e.loadMasked(at(x, off), mask), sum, sum)
		} else {
			e.VADDPS(at(x, off), sum, sum)
		}
	})
	low, t := sum.AsX(), e.XMM()
	e.VEXTRACTF128(operand.U8(1), sum, t)
	e.VADDPS(t, low, low)
	e.VMOVHLPS(low, low, t)
	e.VADDPS(t, low, low)
	e.VMOVSHDUP(low, t)
	e.VADDSS(t, low, low)
	e.VMOVSS(low, at(dst, 0))
	e.ADDQ(imm(4), dst)
	e.DECQ(rows)
	e.JNE(operand.LabelRef(loop))
	e.end()
}

// copyTile moves rows of at most two vectors; loads zero the lanes beyond cols
// and stores stop at w.
func copyTile(e *emitter) {
	e.begin("copyTile", "dst []float32, w int, src []float32, ld, rows, cols int")
	dst, w, src, ld := e.ptr("dst"), e.num("w"), e.ptr("src"), e.num("ld")
	rows, cols := e.num("rows"), e.num("cols")
	masks := func(n reg.GPVirtual) (lo, hi reg.Register) {
		most, zero, t := e.GP64(), e.GP64(), e.GP64()
		e.MOVQ(imm(e.width()), most)
		e.XORQ(zero, zero)
		e.MOVQ(n, t)
		e.CMPQ(t, most)
		e.CMOVQGT(most, t)
		lo = e.lanes(t)
		e.SUBQ(most, n)
		e.CMOVQLT(zero, n)
		hi = e.lanes(n)
		return lo, hi
	}
	step := e.GP64()
	e.LEAQ(operand.Mem{Base: w, Index: w, Scale: 1}, step)
	e.ADDQ(step, step)
	e.SHLQ(operand.U8(2), ld)
	l0, l1 := masks(cols)
	s0, s1 := masks(w) // leaves in w what is beyond the first vector
	second := 4 * e.width()
	wide, narrow, done := e.label("wide"), e.label("narrow"), e.label("done")
	e.TESTQ(rows, rows)
	e.JLE(operand.LabelRef(done))
	e.TESTQ(w, w)
	e.JE(operand.LabelRef(narrow))
	for _, two := range []bool{true, false} {
		loop := narrow
		if two {
			loop = wide
		}
		e.Label(loop)
		e.storeMasked(e.loadMasked(at(src, 0), l0), s0, at(dst, 0))
		if two {
			e.storeMasked(e.loadMasked(at(src, second), l1), s1, at(dst, second))
		}
		e.ADDQ(ld, src)
		e.ADDQ(step, dst)
		e.DECQ(rows)
		e.JNE(operand.LabelRef(loop))
		if two {
			e.JMP(operand.LabelRef(done))
		}
	}
	e.Label(done)
	e.end()
}
