package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	tileVecs = 8 // vectors of a column tile: as many sums in flight
	ahead    = 8 // edges between a prefetch and its use
)

// gatherKernels returns the kernels that read rows by index.
func gatherKernels() []kernel {
	const sum = "acc, src []float32, ld int, idx []uint32"
	return []kernel{
		{name: "gatherSum", params: sum, avx512: true,
			emit: func(e *emitter) { gatherSum(e, "gatherSum", sum, false, false) }},
		{name: "gatherWSum", params: sum + ", w []float32", avx512: true,
			emit: func(e *emitter) { gatherSum(e, "gatherWSum", sum+", w []float32", true, false) }},
		{name: "gatherWMore", params: sum + ", w []float32", avx512: true,
			emit: func(e *emitter) { gatherSum(e, "gatherWMore", sum+", w []float32", true, true) }},
		{name: "gatherSums", params: gatherSumsParams, avx512: true, emit: gatherSums},
		{name: "gatherRows", params: "dst, src []float32, ld int, idx []uint32, cols int", avx512: true,
			emit: gatherRows},
		{name: "matchRows", params: "found []uint64, words int, src []float32, ld int, idx []uint32, want []float32, cols int", avx512: true, emit: matchRows},
		{name: "gatherFour", params: fourParams, avx512: true, emit: gatherFour},
	}
}

// tiles walks over cols columns in tiles of at most tileVecs vectors, the last
// vector of a tile masked. body sees each tile with its number of vectors fixed
// and must leave its own pointers alone; advance moves them by a whole tile.
func (e *emitter) tiles(cols reg.GPVirtual, body func(vecs int, mask reg.Register), advance func(bytes int)) {
	w := e.width()
	next, part, done := e.label("tile"), e.label("part"), e.label("tiled")
	rest, n := e.GP64(), e.GP64()
	variant := make([]string, tileVecs+1)
	for v := range variant {
		variant[v] = e.label("vecs")
	}

	e.Label(next)
	e.CMPQ(cols, imm(tileVecs*w))
	e.JL(operand.LabelRef(part))
	e.MOVQ(imm(w), rest)
	mask := e.lanes(rest)
	e.JMP(operand.LabelRef(variant[tileVecs]))

	e.Label(part)
	e.TESTQ(cols, cols)
	e.JLE(operand.LabelRef(done))
	// n vectors, the last with rest = 1..w lanes.
	e.LEAQ(at(cols, w-1), n)
	e.MOVQ(n, rest)
	e.ANDQ(imm(w-1), rest)
	e.INCQ(rest)
	if e.wide {
		e.SHRQ(operand.U8(4), n)
	} else {
		e.SHRQ(operand.U8(3), n)
	}
	e.setLanes(rest, mask)
	for v := 1; v < tileVecs; v++ {
		e.CMPQ(n, imm(v))
		e.JE(operand.LabelRef(variant[v]))
	}
	for v := tileVecs; v >= 1; v-- {
		e.Label(variant[v])
		body(v, mask)
		if v < tileVecs {
			e.JMP(operand.LabelRef(done))
			continue
		}
		advance(4 * tileVecs * w)
		e.SUBQ(imm(tileVecs*w), cols)
		e.JMP(operand.LabelRef(next))
	}
	e.Label(done)
}

// startSums returns n vectors of sums. They are zero or, with more, loaded from acc. The last vector is
// masked.
func (e *emitter) startSums(n int, acc reg.GPVirtual, mask reg.Register, more bool) []reg.VecVirtual {
	sums := make([]reg.VecVirtual, n)
	for v := range sums {
		from := at(acc, 4*e.width()*v)
		switch {
		case !more:
			sums[v] = e.vec()
			e.VXORPS(sums[v], sums[v], sums[v])
		case v < n-1:
			sums[v] = e.copyOf(from)
		default:
			sums[v] = e.loadMasked(from, mask)
		}
	}
	return sums
}

// endSums adds the sums of a tile to the accumulator at acc. With more it stores them there, as they began
// with it. The last vector is masked.
func (e *emitter) endSums(sums []reg.VecVirtual, acc reg.GPVirtual, mask reg.Register, more bool) {
	for v, s := range sums {
		to := at(acc, 4*e.width()*v)
		last := v == len(sums)-1
		if !more {
			var x operand.Op = to
			if last {
				x = e.loadMasked(to, mask)
			}
			e.VADDPS(x, s, s)
		}
		if last {
			e.storeMasked(s, mask, to)
		} else {
			e.VMOVUPS(s, to)
		}
	}
}

// gatherSum keeps the sums of one tile in registers while it reads the rows, prefetches
// the tile of the row that is ahead edges later, and adds the sums to the accumulator. With more
// it continues the sums in the accumulator.
func gatherSum(e *emitter, name, params string, weighted, more bool) {
	e.begin(name, params)
	acc, src, ld, idx := e.ptr("acc"), e.ptr("src"), e.num("ld"), e.ptr("idx")
	end := e.length("idx")
	cols := e.length("acc")
	fetchEnd := e.GP64() // where the index ahead edges later is the last readable one
	e.Load(e.Param("idx").Cap(), fetchEnd)
	e.LEAQ(operand.Mem{Base: idx, Index: fetchEnd, Scale: 4, Disp: -4 * ahead}, fetchEnd)
	e.LEAQ(operand.Mem{Base: idx, Index: end, Scale: 4}, end)
	e.CMPQ(end, fetchEnd)
	e.CMOVQLT(end, fetchEnd)
	e.SHLQ(operand.U8(2), ld)
	var weights reg.GPVirtual
	if weighted {
		weights = e.ptr("w")
	}
	w4 := 4 * e.width()
	tile := func(vecs int, mask reg.Register) {
		sums := e.startSums(vecs, acc, mask, more)
		p, row := e.GP64(), e.GP64()
		e.MOVQ(idx, p)
		var pw reg.GPVirtual
		if weighted {
			pw = e.GP64()
			e.MOVQ(weights, pw)
		}
		for _, fetch := range []bool{true, false} {
			loop, over := e.label("edge"), e.label("over")
			stop := end
			if fetch {
				stop = fetchEnd
			}
			e.CMPQ(p, stop)
			e.JGE(operand.LabelRef(over))
			e.Label(loop)
			if fetch {
				e.MOVL(at(p, 4*ahead), row.As32())
				e.IMULQ(ld, row)
				for off := 0; off < vecs*w4; off += 64 {
					e.PREFETCHT0(operand.Mem{Base: src, Index: row, Scale: 1, Disp: off})
				}
			}
			e.MOVL(at(p, 0), row.As32())
			e.IMULQ(ld, row)
			var a reg.VecVirtual
			if weighted {
				a = e.vec()
				e.VBROADCASTSS(at(pw, 0), a)
				e.ADDQ(imm(4), pw)
			}
			for v, s := range sums {
				var x operand.Op = operand.Mem{Base: src, Index: row, Scale: 1, Disp: v * w4}
				if v == vecs-1 {
					x = e.loadMasked(x.(operand.Mem), mask)
				}
				if weighted { // round the product before it is added: a product in memory is rounded, too
					y := e.vec()
					e.VMULPS(x, a, y)
					x = y
				}
				e.VADDPS(x, s, s)
			}
			e.ADDQ(imm(4), p)
			e.CMPQ(p, stop)
			e.JL(operand.LabelRef(loop))
			e.Label(over)
		}
		e.endSums(sums, acc, mask, more)
	}
	e.tiles(cols, tile, func(bytes int) {
		e.ADDQ(imm(bytes), acc)
		e.ADDQ(imm(bytes), src)
	})
	e.end()
}

// gatherRows copies rows and prefetches the start of the row ahead rows later;
// the hardware follows from there.
func gatherRows(e *emitter) {
	e.begin("gatherRows", "dst, src []float32, ld int, idx []uint32, cols int")
	dst, src, ld, idx := e.ptr("dst"), e.ptr("src"), e.num("ld"), e.ptr("idx")
	end, cols := e.length("idx"), e.num("cols")
	fetchEnd := e.GP64()
	e.Load(e.Param("idx").Cap(), fetchEnd)
	e.LEAQ(operand.Mem{Base: idx, Index: fetchEnd, Scale: 4, Disp: -4 * ahead}, fetchEnd)
	e.LEAQ(operand.Mem{Base: idx, Index: end, Scale: 4}, end)
	e.SHLQ(operand.U8(2), ld)
	w := e.width()
	rest := e.GP64()
	e.MOVQ(cols, rest)
	e.ANDQ(imm(w-1), rest)
	mask := e.lanes(rest)
	span := e.GP64() // bytes of a row to prefetch
	most := e.GP64()
	e.LEAQ(operand.Mem{Base: cols, Index: cols, Scale: 1}, span)
	e.ADDQ(span, span)
	e.MOVQ(imm(512), most)
	e.CMPQ(span, most)
	e.CMOVQGT(most, span)

	row, n, off := e.GP64(), e.GP64(), e.GP64()
	loop, copying, fetch := e.label("row"), e.label("copy"), e.label("fetch")
	e.Label(loop)
	e.CMPQ(idx, fetchEnd)
	e.JGE(operand.LabelRef(copying))
	e.MOVL(at(idx, 4*ahead), row.As32())
	e.IMULQ(ld, row)
	e.ADDQ(src, row)
	e.XORQ(off, off)
	e.Label(fetch)
	e.PREFETCHT0(operand.Mem{Base: row, Index: off, Scale: 1})
	e.ADDQ(imm(64), off)
	e.CMPQ(off, span)
	e.JL(operand.LabelRef(fetch))
	e.Label(copying)
	e.MOVL(at(idx, 0), row.As32())
	e.IMULQ(ld, row)
	e.ADDQ(src, row)
	e.MOVQ(cols, n)
	e.rowLoop(n, rest, mask, []reg.GPVirtual{row, dst}, 4, func(off int, mask reg.Register) {
		if mask != nil {
			e.storeMasked(e.loadMasked(at(row, off), mask), mask, at(dst, off))
		} else {
			e.VMOVUPS(e.copyOf(at(row, off)), at(dst, off))
		}
	})
	e.ADDQ(imm(4), idx)
	e.CMPQ(idx, end)
	e.JL(operand.LabelRef(loop))
	e.end()
}

// rowLoop runs body over n columns: unroll vectors at a time, then one at a
// time, then the rest masked. It advances the pointers to the end of the row
// and destroys n; rest is n modulo the width and mask its lanes.
func (e *emitter) rowLoop(n, rest reg.GPVirtual, mask reg.Register, ptrs []reg.GPVirtual, unroll int,
	body func(off int, mask reg.Register)) {
	e.tileLoop(n, rest, mask, ptrs, unroll, func(vecs int, mask reg.Register) {
		for i := range vecs {
			body(4*e.width()*i, mask)
		}
	})
}

// tileLoop is rowLoop with a body that does several vectors together: unroll of them, or one.
func (e *emitter) tileLoop(n, rest reg.GPVirtual, mask reg.Register, ptrs []reg.GPVirtual, unroll int,
	body func(vecs int, mask reg.Register)) {
	w := e.width()
	over := e.label("cols")
	for _, u := range []int{unroll, 1} {
		loop, next := e.label("cols"), e.label("cols")
		e.Label(loop)
		e.CMPQ(n, imm(u*w))
		e.JL(operand.LabelRef(next))
		body(u, nil)
		for _, p := range ptrs {
			e.ADDQ(imm(4*w*u), p)
		}
		e.SUBQ(imm(u*w), n)
		e.JMP(operand.LabelRef(loop))
		e.Label(next)
		if unroll == 1 {
			break
		}
	}
	e.TESTQ(n, n)
	e.JE(operand.LabelRef(over))
	body(1, mask)
	for _, p := range ptrs {
		e.LEAQ(operand.Mem{Base: p, Index: rest, Scale: 4}, p)
	}
	e.Label(over)
}
