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

// TestFour: a sum, a sum of squares, a maximum and a minimum of the same rows, or some of them, have the bits that each has alone, in any order of the results, with long and
// short rows, several cells, ranks that ascend or not, and numbers that are none.
func TestFour(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), 3))
		s := sizes{own: rapid.IntRange(1, 60).Draw(t, "rows"), other: rapid.IntRange(1, 30).Draw(t, "other rows"),
			edges: rapid.SampledFrom([]int{0, 3, 300, 1500}).Draw(t, "edges"), cells: rapid.IntRange(1, 2).Draw(t, "cells"), hub: rapid.Bool().Draw(t, "hub")}
		b := &builder{t: t, r: r, s: s, p: &kernel.Program{Name: "test", Edges: true}}
		cols := rapid.SampledFrom([]int{1, 7, 16, 70, 128}).Draw(t, "columns")
		special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), nan}[:rapid.SampledFrom([]int{2, 3, 5}).Draw(t, "special numbers")]
		x := kernel.Leaf{From: kernel.Other, Cols: cols, LD: cols, Operand: b.buffer(s.other, cols, cols, true)}
		x.Reg = b.newReg(cols, 1, 1).id
		b.p.Leaves = append(b.p.Leaves, x)
		for i := range s.other * cols {
			y := &b.bufs[x.Operand][i]
			if *y *= 0.7 + 0.6*r.Float32(); r.IntN(40) == 0 {
				*y = special[r.IntN(len(special))]
			}
		}
		made := func(role kernel.Role, fn func(dst, x []float32)) int {
			out := b.newReg(cols, 1, 1).id
			b.p.Instrs = append(b.p.Instrs, kernel.Instr{Op: "made", Role: role, Fn: func(a *kernel.Args) { fn(a.Out, a.In[0]) }, In: []int{x.Reg}, Dst: out})
			return out
		}
		square, neg := made(kernel.Square, simd.Square), made(kernel.Neg, simd.Neg)
		outs := []kernel.Out{{Acc: kernel.Sum, Reg: x.Reg}, {Acc: kernel.Sum, Reg: square}, {Acc: kernel.Max, Reg: x.Reg}, {Acc: kernel.Max, Reg: neg}}
		for _, o := range rapid.Permutation(outs).Draw(t, "results")[:rapid.IntRange(2, 4).Draw(t, "how many")] {
			if o.LD, o.Aux, o.Operand = cols, -1, b.buffer(s.own, cols, cols, false); o.Acc == kernel.Max {
				o.Aux, o.AuxLD = b.buffer(s.own, cols, cols, false), cols
			}
			b.p.Outs = append(b.p.Outs, o)
		}
		cells := makeCells(r, s)
		if rapid.Bool().Draw(t, "ascending") {
			for _, c := range cells {
				for i, hi := range c.Ptr[1:] {
					slices.Sort(c.Rank[c.Ptr[i]:hi])
				}
			}
			b.p.Ascend = rapid.Bool().Draw(t, "and the program says so")
		}
		together := runAll(t, b, b.p, cells)
		for k, o := range b.p.Outs {
			alone := runAll(t, b, only(b.p, k), cells)
			for _, buf := range []int{o.Operand, o.Aux} {
				for i := 0; buf >= 0 && i < len(alone[buf]); i++ {
					if x, y := alone[buf][i], together[buf][i]; math.Float32bits(x) != math.Float32bits(y) && (x == x || y == y) {
						t.Fatalf("result %d, buffer %d, number %d: %v alone, %v together with others", k, buf, i, x, y)
					}
				}
			}
		}
	})
}
