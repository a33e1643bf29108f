package sim_test

import (
	"testing"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
)

// TestWorkTime: products at the library's rate are as fast as the machine's products, which in TF32 do not hide memory traffic; those by tiles
// stay near the rate of single precision.
func TestWorkTime(t *testing.T) {
	m := plantest.Toy(2, 0)
	d := m.DeviceKinds["d"]
	d.TF32, d.Product = d.FP32, d.Launch
	d.TF32.Value, d.Product.Value, d.Launch.Value = 10e9, 5e-9, 1e-9
	m.DeviceKinds["d"] = d
	for _, x := range []struct {
		name        string
		w           sim.Work
		plain, tf32 float64
	}{
		{"element-wise", sim.Work{Flops: 100, Bytes: 40}, 101, 101},
		{"memory", sim.Work{Flops: 30, Bytes: 40}, 41, 41},
		{"a product", sim.Work{Flops: 100, Bytes: 40, Elem: 7, Product: true}, 105, 62},
		{"what follows it takes longer", sim.Work{Flops: 100, Bytes: 40, Elem: 200, Product: true}, 205, 255},
		{"by tiles", sim.Work{Flops: 120, Bytes: 40, Elem: 7, Tiles: true}, 121, 101},
		{"by groups of warps", sim.Work{Flops: 275, Bytes: 40, Elem: 7, Halves: true}, 1 + 100 + 28 + 40, 1 + 100/1.2 + 28 + 40},
		{"few terms by tiles", sim.Work{Flops: 30, Bytes: 40, Elem: 7, Tiles: true}, 41, 41},
	} {
		if got := m.Kind(0).WorkTime(x.w); !sim.Near(got, x.plain, 1e-12) {
			t.Errorf("%s: %g ns, want %g", x.name, got, x.plain)
		}
		if got := m.WithTF32().Kind(0).WorkTime(x.w); !sim.Near(got, x.tf32, 1e-12) {
			t.Errorf("%s in TF32: %g ns, want %g", x.name, got, x.tf32)
		}
	}
}

// TestBatchRows: a GPU's cache has no far row of a batch before an edge has read it, and rows of a padded operand that are not there are not read.
func TestBatchRows(t *testing.T) {
	const own, far = 1, 2
	value := func(id int) plan.Operand { return plan.Operand{Kind: plan.OwnValue, ID: id, Paddable: true} }
	call := plan.Call{Operands: []plan.Operand{value(0)}, Cost: plan.Cost{GatherBytes: 80, OtherBytes: 100, RowBytes: 4}}
	p := &plan.Plan{Cells: plan.NewCells(1, 1, 1, 2), Tasks: []plan.Task{{Kind: plan.Run, Own: own, Other: 1, Dir: plan.CSC, Step: 1}}}
	p.Spec = &plan.Spec{Values: []plan.Value{{RowBytes: 4}}, Phases: []plan.Phase{{Steps: []plan.Step{
		{Kind: plan.Tail, Set: own, From: 3, Value: 0}, {Kind: plan.Stream, Dir: plan.CSC, Src: far, Dst: own, Calls: []plan.Call{call}}}}}}
	k := plantest.Toy(2, 0).Kind(0)
	rows, edges := []int{0, 30, 10, 20}, []int{0, 50}
	for _, x := range []struct {
		slice float64
		want  time.Duration
	}{{0, 1000 + 4*20}, {100, 1600 + 4*20}} { // 50 edges read rows that are in the cache, on a GPU ten of them for the first time
		k.Slice.Value = x.slice
		if got := k.Batch(p, rows, edges, nil)[0]; (got - x.want).Abs() > 1 {
			t.Errorf("slices of %g bytes: %v, want %v", x.slice, got, x.want)
		}
	}
}
