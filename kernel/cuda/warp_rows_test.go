package cuda_test

import (
	"fmt"
	"math"
	"testing"

	"sagann/chunk"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// skewedCell is a cell of many rows of few edges among which are rows that lanes, warps and blocks take.
func skewedCell(rows, seed int) *chunk.Rect {
	return cellOf(rows, seed, chunk.Want{}, func(r int) int {
		if r%9 == 4 {
			return []int{33, 32, 130, 1, 64, 700, 512, 90, 513, 2100}[(r/9+seed)%10]
		}
		return (r*7 + seed) % 4
	})
}

// TestWarpRowsEmulated: sums, maxima and sums of exponentials over skewed cells are the CPU's, where lanes have the rows of few edges, warps those of some more, and
// blocks those of very many.
func TestWarpRowsEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	const rows = 200
	for _, f := range []int{1, 4, 8, 16} {
		ld := (f + 7) / 8 * 8
		p := &kernel.Program{Name: "skewed", Edges: true, Operands: 5, Widths: []int{f},
			Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
			Outs: []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: ld}, {Acc: kernel.Max, Reg: 0, Operand: 2, Aux: -1, LD: ld},
				{Acc: kernel.SumExp, Reg: 0, Operand: 3, Aux: 4, LD: ld, AuxLD: ld}}}
		host, err := cpu.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range [][]int{{3}, {0, 1, 2}} {
			t.Run(fmt.Sprintf("F=%d cells=%v", f, order), func(t *testing.T) {
				x := make([]float32, maxFar*ld)
				for i := range x {
					x[i] = float32((i*2654435761>>7)%33 - 16)
				}
				want, got := [][]float32{x}, [][]float32{x}
				for range 4 {
					want, got = append(want, make([]float32, rows*ld)), append(got, make([]float32, rows*ld))
				}
				var cells []*chunk.Rect
				for k, seed := range order {
					cells = append(cells, skewedCell(rows, seed))
					v := cells[k].View()
					host.Run(&cpu.Launch{Rows: rows, Bufs: want, Cell: &v, First: k == 0, Last: k == len(order)-1})
				}
				emulate(t, p, cells, &kernel.GPULaunch{Rows: rows, Gather: kernel.FewWhole}, nil, got)
				for k := 1; k < 5; k++ {
					for i, w := range want[k] {
						if g := got[k][i]; i%ld < f && g != w && math.Abs(float64(g-w)) > 1e-5*math.Abs(float64(w)) {
							t.Fatalf("row %d column %d of operand %d: %v, want %v", i/ld, i%ld, k, g, w)
						}
					}
				}
			})
		}
	}
}
