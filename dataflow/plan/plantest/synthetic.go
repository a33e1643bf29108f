package plantest

import (
	"fmt"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
)

// Synthetic is a program of the shape that three layers with their gradients have:
// gathers over CSC forward, over CSR backward, a product after each.
func Synthetic(layers int, width int) *plan.Spec {
	s := &plan.Spec{}
	value := func(name string, k plan.ValueKind) int {
		s.Values = append(s.Values, plan.Value{Name: name, Kind: k, Cols: width, RowBytes: int64(width) * 4})
		return len(s.Values) - 1
	}
	kernel := 0
	call := func(c plan.Cost, ops ...plan.Operand) []plan.Call {
		kernel++
		return []plan.Call{{Kernel: kernel - 1, Operands: ops, Cost: c}}
	}
	w := float64(width)
	gather := plan.Cost{EdgeElem: w, GatherBytes: int64(width) * 4, OtherBytes: int64(width) * 4, EdgeBytes: 4, AccBytes: int64(width) * 8}
	dense := plan.Cost{RowDense: 2 * w * w, RowElem: w, RowBytes: int64(width) * 12, FixedBytes: int64(width*width) * 4}
	phase := func(d plan.Dir, from, to int, more ...plan.Operand) {
		acc := value(fmt.Sprint("acc", len(s.Phases)), plan.Temp)
		s.Phases = append(s.Phases, plan.Phase{Steps: []plan.Step{
			{Kind: plan.Stream, Dir: d, Calls: call(gather, plan.Operand{Kind: plan.OtherValue, ID: from, Write: false}, plan.Operand{Kind: plan.OwnValue, ID: acc, Write: true})},
			{Kind: plan.Rows, Calls: call(dense, append(more, plan.Operand{Kind: plan.OwnValue, ID: acc, Write: false}, plan.Operand{Kind: plan.OwnValue, ID: to, Write: true})...)},
		}})
	}
	h := []int{value("x", plan.Input)}
	for l := range layers {
		h = append(h, value(fmt.Sprint("h", l), plan.Stored))
		s.Globals = append(s.Globals, plan.Global{Name: fmt.Sprint("w", l), Kind: plan.Param, Rows: width, Cols: width},
			plan.Global{Name: fmt.Sprint("dw", l), Kind: plan.Sum, Rows: width, Cols: width})
		s.Updates = append(s.Updates, plan.Move{Param: 2 * l, Grad: 2*l + 1})
		phase(plan.CSC, h[l], h[l+1], plan.Operand{Kind: plan.GlobalRef, ID: 2 * l, Write: false})
	}
	g := h[layers]
	for l := layers - 1; l >= 0; l-- {
		d := value(fmt.Sprint("g", l), plan.Stored)
		phase(plan.CSR, g, d, plan.Operand{Kind: plan.OwnValue, ID: h[l], Write: false}, plan.Operand{Kind: plan.GlobalRef, ID: 2*l + 1, Write: true})
		g = d
	}
	s.Results = []int{1}
	return s
}

// SyntheticCells are grids of v vertices and so many edges, unevenly dealt out.
func SyntheticCells(v int, edges float64) func(p int) (*plan.Cells, error) {
	return func(p int) (*plan.Cells, error) {
		c := plan.NewCells(v, p, (v+p-1)/p, 2)
		for d := range 2 {
			for i := range p * p {
				n := int64(edges / float64(p*p) * (0.5 + float64(i*7919%p)/float64(p)))
				c.NNZ[d] = append(c.NNZ[d], n)
				c.Bytes[d] = append(c.Bytes[d], 4*n+64)
			}
		}
		return c, nil
	}
}

// Streamed is a plan of Synthetic that keeps nothing on the device.
func Streamed(t testing.TB, layers, p int, o plan.Options) *plan.Plan {
	t.Helper()
	o.P, o.Stream = p, true
	pl, err := planner.New(Synthetic(layers, 64), SyntheticCells(10000, 3e5), o)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}
