package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const panelParams = "m int, a *float32, row, col, step int, b *float32, kc int, c *float32, ldc, cols int, accumulate bool"

// gemmKernels returns a kernel for whole panels and one for half ones. A whole
// panel is two vectors wide.
func gemmKernels() []kernel {
	var out []kernel
	for _, g := range []panel{
		{name: "gemmPanel", vecs: 2},
		{name: "gemmHalf", vecs: 1},
	} {
		out = append(out, kernel{name: g.name, params: panelParams, avx512: true, manual: true, emit: g.emit})
	}
	return out
}

// panel is a kernel that multiplies rows of A by a panel of B: tiles of C, some
// rows by vecs vectors, are kept in registers over the whole depth of the panel.
type panel struct {
	name string
	vecs int
}

// rowBlocks are the heights of the tiles: the first is used while it fits, the
// others once at most. Each element of C is the same chain of multiply-adds in
// all of them.
func (e *emitter) rowBlocks() []int {
	if e.wide {
		return []int{12, 8, 4, 2, 1}
	}
	return []int{6, 4, 2, 1}
}

func (g panel) emit(e *emitter) {
	e.begin(g.name, panelParams)
	m, a, row, col, step := e.num("m"), e.num("a"), e.num("row"), e.num("col"), e.num("step")
	b, bEnd, c, ldc := e.num("b"), e.num("kc"), e.num("c"), e.num("ldc")
	w4 := 4 * e.width()
	blocks := e.rowBlocks()
	e.SHLQ(operand.U8(2), row)
	e.SHLQ(operand.U8(2), col)
	e.SHLQ(operand.U8(2), ldc)
	e.IMUL3Q(imm(4*blocks[0]), step, step)
	e.IMUL3Q(imm(g.vecs*w4), bEnd, bEnd)
	e.ADDQ(b, bEnd)
	mask := e.panelMask(g.vecs)
	for i, mr := range blocks {
		loop, next := e.label("rows"), e.label("rows")
		e.Label(loop)
		e.CMPQ(m, imm(mr))
		e.JL(operand.LabelRef(next))
		g.tile(e, mr, a, row, col, b, bEnd, c, ldc, mask)
		if i == 0 {
			e.ADDQ(step, a)
		} else {
			for range mr {
				e.ADDQ(row, a)
			}
		}
		e.SUBQ(imm(mr), m)
		if i == 0 {
			e.JMP(operand.LabelRef(loop))
		}
		e.Label(next)
	}
	e.end()
}

// panelMask prepares the mask of the columns of C that the last vector holds:
// for AVX-512 the mask, for AVX2, which has no register to spare in the loop,
// the address to load it from.
func (e *emitter) panelMask(vecs int) reg.Register {
	n := e.num("cols")
	if vecs == 2 {
		e.SUBQ(imm(e.width()), n)
	}
	if e.wide {
		return e.lanes(n)
	}
	table := e.laneTable()
	e.NEGQ(n)
	e.LEAQ(operand.Mem{Base: table, Index: n, Scale: 4, Disp: 32}, n)
	return n
}

// tile computes mr rows of C and leaves c at the row behind them.
func (g panel) tile(e *emitter, mr int, a, row, col, b, bEnd, c, ldc reg.GPVirtual, mask reg.Register) {
	w4 := 4 * e.width()
	e.Comment(fmt.Sprintf("Tile of %d rows.", mr))
	sums := make([][]reg.VecVirtual, mr)
	for r := range sums {
		for range g.vecs {
			v := e.vec()
			e.VXORPS(v, v, v)
			sums[r] = append(sums[r], v)
		}
	}
	// Row r lies at ptr[r/4] + r%4*row.
	var ptr []reg.GPVirtual
	for r := 0; r < mr; r += 4 {
		p := e.GP64()
		if r == 0 {
			e.MOVQ(a, p)
		} else {
			e.LEAQ(operand.Mem{Base: ptr[len(ptr)-1], Index: row, Scale: 4}, p)
		}
		ptr = append(ptr, p)
	}
	var row3 reg.GPVirtual
	if mr >= 4 {
		row3 = e.GP64()
		e.LEAQ(operand.Mem{Base: row, Index: row, Scale: 2}, row3)
	}
	pb := e.GP64()
	e.MOVQ(b, pb)
	loop := e.label("depth")
	e.Label(loop)
	right := make([]reg.VecVirtual, g.vecs)
	for v := range right {
		right[v] = e.copyOf(at(pb, v*w4))
	}
	for r := range mr {
		x := operand.Mem{Base: ptr[r/4]}
		switch r % 4 {
		case 1:
			x.Index, x.Scale = row, 1
		case 2:
			x.Index, x.Scale = row, 2
		case 3:
			x.Index, x.Scale = row3, 1
		}
		if e.wide && g.vecs == 1 {
			e.VFMADD231PS_BCST(x, right[0], sums[r][0])
			continue
		}
		left := e.vec()
		e.VBROADCASTSS(x, left)
		for v := range right {
			e.fma(sums[r][v], right[v], left)
		}
	}
	for _, p := range ptr {
		e.ADDQ(col, p)
	}
	e.ADDQ(imm(g.vecs*w4), pb)
	e.CMPQ(pb, bEnd)
	e.JL(operand.LabelRef(loop))
	g.store(e, sums, c, ldc, mask)
}

// store adds the sums to C when accumulate is set, and writes them to C.
func (g panel) store(e *emitter, sums [][]reg.VecVirtual, c, ldc reg.GPVirtual, mask reg.Register) {
	w4 := 4 * e.width()
	last := g.vecs - 1
	if !e.wide {
		address := mask.(reg.GPVirtual)
		m := e.YMM()
		e.VMOVUPS(at(address, 0), m)
		mask = m
	}
	write := e.label("write")
	e.CMPB(e.paramMem("accumulate"), operand.U8(0))
	e.JE(operand.LabelRef(write))
	p := e.GP64()
	e.MOVQ(c, p)
	for _, s := range sums {
		for v := range last {
			e.VADDPS(at(p, v*w4), s[v], s[v])
		}
		e.VADDPS(e.loadMasked(at(p, last*w4), mask), s[last], s[last])
		e.ADDQ(ldc, p)
	}
	e.Label(write)
	for _, s := range sums {
		for v := range last {
			e.VMOVUPS(s[v], at(c, v*w4))
		}
		e.storeMasked(s[last], mask, at(c, last*w4))
		e.ADDQ(ldc, c)
	}
}
