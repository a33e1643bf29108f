package cuda_test

import (
	"math"
	"strings"
	"testing"

	"sagann/kernel"
	"sagann/kernel/cuda"
	"sagann/kernel/kerneltest"
)

// launched renders p for a chip with or without groups of warps, and names the kernels of a launch over so many rows.
func launched(t *testing.T, p *kernel.Program, groups bool, rows int) (chip kernel.Chip, c *cuda.Program, names string) {
	t.Helper()
	chip = cuda.H200
	chip.Groups = groups
	c, err := cuda.Render(p, chip)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range c.Steps(&kernel.GPULaunch{Rows: rows, Bufs: make([]uint64, p.Operands)}) {
		list = append(list, c.Names[s.Func])
	}
	return chip, c, strings.Join(list, " ")
}

// TestTilesEmulated: products by tiles and what is fused with them are those of float64, where tiles are full and where the result ends in
// them.
func TestTilesEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	wide := func(n int) int { return (n + 3) / 4 * 4 } // of rows
	for _, of := range []struct {
		rows, in, out, back int
		groups              bool
		kernels             string
	}{{261, 100, 132, 96, true, "product0_halves product1_halves saga_halves_sums_72 saga_columns_add"}, {70, 128, 256, 128, true, "product0_halves product1_halves saga_halves_sums_128 saga_columns_add"},
		{261, 100, 132, 96, false, "product0 product1 saga_product_128_64 saga_columns_add saga_columns saga_columns_add"}, {137, 68, 64, 96, true, "product0_halves product1_halves saga_halves_sums_64 saga_columns_add"},
		{8333, 24, 64, 64, true, "product0_halves product1_halves saga_halves_sums_64 saga_columns_add"},
		{137, 70, 134, 98, true, "product0_halves product1_halves rows1 product2_halves saga_halves_sums_72 saga_columns_add"}, {137, 72, 132, 98, false, "product0 product1 saga_product_128_64 saga_columns_add saga_columns saga_columns_add"}, {137, 72, 132, 98, true, "product0_halves product1_halves saga_halves_sums_72 saga_columns_add"}} {
		p := kerneltest.Layer(of.in, of.out, of.back)
		chip, c, got := launched(t, p, of.groups, of.rows)
		if got != of.kernels {
			t.Errorf("%v: the kernels are %s", of, got)
		}
		var bufs [][]float32
		for _, n := range []int{of.rows * wide(of.in), of.in * of.out, of.rows * wide(of.out), of.out, of.back * of.out, of.rows * wide(of.out), of.rows * wide(of.back), 2 * of.in * of.out, 2 * of.out, of.out * of.out} {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32((i+n)*2654435761>>7%1000)/500 - 1
			}
			if k := len(bufs); k == 7 || k == 8 {
				clear(x)
			}
			bufs = append(bufs, x)
		}
		in := func(k, i int) float64 { return float64(bufs[k][i]) }
		y := make([]float64, of.rows*wide(of.out))
		for r := range of.rows {
			for q := range of.out {
				s := in(2, r*wide(of.out)+q) + in(3, q)
				for k := range of.in {
					s += in(0, r*wide(of.in)+k) * in(1, k*of.out+q)
				}
				for k := range of.out {
					s += in(2, r*wide(of.out)+k) * in(9, k*of.out+q)
				}
				y[r*wide(of.out)+q] = max(s, 0)
			}
		}
		emulateOn(t, chip, p, nil, &kernel.GPULaunch{Rows: of.rows, First: true, Last: true, Room: c.Scratch(of.rows, 0)}, nil, bufs)
		near := func(what string, i int, got float32, want, size float64) {
			if math.Abs(float64(got)-want) > 1e-5*size {
				t.Fatalf("%v: %s %d is %v, want %v", of, what, i, got, want)
			}
		}
		for i, want := range y {
			if i%wide(of.out) < of.out {
				near("y", i, bufs[5][i], want, 100)
			}
		}
		for r := range of.rows {
			for q := range of.back {
				s := 0.0
				for k := range of.out {
					s += y[r*wide(of.out)+k] * in(4, q*of.out+k)
				}
				near("u", r*of.back+q, bufs[6][r*wide(of.back)+q], s, 1000)
			}
		}
		for k := range of.in {
			for q := range of.out {
				s := 0.0
				for r := range of.rows {
					s += in(0, r*wide(of.in)+k) * y[r*wide(of.out)+q]
				}
				near("dw", k*of.out+q, bufs[7][k*of.out+q], s, 1000)
			}
		}
		for q := range of.out {
			s := 0.0
			for r := range of.rows {
				s += y[r*wide(of.out)+q]
			}
			near("db", q, bufs[8][q], s, 1000)
		}
	}
}

// TestRelationsEmulated: products of several relations are added in one kernel, and each gradient of a relation is scaled where its product is.
func TestRelationsEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	for _, of := range []struct {
		n, in, out, rows int
		groups           bool
		kernels          string
	}{{3, 64, 64, 301, true, "rows0 product0_halves rows1 product1_halves product2_halves product3_halves product4_halves saga_halves_sums_64 saga_columns_add saga_halves_sums_64 saga_columns_add"},
		{3, 96, 96, 140, false, "rows0 product0 rows1 product1 product2 product3 product4"},
		{5, 68, 64, 77, true, "rows0 product0_halves product1_halves product2_halves rows1 product3_halves product4_halves product5_halves product6_halves product7_halves"},
		{1, 64, 128, 77, true, "rows0 product0_halves rows1 product1_halves product2_halves"}} {
		p := kerneltest.Relations(of.n, of.in, of.out)
		chip, c, got := launched(t, p, of.groups, of.rows)
		if !strings.HasPrefix(got, of.kernels) {
			t.Errorf("%v: the kernels are %s", of, got)
		}
		var bufs [][]float32
		for k, n := range kerneltest.RelationSizes(of.n, of.in, of.out, of.rows) {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32((i+n+k)*2654435761>>7%1000)/500 - 1
			}
			if k == 4 || k == 5 || k > 5 && k%5 == 0 {
				clear(x)
			}
			bufs = append(bufs, x)
		}
		emulateOn(t, chip, p, nil, &kernel.GPULaunch{Rows: of.rows, First: true, Last: true, Room: c.Scratch(of.rows, 0)}, nil, bufs)
		for operand, off := range kerneltest.RelationErrors(of.n, of.in, of.out, of.rows, bufs) {
			if off > 1e-6 {
				t.Errorf("%v: operand %d is off by %.2g of its terms", of, operand, off)
			}
		}
	}
}
