package cpu_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
	"sagann/internal/simd"
	"sagann/kernel"
)

// TestPaired: products of the sums of a row's edges of one type, and of these and the row, have the bits that they have if rows come from strips: with
// numbers of edges, of a row and a type, or none, with long and short rows, several cells, and types beyond the last.
func TestPaired(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), 3))
		s := sizes{own: rapid.IntRange(1, 60).Draw(t, "rows"), other: rapid.IntRange(1, 30).Draw(t, "other rows"),
			edges: rapid.SampledFrom([]int{0, 3, 300, 1500, 6000}).Draw(t, "edges"), cells: rapid.IntRange(1, 2).Draw(t, "cells"), hub: rapid.Bool().Draw(t, "hub")}
		b := &builder{t: t, r: r, s: s, p: &kernel.Program{Name: "test", Edges: true}}
		cols, side, blocks := rapid.SampledFrom([]int{1, 7, 32}).Draw(t, "columns"), rapid.SampledFrom([]int{1, 5, 16}).Draw(t, "other columns"), rapid.IntRange(1, types+1).Draw(t, "types")
		leaf := func(f kernel.Leaf, rows int) int {
			f.Reg = b.newReg(f.Cols, 1, 1).id
			if f.From != kernel.Cell {
				f.LD = f.Cols*max(1, f.Blocks) + r.IntN(3)
				f.Operand = b.buffer(rows, f.Cols*max(1, f.Blocks), f.LD, true)
			}
			b.p.Leaves = append(b.p.Leaves, f)
			return f.Reg
		}
		made := func(role kernel.Role, fn func(a *kernel.Args), in ...int) int {
			out := b.newReg(cols, 1, 1).id
			b.p.Instrs = append(b.p.Instrs, kernel.Instr{Op: "made", Role: role, Fn: fn, In: in, Dst: out})
			return out
		}
		row := leaf(kernel.Leaf{From: kernel.Other, Cols: cols}, s.other)
		number := -1
		switch rapid.SampledFrom([]string{"none", "edge", "own", "other"}).Draw(t, "numbers") {
		case "edge":
			number = leaf(kernel.Leaf{From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1}, 0)
		case "own":
			number = leaf(kernel.Leaf{From: kernel.Own, Cols: 1, Key: kernel.ByType, Blocks: blocks}, s.own)
		case "other":
			number = leaf(kernel.Leaf{From: kernel.Other, Cols: 1, Key: kernel.ByType, Blocks: blocks}, s.other)
		}
		if number >= 0 {
			wide := made(kernel.Widen, func(a *kernel.Args) { simd.Widen(a.Out, a.In[0], a.Rows, 1, cols) }, number)
			row = made(kernel.Mul, func(a *kernel.Args) { simd.Mul(a.Out, a.In[0], a.In[1]) }, rapid.Permutation([]int{row, wide}).Draw(t, "operands")...)
		}
		o := kernel.Out{Acc: rapid.SampledFrom([]kernel.Acc{kernel.SumByType, kernel.SumTNByType}).Draw(t, "result"), Reg: row, Aux: -1, Key: kernel.ByType, Blocks: blocks}
		if o.Acc == kernel.SumByType {
			o.Trans = rapid.Bool().Draw(t, "transposed")
			m := kernel.Leaf{From: kernel.Global, Rows: blocks * cols, Cols: side, LD: side}
			if o.Trans {
				m.Rows, m.Cols, m.LD = blocks*side, cols, cols
			}
			m.Operand, m.Reg = b.buffer(m.Rows, m.Cols, m.LD, true), b.newReg(m.Cols, 1, 1).id
			b.p.Leaves, o.Reg2 = append(b.p.Leaves, m), m.Reg
			o.LD, o.Operand = side, b.buffer(s.own, side, side, false)
		} else {
			o.Reg2, o.Trans, o.LD = leaf(kernel.Leaf{From: kernel.Own, Cols: side}, s.own), rapid.Bool().Draw(t, "transposed"), side
			if o.Trans {
				o.LD = cols
			}
			o.Operand = b.buffer(blocks*cols*side/o.LD, o.LD, o.LD, true)
		}
		b.p.Outs = append(b.p.Outs, o)
		if rapid.Bool().Draw(t, "and another product") { // of the same sums
			q := kernel.Out{Acc: kernel.SumTNByType, Reg: row, Aux: -1, Key: kernel.ByType, Blocks: blocks, LD: 3}
			q.Reg2, q.Operand = leaf(kernel.Leaf{From: kernel.Own, Cols: 3}, s.own), b.buffer(blocks*cols, 3, 3, true)
			b.p.Outs = append(b.p.Outs, q)
		}
		cells := makeCells(r, s)
		strips := *b.p // rows are copied, so that they are no leaves
		strips.Instrs, strips.Outs, strips.Widths = slices.Clone(b.p.Instrs), slices.Clone(b.p.Outs), slices.Clone(b.p.Widths)
		copied := func(reg int) int {
			strips.Widths = append(strips.Widths, strips.Widths[reg])
			to := len(strips.Widths) - 1
			strips.Instrs = append(strips.Instrs, kernel.Instr{Op: "copy", Fn: func(a *kernel.Args) { copy(a.Out, a.In[0]) }, In: []int{reg}, Dst: to})
			return to
		}
		for i := range strips.Outs {
			if o := &strips.Outs[i]; o.Acc == kernel.SumTNByType {
				o.Reg2 = copied(o.Reg2)
			}
			strips.Outs[i].Reg = copied(strips.Outs[i].Reg)
		}
		got, want := runAll(t, b, b.p, cells), runAll(t, b, &strips, cells)
		for k, o := range b.p.Outs {
			for i, x := range want[o.Operand] {
				if y := got[o.Operand][i]; x != y && (x == x || y == y) {
					t.Fatalf("result %d, number %d: %v, from strips %v", k, i, y, x)
				}
			}
		}
	})
}
