package cpu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// A result has the same bits whatever else its program computes: which results share a
// kernel depends on the plan. The numbers have all their bits here, so a sum in another
// order, or a product that is not rounded before it is added, shows.
func TestResultsAlone(t *testing.T) {
	for _, edges := range []bool{false, true} {
		name := map[bool]string{false: "rows", true: "edges"}[edges]
		t.Run(name, draw.Each(func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), 2))
			s := sizes{own: rapid.IntRange(1, 300).Draw(t, "rows"), other: rapid.IntRange(1, 30).Draw(t, "other rows"),
				edges: rapid.SampledFrom([]int{0, 3, 40, 300, 1500}).Draw(t, "edges"),
				cells: rapid.IntRange(1, 3).Draw(t, "cells"), hub: rapid.Bool().Draw(t, "hub")}
			b := drawKernel(t, r, s, edges)
			cells, numbers := makeCells(r, s), slices.Clone(b.bufs)
			b.byKey()
			for _, c := range cells {
				numbers = append(numbers, c.Weight, c.Data)
			}
			for _, x := range numbers {
				for i := range x {
					x[i] *= 0.7 + 0.6*r.Float32()
				}
			}
			if !edges {
				cells = cells[:1]
			}
			t.Log(b)
			together := runAll(t, b, b.p, cells)
			for k, o := range b.p.Outs {
				alone := runAll(t, b, only(b.p, k), cells)
				for i, x := range alone[o.Operand] {
					if y := together[o.Operand][i]; math.Float32bits(x) != math.Float32bits(y) && (x == x || y == y) {
						t.Fatalf("result %d, number %d: %v alone, %v together with others", k, i, x, y)
					}
				}
			}
		}))
	}
}

// byKey adds a sum, or a maximum, by a key of the own row: of few keys or of so many that
// not all blocks of rows have a partial sum of their own.
func (b *builder) byKey() {
	if b.int("by key", 0, 2) > 0 {
		return
	}
	x := b.pick()
	key := kernel.Leaf{From: kernel.Own, Cols: 1, LD: 1, Operand: b.buffer(b.s.own, 1, 1, false)}
	key.Reg = b.newReg(1, 1, 1).id
	b.p.Leaves = append(b.p.Leaves, key)
	o := kernel.Out{Acc: rapid.SampledFrom([]kernel.Acc{kernel.SumBy, kernel.MaxBy}).Draw(b.t, "by"),
		Reg: x.id, Reg2: key.Reg, LD: x.cols, Aux: -1, Blocks: rapid.SampledFrom([]int{2, 300}).Draw(b.t, "keys")}
	if b.int("many keys", 0, 9) == 0 {
		o.Blocks = (1 << 23) / x.cols / b.int("of a partial sum", 1, 12)
	}
	for i := range b.s.own {
		b.bufs[key.Operand][i] = float32(b.r.IntN(min(o.Blocks, 5)))
	}
	o.Operand = b.buffer(o.Blocks, x.cols, x.cols, true)
	b.p.Outs = append(b.p.Outs, o)
}

func runAll(t *rapid.T, b *builder, p *kernel.Program, cells []chunk.View) [][]float32 {
	c, err := cpu.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	bufs := b.buffers()
	for k := range cells {
		l := &cpu.Launch{Rows: b.s.own, Bufs: bufs, First: k == 0, Last: k == len(cells)-1}
		if p.Edges {
			l.Cell = &cells[k]
		}
		c.Run(l)
	}
	return bufs
}

// only is p with result k and what that needs.
func only(p *kernel.Program, k int) *kernel.Program {
	q := *p
	q.Outs = p.Outs[k : k+1]
	need := make([]bool, len(p.Widths))
	need[q.Outs[0].Reg] = true
	if q.Outs[0].Acc.Pair() {
		need[q.Outs[0].Reg2] = true
	}
	q.Instrs, q.Leaves, q.Widths = nil, nil, slices.Clone(p.Widths)
	for _, in := range slices.Backward(p.Instrs) {
		if need[in.Dst] {
			q.Instrs = append(q.Instrs, in)
			for _, r := range in.In {
				need[r] = true
			}
		}
	}
	slices.Reverse(q.Instrs)
	for _, l := range p.Leaves {
		if need[l.Reg] {
			q.Leaves = append(q.Leaves, l)
		}
	}
	for r := range q.Widths {
		if !need[r] {
			q.Widths[r] = 1
		}
	}
	return &q
}
