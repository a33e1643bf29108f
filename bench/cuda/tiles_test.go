package cuda

import (
	"math"
	"slices"
	"testing"

	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/kerneltest"
)

// TestTiles: products by tiles, what is fused with them, and their sums over rows are those of float64 to 1e-6 of Σ|terms|, with TF32 to 2^-10.
func TestTiles(t *testing.T) {
	d, err := device.OpenCUDA(0, 2<<30)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	wide := func(n int) int { return (n + 3) / 4 * 4 } // of rows
	for _, of := range []struct {
		rows, in, out, back int
		tf32                bool
	}{{5000, 100, 256, 128, false}, {40_001, 256, 132, 100, false}, {3333, 604, 128, 96, false}, {129, 20, 300, 256, false}, {40_001, 128, 64, 64, false}, {20_001, 602, 134, 602, false}, {5000, 602, 134, 602, true},
		{40_001, 100, 256, 256, true}, {20_001, 256, 132, 100, true}, {3333, 604, 128, 96, true}, {129, 20, 300, 256, true}} {
		r := newLongRun(t, d.(device.GPU), kerneltest.Layer(of.in, of.out, of.back))
		var bufs [][]float32
		var at []uint64
		sizes := []int{of.rows * wide(of.in), of.in * of.out, of.rows * wide(of.out), of.out, of.back * of.out, of.rows * wide(of.out), of.rows * wide(of.back), 2 * of.in * of.out, 2 * of.out, of.out * of.out}
		for k, n := range sizes {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32((i*7919+k*31+i/977)%2003)/1001 - 0.9
			}
			bufs, at = append(bufs, x), append(at, r.put(raw(x), int64(4*n)))
		}
		scratch := r.put(nil, r.c.Scratch(of.rows, 0))
		got := r.launch("tiles", r.commands(&kernel.GPULaunch{Rows: of.rows, Bufs: at, Scratch: scratch, TF32: of.tf32}), []int{5, 6, 7, 8}, sizes[5:])
		y, most := got[0], map[string]float64{}
		near := func(what string, x float32, of func(k int) float64, terms int, more ...float64) {
			want, size := 0.0, 0.0
			for _, z := range more {
				want, size = want+z, size+math.Abs(z)
			}
			for k := range terms {
				want, size = want+of(k), size+math.Abs(of(k))
			}
			if what == "y" {
				want = max(want, 0)
			}
			most[what] = max(most[what], math.Abs(float64(x)-want)/size)
		}
		for i := 0; i < of.rows; i += 1 + of.rows/300 {
			for q := range of.out {
				near("y", y[i*wide(of.out)+q], func(k int) float64 {
					if k < of.in {
						return float64(bufs[0][i*wide(of.in)+k]) * float64(bufs[1][k*of.out+q])
					}
					k -= of.in
					return float64(bufs[2][i*wide(of.out)+k]) * float64(bufs[9][k*of.out+q])
				}, of.in+of.out, float64(bufs[2][i*wide(of.out)+q]), float64(bufs[3][q]))
			}
			for q := range of.back {
				near("u", got[1][i*wide(of.back)+q], func(k int) float64 { return float64(y[i*wide(of.out)+k]) * float64(bufs[4][q*of.out+k]) }, of.out)
			}
		}
		for e := 0; e < of.in*of.out; e += 97 {
			near("dw", got[2][e], func(k int) float64 {
				return float64(bufs[0][k*wide(of.in)+e/of.out]) * float64(y[k*wide(of.out)+e%of.out])
			}, of.rows)
		}
		for q := range of.out {
			near("db", got[3][q], func(k int) float64 { return float64(y[k*wide(of.out)+q]) }, of.rows)
		}
		t.Log(of, r.c.Names, "off by so much of Σ|terms|:", most)
		limit := 1e-6
		if of.tf32 { // each of two operands is rounded to 11 bits
			limit = 1. / 1024
		}
		for what, x := range most {
			if !(x <= limit) {
				t.Errorf("%v: %s is off by %.2g of Σ|terms|", of, what, x)
			}
		}
		for k, v := range []float32{math.Float32frombits(0x7fffffff), math.Float32frombits(0xffffffff), float32(math.NaN())} {
			x, from := slices.Clone(bufs[0]), slices.Clone(at)
			row := (k*77 + 5) % of.rows
			x[row*wide(of.in)+k] = v
			from[0] = r.put(raw(x), int64(4*len(x)))
			got := r.launch("tiles", r.commands(&kernel.GPULaunch{Rows: of.rows, Bufs: from, Scratch: scratch, TF32: of.tf32}), []int{5, 6, 7, 8}, sizes[5:])
			for what, list := range map[string][]float32{"y": got[0][row*wide(of.out):][:of.out], "u": got[1][row*wide(of.back):][:of.back], "dw": got[2][:of.in*of.out], "db": got[3][:of.out]} {
				if i := slices.IndexFunc(list, func(y float32) bool { return y == y }); i >= 0 {
					t.Errorf("%v: number %d of %s is %v, of rows of which one has %#x", of, i, what, list[i], math.Float32bits(v))
				}
			}
		}
		r.close()
	}
}
