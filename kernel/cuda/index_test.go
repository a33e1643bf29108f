package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/kernel"
)

// indexedPrograms are a gather of scaled rows of the far end with an own row and a number that edges have there, and the same of
// rows alone. Operand 0 has rows of the far end, 1 own rows, 2 the numbers.
func indexedPrograms(f, ld int) (list []*kernel.Program) {
	instrs := []kernel.Instr{{Op: "widen", Role: kernel.Widen, Dst: 3, In: []int{2}}, {Op: "mul", Role: kernel.Mul, CUDA: "$0 * $1", Dst: 4, In: []int{0, 3}},
		{Op: "sub", CUDA: "$0 - $1", Dst: 5, In: []int{4, 1}}}
	for _, edges := range []bool{true, false} {
		p := &kernel.Program{Name: "rows of a table", Edges: edges, Operands: 4, Widths: []int{f, f, 1, f, f, f}, Instrs: instrs,
			Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}, {Operand: 1, Cols: f, LD: ld, Reg: 1}, {From: kernel.Other, Operand: 2, Cols: 1, LD: 1, Reg: 2}},
			Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 5, Operand: 3, Aux: -1, LD: ld}}}
		if !edges {
			p.Leaves[0].From, p.Leaves[2].From, p.Outs[0].Acc = kernel.Own, kernel.Own, kernel.Store
		}
		list = append(list, p)
	}
	return list
}

// TestIndexEmulated: rows that are read where a list says give the bits of rows that were brought together first.
func TestIndexEmulated(t *testing.T) {
	const rows, table = 40, 300
	r := rand.New(rand.NewPCG(draw.Seed(t), 7))
	index := make([]uint32, maxFar)
	for i := range index {
		index[i] = uint32(r.IntN(table))
	}
	for _, f := range []int{5, 32} {
		ld := chunk.LD(f)
		all, numbers := make([]float32, table*ld), make([]float32, maxFar)
		for _, x := range [][]float32{all, numbers} {
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
		}
		var some []float32
		for _, v := range index {
			some = append(some, all[int(v)*ld:int(v+1)*ld]...)
		}
		for _, p := range indexedPrograms(f, ld) {
			for _, way := range []kernel.GatherWay{kernel.WarpWhole, kernel.FewWhole} {
				t.Run(fmt.Sprintf("F=%d edges=%v way=%d", f, p.Edges, way), func(t *testing.T) {
					var cells []*chunk.Rect
					if p.Edges {
						cells = append(cells, maxCell(rows, 1, false))
					}
					run := func(p *kernel.Program, far, own []float32) []float32 {
						bufs := [][]float32{far, own, numbers, make([]float32, rows*ld)}
						emulate(t, p, cells, &kernel.GPULaunch{Rows: rows, Gather: way}, index, bufs)
						return bufs[3]
					}
					want := run(p, some, some)
					if got := run(p.WithIndex(0), all, some); !slices.Equal(got, want) {
						t.Error("other numbers with rows of a table at the far end")
					}
					if got := run(p.WithIndex(0).WithIndex(1), all, all); !slices.Equal(got, want) {
						t.Error("other numbers with own rows of a table, too")
					}
				})
			}
		}
	}
}
