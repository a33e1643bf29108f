package cpu_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/internal/simd"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// TestFourWithoutRanks: a sum and a sum of squares alone, as of a variance, are of cells that have no ranks of edges, as no maximum wants any. They have
// the bits that they have with ranks, of rows read where they lie and of rows in strips.
func TestFourWithoutRanks(t *testing.T) {
	const vertices, cols = 50, 5
	r := rand.New(rand.NewPCG(1, 2))
	for _, strips := range []bool{false, true} {
		var got [2][]float32
		cell := &chunk.View{}
		for v := range vertices {
			cell.Ptr = append(cell.Ptr, uint32(len(cell.Other)))
			for i := range v * v / 4 % 700 {
				cell.Other, cell.Rank = append(cell.Other, r.Uint32N(vertices)), append(cell.Rank, float32(i))
			}
		}
		cell.Ptr = append(cell.Ptr, uint32(len(cell.Other)))
		rows := make([]float32, vertices*cols)
		for i := range rows {
			rows[i] = r.Float32()
		}
		p := &kernel.Program{Name: "variance", Edges: true, Widths: []int{cols}, Leaves: []kernel.Leaf{{From: kernel.Other, Cols: cols, LD: cols}}, Operands: 3}
		of := 0
		then := func(fn kernel.StripFunc, role kernel.Role) int {
			p.Widths = append(p.Widths, cols)
			p.Instrs = append(p.Instrs, kernel.Instr{Fn: fn, Role: role, In: []int{of}, Dst: len(p.Widths) - 1})
			return len(p.Widths) - 1
		}
		if strips {
			of = then(func(a *kernel.Args) { copy(a.Out, a.In[0]) }, kernel.Func)
		}
		square := then(func(a *kernel.Args) { simd.Square(a.Out, a.In[0]) }, kernel.Square)
		p.Outs = []kernel.Out{{Acc: kernel.Sum, Reg: of, LD: cols, Aux: -1, Operand: 1}, {Acc: kernel.Sum, Reg: square, LD: cols, Aux: -1, Operand: 2}}
		c, err := cpu.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if i == 1 {
				cell.Rank = nil
			}
			sum, squares := make([]float32, vertices*cols), make([]float32, vertices*cols)
			c.Run(&cpu.Launch{Rows: vertices, Bufs: [][]float32{rows, sum, squares}, Cell: cell, First: true, Last: true})
			got[i] = slices.Concat(sum, squares)
		}
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("strips %v: without ranks %v, with them %v", strips, got[1], got[0])
		}
	}
}
