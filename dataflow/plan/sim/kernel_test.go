package sim_test

import (
	"math"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
)

func TestKernelTime(t *testing.T) {
	k := plantest.Toy(2, 0).Kind(0)
	for _, c := range []struct {
		name                string
		cost                plan.Cost
		rows, edges, others int
		want                float64
	}{
		{"a product beside memory", plan.Cost{RowDense: 5, RowBytes: 4, FixedBytes: 9}, 10, 0, 0, 99},
		{"arithmetic", plan.Cost{RowElem: 5, RowBytes: 4, FixedBytes: 9}, 10, 0, 0, math.Hypot(50, 49)},
		{"exponentials", plan.Cost{RowElem: 5, RowHard: 1, RowBytes: 4, FixedBytes: 9}, 10, 0, 0, math.Hypot(170, 49)},
		{"memory", plan.Cost{RowElem: 3, RowBytes: 4, FixedBytes: 9}, 10, 0, 0, math.Hypot(30, 49)},
		{"edges", plan.Cost{EdgeElem: 2, EdgeDense: 1, EdgeBytes: 1}, 10, 100, 0, 100 + math.Hypot(200, 100)},
		{"accumulators", plan.Cost{AccBytes: 8, EdgeBytes: 4}, 10, 5, 0, 100},
		{"hits", plan.Cost{GatherBytes: 8, OtherBytes: 100}, 0, 50, 10, 100},       // 1000 B: all in the cache
		{"half hits", plan.Cost{GatherBytes: 8, OtherBytes: 100}, 0, 50, 20, 250},  // 2000 B: half
		{"fifth hits", plan.Cost{GatherBytes: 8, OtherBytes: 100}, 0, 50, 50, 340}, // 5000 B: a fifth
	} {
		if got := k.KernelTime(&c.cost, c.rows, c.edges, c.others); !sim.Near(got, c.want, 1e-12) {
			t.Errorf("%s: %g ns, want %g", c.name, got, c.want)
		}
	}
	moved := plan.Moved{Known: true, Products: 3, Kernels: 2, Bytes: 4, Groups: plan.Flow{Flops: 6, Bytes: 4}, Sums: plan.Flow{Flops: 8, Bytes: 3}, Library: plan.Flow{Flops: 3, Bytes: 4}, Rest: plan.Flow{Flops: 12, Bytes: 5}}
	kernels := plan.Cost{RowDense: 99, RowBytes: 99, Products: 9, FixedBytes: 9, More: plan.More{Again: 99, Moved: moved}}
	if got := k.KernelTime(&kernels, 10, 0, 0); !sim.Near(got, 990+10*(99+99)+9, 1e-12) {
		t.Errorf("no rate of products by groups of warps: %g ns, want 2979", got)
	}
	k.Products = k.FP32
	k.Products.Value *= 2
	if got := k.KernelTime(&kernels, 10, 0, 0); !sim.Near(got, 10*(math.Pow(81+256, .25)+5+5+13)+49, 1e-12) {
		t.Errorf("kernels of a call: %g ns, want 321.8", got)
	}
	k.Launch.Value, k.Product.Value, kernels.Tile = 3e-9, 5e-9, 4
	if got := k.KernelTime(&kernels, 10, 0, 0); !sim.Near(got, 10*(math.Pow(81+256, .25)+5+5+13)+49+3*(3*5+2*3), 1e-12) {
		t.Errorf("kernels of three tiles: %g ns, want 384.8", got)
	}
	k.Products, k.Launch.Value, k.Product.Value = sim.Number{}, 0, 0
	k.Slice.Value = 10 // ten bytes of every row at a time: 50 rows fit; the first of ten edges of a row finds none in the cache
	if got := k.KernelTime(&plan.Cost{GatherBytes: 80, OtherBytes: 100}, 0, 500, 50); !sim.Near(got, 500*80*(.9/4+.1), 1e-12) {
		t.Errorf("sliced: %g ns, want 13000", got)
	}
	if got := k.KernelTime(&plan.Cost{GatherBytes: 80, GatherPad: 20, OtherBytes: 100}, 0, 500, 50); !sim.Near(got, 500*100*(.9/4+.1), 1e-12) {
		t.Errorf("lanes that read nothing: %g ns, want 16250", got)
	}
	if got := k.KernelTime(&plan.Cost{GatherBytes: 8, OtherBytes: 8}, 0, 500, 50); !sim.Near(got, 500*72*(.9/4+.1), 1e-12) {
		t.Errorf("few columns: %g ns, want 11700", got)
	}
	k.Serial, k.Launch.Value = true, 3e-9
	if got := k.KernelTime(&plan.Cost{RowDense: 5, RowBytes: 4}, 10, 0, 0); !sim.Near(got, 93, 1e-12) {
		t.Errorf("serial: %g ns, want 93", got)
	}
}
