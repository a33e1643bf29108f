package cuda

import (
	"testing"

	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/kerneltest"
)

// TestRelations: products of several relations that are added in one kernel, and gradients that are scaled where their products are, are those of float64 to
// 1e-6 of Σ|terms|, with TF32 to 2^-10.
func TestRelations(t *testing.T) {
	d, err := device.OpenCUDA(0, 2<<30)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	for _, of := range []struct {
		n, in, out, rows int
		tf32             bool
	}{{3, 64, 64, 20_001, false}, {2, 128, 128, 5001, false}, {3, 100, 96, 3333, false}, {3, 64, 64, 20_001, true}, {2, 128, 128, 5001, true}} {
		r := newLongRun(t, d.(device.GPU), kerneltest.Relations(of.n, of.in, of.out))
		var bufs [][]float32
		var at []uint64
		var outs, sizes []int
		for k, n := range kerneltest.RelationSizes(of.n, of.in, of.out, of.rows) {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32((i*7919+k*31+i/977)%2003)/1001 - 0.9
			}
			bufs, at = append(bufs, x), append(at, r.put(raw(x), int64(4*n)))
			if k >= 3 && k <= 5 || k > 6 && (k-6)%5 > 2 {
				outs, sizes = append(outs, k), append(sizes, n)
			}
		}
		scratch := r.put(nil, r.c.Scratch(of.rows, 0))
		got := r.launch("relations", r.commands(&kernel.GPULaunch{Rows: of.rows, Bufs: at, Scratch: scratch, TF32: of.tf32}), outs, sizes)
		for i, k := range outs {
			bufs[k] = got[i]
		}
		most, limit := kerneltest.RelationErrors(of.n, of.in, of.out, of.rows, bufs), 1e-6
		if of.tf32 {
			limit = 1. / 512 // of sums of sums
		}
		t.Log(of, r.c.Names, "off by so much of Σ|terms|:", most)
		for k, x := range most {
			if !(x <= limit) {
				t.Errorf("%v: operand %d is off by %.2g of Σ|terms|", of, k, x)
			}
		}
		r.close()
	}
}
