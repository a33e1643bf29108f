package cuda

import (
	"fmt"
	"math"
	"testing"

	"sagann/chunk"
	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// maxCell is a cell of rows of all lengths, among them some for kernels of rows of many edges. Ranks ascend in a
// row, unless turned; those of all cells of a row differ.
func maxCell(rows, seed int, turned bool) chunk.View {
	v := chunk.View{Ptr: []uint32{0}}
	degrees := []int{0, 1, 2, 3, 5, 17, 33, 4, 8}
	for r := range rows {
		n := degrees[(r*5+r/7+seed)%len(degrees)]
		if r%97 == 5 {
			n = []int{300, 1100, 5000}[r/97%3]
		}
		for k := range n {
			i := len(v.Other)
			v.Other = append(v.Other, uint32(i*7919+i/301+seed*13)%farRows)
			rank := k*3 + seed
			if turned {
				rank = (n-1-k)*3 + seed
			}
			v.Rank = append(v.Rank, float32(rank))
		}
		v.Ptr = append(v.Ptr, uint32(len(v.Other)))
	}
	return v
}

// TestMaxima: maxima of few different numbers, infinities and NaN among them, and their ranks are the CPU's to the
// number, in all ways to gather, whatever the order of cells and whether ranks ascend in rows or the kernels know.
func TestMaxima(t *testing.T) {
	d, err := device.OpenCUDA(0, 1<<30)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	const rows = 700
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	minus := float32(math.Copysign(0, -1))
	numbers := [][]float32{{-inf, -1, minus, 0, 0, minus, 1, -inf}, {-inf, -inf, -inf, -1}, {0, minus}, {-1, 0, 1, inf, nan, -inf, 2, 2}}
	for _, f := range []int{1, 8, 32, 100, 128} {
		ld := columns(f)
		for _, ascend := range []bool{false, true} {
			p := &kernel.Program{Name: "maximum", Edges: true, Operands: 3, Widths: []int{f}, Ascend: ascend,
				Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
				Outs:   []kernel.Out{{Acc: kernel.Max, Reg: 0, Operand: 1, Aux: 2, LD: ld, AuxLD: ld}}}
			c, err := cuda.Render(p, cuda.H200)
			if err != nil {
				t.Fatal(err)
			}
			for n, of := range numbers {
				x := make([]float32, farRows*ld)
				for i := range x {
					x[i] = of[(i*2654435761>>7)%len(of)]
				}
				bufs := [][]float32{x, make([]float32, rows*ld), make([]float32, rows*ld)}
				for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
					var cells []chunk.View
					for _, seed := range order {
						cells = append(cells, maxCell(rows, seed, !ascend && seed == 1))
					}
					t.Run(fmt.Sprintf("F=%d ascend=%v numbers=%d cells=%v", f, ascend, n, order), func(t *testing.T) {
						runWays(t, d.(device.GPU), p, c, cells, rows, bufs, func(got, want float32) bool {
							return got == want || got != got && want != want
						})
					})
				}
			}
		}
	}
}
