package cuda_test

import (
	"math"
	"strings"
	"testing"

	"sagann/kernel"
)

// Sums of products with few columns are those of float64: for columns that fill float4s and that do not, for columns of the first operand that end within a tile or
// take several, and for ranges of several chains.
func TestThinSumsEmulated(t *testing.T) {
	for _, of := range []struct{ rows, m, n, ld int }{{1, 6, 1, 1}, {700, 6, 4, 4}, {5000, 64, 1, 1}, {5003, 100, 3, 4}, {2111, 128, 4, 4}, {1500, 128, 8, 8}, {999, 132, 7, 8}, {300, 520, 2, 2}, {2_300_000, 4, 1, 1}} {
		wide := (of.m + 3) / 4 * 4
		p := &kernel.Program{Name: "thin", Operands: 3, Widths: []int{of.m, of.n},
			Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: of.m, LD: wide}, {From: kernel.Own, Operand: 1, Cols: of.n, LD: of.ld, Reg: 1}},
			Outs:   []kernel.Out{{Acc: kernel.SumTN, Reg: 0, Reg2: 1, Operand: 2, Aux: -1, LD: of.n}}}
		chip, c, names := launched(t, p, true, of.rows)
		if !strings.Contains(names, "saga_product_thin_") {
			t.Errorf("%v: the kernels are %s", of, names)
		}
		x, y, z := make([]float32, of.rows*wide), make([]float32, of.rows*of.ld), make([]float32, of.m*of.n)
		for i := range x {
			x[i] = float32(i*2654435761>>7%1000)/500 - 1
		}
		for i := range y {
			y[i] = float32((i+5)*2654435761>>9%1000)/500 - 1
		}
		want, size := make([]float64, len(z)), make([]float64, len(z))
		for r := range of.rows {
			for i := range of.m {
				for j := range of.n {
					v := float64(x[r*wide+i]) * float64(y[r*of.ld+j])
					want[i*of.n+j] += v
					size[i*of.n+j] += math.Abs(v)
				}
			}
		}
		emulateOn(t, chip, p, nil, &kernel.GPULaunch{Rows: of.rows, First: true, Last: true, Room: c.Scratch(of.rows, 0)}, nil, [][]float32{x, y, z})
		for i := range want {
			if !(math.Abs(float64(z[i])-want[i]) <= 1e-5*size[i]) {
				t.Fatalf("%v: number %d is %v, want %v", of, i, z[i], want[i])
			}
		}
	}
}
