package cpu

import (
	"math"
	"slices"
	"testing"

	"sagann/kernel"
)

// Reductions by key do not depend on how many lanes there are but for rounding, nor
// at all on the workers; rows whose key names no row are left out.
func TestReduceByKey(t *testing.T) {
	const rows, cols, n = 3000, 5, 7
	x, key := make([]float32, rows*cols), make([]float32, rows)
	sum, top := make([]float32, n*cols), make([]float32, n*cols)
	for i := range rows {
		key[i] = float32((i*i)%9) - 1 // -1 to 7
		if i%50 == 0 {
			key[i] = 1.5
		}
		for c := range cols {
			x[i*cols+c] = float32((i*7+c*13)%64)/8 - 9 // exact sums
			if k := int(key[i]); key[i] >= 0 && k < n && float32(k) == key[i] {
				sum[k*cols+c] += x[i*cols+c]
				if y := &top[k*cols+c]; *y == 0 || x[i*cols+c] > *y {
					*y = x[i*cols+c]
				}
			}
		}
	}
	p := &kernel.Program{Name: "by", Widths: []int{cols, 1}, Operands: 4,
		Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: cols, LD: cols}, {From: kernel.Own, Operand: 1, Cols: 1, LD: 1, Reg: 1}},
		Outs: []kernel.Out{{Acc: kernel.SumBy, Reg: 0, Reg2: 1, Operand: 2, LD: cols, Blocks: n, Aux: -1},
			{Acc: kernel.MaxBy, Reg: 0, Reg2: 1, Operand: 3, LD: cols, Blocks: n, Aux: -1}}}
	for _, each := range []int{16, 1, 4} {
		c, err := Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		c.lanes, c.chain = []int{each, each}, lanes/each
		gotSum, gotTop := make([]float32, n*cols), make([]float32, n*cols)
		for lo := 0; lo < rows; lo += rows / 2 { // two intervals
			c.Run(&Launch{Rows: rows / 2, Bufs: [][]float32{x[lo*cols:], key[lo:], gotSum, gotTop}})
		}
		for i, y := range gotTop {
			gotTop[i] = kernel.Unordered(math.Float32bits(y))
		}
		if !slices.Equal(gotSum, sum) || !slices.Equal(gotTop, top) {
			t.Errorf("%d lanes: sums %v, want %v; maxima %v, want %v", each, gotSum, sum, gotTop, top)
		}
	}
}

// The lanes of a large result are few, and their number does not depend on the rows.
func TestLanesOfLargeResults(t *testing.T) {
	for _, tc := range []struct{ blocks, want int }{{100, 16}, {laneFloats / 32, 4}, {laneFloats, 1}} {
		p := &kernel.Program{Name: "by", Widths: []int{8, 1}, Operands: 3,
			Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: 8, LD: 8}, {From: kernel.Own, Operand: 1, Cols: 1, LD: 1, Reg: 1}},
			Outs:   []kernel.Out{{Acc: kernel.SumBy, Reg: 0, Reg2: 1, Operand: 2, LD: 8, Blocks: tc.blocks, Aux: -1}}}
		c, err := Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if c.lanes[0] != tc.want {
			t.Errorf("%d rows of 8: %d lanes, want %d", tc.blocks, c.lanes[0], tc.want)
		}
	}
}
