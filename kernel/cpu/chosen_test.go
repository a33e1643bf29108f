package cpu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
	"sagann/internal/simd"
	"sagann/kernel"
)

// TestChosen: sums of the gradients of maxima have the bits of the same sums by strips, alone and beside other results, with long and short rows, several
// cells, ranks that no edge has, and numbers that are none.
func TestChosen(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), 3))
		s := sizes{own: rapid.IntRange(1, 60).Draw(t, "rows"), other: rapid.IntRange(1, 30).Draw(t, "other rows"),
			edges: rapid.SampledFrom([]int{0, 3, 300, 1500}).Draw(t, "edges"), cells: rapid.IntRange(1, 2).Draw(t, "cells"), hub: rapid.Bool().Draw(t, "hub")}
		b := &builder{t: t, r: r, s: s, p: &kernel.Program{Name: "test", Edges: true}}
		cols := rapid.SampledFrom([]int{1, 32, 47, 64, 130}).Draw(t, "columns")
		leaf := func(f kernel.Leaf, number func() float32) int {
			f.LD, f.Reg = f.Cols, b.newReg(f.Cols, 1, 1).id
			if f.From == kernel.Other {
				f.LD += r.IntN(3)
				f.Operand = b.buffer(s.other, f.Cols, f.LD, true)
				for i := range b.bufs[f.Operand] {
					b.bufs[f.Operand][i] = number()
				}
			}
			b.p.Leaves = append(b.p.Leaves, f)
			return f.Reg
		}
		made := func(role kernel.Role, fn func(a *kernel.Args), in ...int) int {
			out := b.newReg(cols, 1, 1).id
			b.p.Instrs = append(b.p.Instrs, kernel.Instr{Op: "made", Role: role, Fn: fn, In: in, Dst: out})
			return out
		}
		row := func() int {
			return leaf(kernel.Leaf{From: kernel.Other, Cols: cols}, func() float32 {
				if r.IntN(40) == 0 {
					return []float32{nan, float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1))}[r.IntN(5)]
				}
				return r.Float32() - 0.5
			})
		}
		rank := made(kernel.Widen, func(a *kernel.Args) { simd.Widen(a.Out, a.In[0], a.Rows, 1, cols) }, leaf(kernel.Leaf{From: kernel.Cell, Array: kernel.Rank, Cols: 1}, nil))
		rows := []int{row()}
		sums := rapid.IntRange(1, 3).Draw(t, "sums")
		for range sums {
			if rapid.Bool().Draw(t, "other rows, too") {
				rows = append(rows, row())
			}
			arg := leaf(kernel.Leaf{From: kernel.Other, Cols: cols}, func() float32 { return []float32{float32(r.IntN(8)), float32(math.Inf(1))}[r.IntN(9)/8] })
			in := rapid.Permutation([]int{arg, rank}).Draw(t, "operands")
			eq := made(kernel.Eq, func(a *kernel.Args) { simd.Eq(a.Out, a.In[0], a.In[1]) }, in...)
			mask := made(kernel.Mask, func(a *kernel.Args) { simd.Mask(a.Out, a.In[0], a.In[1]) }, rows[len(rows)-1], eq)
			b.p.Outs = append(b.p.Outs, kernel.Out{Acc: kernel.Sum, Reg: mask, Aux: -1, LD: cols, Operand: b.buffer(s.own, cols, cols, false)})
		}
		for range rapid.IntRange(0, 2).Draw(t, "other results") {
			b.p.Outs = append(b.p.Outs, kernel.Out{Acc: kernel.Sum, Reg: rapid.SampledFrom(append(rows, rank)).Draw(t, "of"), Aux: -1, LD: cols, Operand: b.buffer(s.own, cols, cols, false)})
		}
		cells := makeCells(r, s)
		strips := *b.p
		strips.Instrs = slices.Clone(b.p.Instrs)
		for i := range strips.Instrs {
			strips.Instrs[i].Role = kernel.Func
		}
		got, want := runAll(t, b, b.p, cells), runAll(t, b, &strips, cells)
		for _, o := range b.p.Outs {
			for i, x := range want[o.Operand] {
				if y := got[o.Operand][i]; math.Float32bits(x) != math.Float32bits(y) && (x == x || y == y) {
					t.Fatalf("buffer %d, number %d: %v, by strips %v", o.Operand, i, y, x)
				}
			}
		}
	})
}
