package dataflow

import (
	"testing"

	"sagann/dataflow/plan"
	"sagann/kernel"
)

// G-GCN's edge program by hand: sigmoid(A_u + B_v)·H_u summed over the in-edges.
func gatedGather(cols, ld int) *kernel.Program {
	f := func(a *kernel.Args) {}
	return &kernel.Program{
		Name: "gated", Edges: true, Operands: 4, Widths: []int{cols, cols, cols, cols, cols, cols},
		Leaves: []kernel.Leaf{
			{From: kernel.Other, Operand: 0, Cols: cols, LD: ld, Reg: 0},
			{From: kernel.Own, Operand: 1, Cols: cols, LD: ld, Reg: 1},
			{From: kernel.Other, Operand: 2, Cols: cols, LD: ld, Reg: 2},
		},
		Instrs: []kernel.Instr{
			{Op: "add", Fn: f, Dst: 3, In: []int{0, 1}},
			{Op: "sigmoid", Fn: f, Dst: 4, In: []int{3}},
			{Op: "mul", Fn: f, Dst: 5, In: []int{4, 2}},
		},
		Outs: []kernel.Out{{Acc: kernel.Sum, Reg: 5, Operand: 3, LD: ld, Aux: -1}},
	}
}

func TestCostOf(t *testing.T) {
	f := func(a *kernel.Args) {}
	for _, c := range []struct {
		p    *kernel.Program
		want plan.Cost
	}{
		{gatedGather(20, 24), plan.Cost{
			EdgeElem: 4 * 20, RowBytes: 4 * 20, EdgeBytes: 4, AccBytes: 2 * 4 * 20,
			GatherBytes: 2 * 4 * 20, GatherPad: 2 * 4 * (32 - 20), OtherBytes: 2 * 4 * 24, Others: 2, Passes: 1}},
		// relu(x·W + b), stored, and its column sums
		{&kernel.Program{Name: "dense", Operands: 5, Widths: []int{6, 5, 5, 5, 5, 5},
			Leaves: []kernel.Leaf{
				{From: kernel.Own, Operand: 0, Cols: 6, LD: 8, Reg: 0},
				{From: kernel.Global, Operand: 1, Cols: 5, LD: 5, Rows: 6, Reg: 1},
				{From: kernel.Global, Operand: 2, Cols: 5, LD: 5, Rows: 1, Spread: true, Reg: 2}},
			Instrs: []kernel.Instr{
				{Op: "matmul", Role: kernel.MatMul, Dst: 3, In: []int{0, 1}},
				{Op: "add", Fn: f, Dst: 4, In: []int{3, 2}},
				{Op: "relu", Fn: f, Dst: 5, In: []int{4}}},
			Outs: []kernel.Out{
				{Acc: kernel.Store, Reg: 5, Operand: 3, LD: 8, Aux: -1},
				{Acc: kernel.SumRows, Reg: 5, Operand: 4, LD: 5, Aux: -1}}},
			plan.Cost{RowDense: 2 * 6 * 5, RowElem: 3 * 5, RowBytes: 4*6 + 4*5, FixedBytes: 4*(30+5) + 2*4*5,
				Products: 1, Passes: 2 + 2}},
		// x times two matrices: each product reads x
		{&kernel.Program{Name: "two", Operands: 5, Widths: []int{6, 5, 5, 5, 5},
			Leaves: []kernel.Leaf{
				{From: kernel.Own, Operand: 0, Cols: 6, LD: 8, Reg: 0},
				{From: kernel.Global, Operand: 1, Cols: 5, LD: 5, Rows: 6, Reg: 1},
				{From: kernel.Global, Operand: 2, Cols: 5, LD: 5, Rows: 6, Reg: 2}},
			Instrs: []kernel.Instr{
				{Op: "matmul", Role: kernel.MatMul, Dst: 3, In: []int{0, 1}},
				{Op: "matmul", Role: kernel.MatMul, Dst: 4, In: []int{0, 2}}},
			Outs: []kernel.Out{{Acc: kernel.Store, Reg: 3, Operand: 3, LD: 8, Aux: -1}, {Acc: kernel.Store, Reg: 4, Operand: 4, LD: 8, Aux: -1}}},
			plan.Cost{RowDense: 2 * 2 * 6 * 5, RowBytes: 4 * (6 + 5 + 5), More: plan.More{Again: 4 * 6}, FixedBytes: 2 * 4 * 30, Products: 2, Passes: 2}},
		// rows times a number of the far end, and what the last cell of a row makes of its sum, which lies in place of it
		{&kernel.Program{Name: "mean", Edges: true, Operands: 4, Widths: []int{40, 1, 40, 40},
			Leaves: []kernel.Leaf{
				{From: kernel.Other, Operand: 0, Cols: 40, LD: 40, Reg: 0},
				{From: kernel.Other, Operand: 1, Cols: 1, LD: 1, Reg: 1}},
			Instrs: []kernel.Instr{
				{Op: "widen", Role: kernel.Widen, Fn: f, Dst: 2, In: []int{1}},
				{Op: "mul", Role: kernel.Mul, Fn: f, CUDA: "$0 * $1", Dst: 3, In: []int{0, 2}}},
			Outs: []kernel.Out{{Acc: kernel.Sum, Reg: 3, Operand: 2, LD: 40, Aux: -1, Quiet: true}},
			Then: &kernel.Program{Name: "then", Operands: 4, Widths: []int{40, 40, 40},
				Leaves: []kernel.Leaf{{Operand: 2, Cols: 40, LD: 40, Reg: 0}, {Operand: 3, Cols: 40, LD: 40, Reg: 1}},
				Instrs: []kernel.Instr{{Op: "mul", Role: kernel.Mul, Fn: f, CUDA: "$0 * $1", Dst: 2, In: []int{0, 1}}},
				Outs:   []kernel.Out{{Acc: kernel.Store, Reg: 2, Operand: 2, LD: 40, Aux: -1}}}},
			plan.Cost{EdgeElem: 3 * 40, EdgeBytes: 4, AccBytes: 2 * 4 * 40, More: plan.More{Last: 4 * (-40 + 40 + 40), LastElem: 40}, GatherBytes: 4 * 41, GatherPad: 4 * 24, OtherBytes: 4 * 40, Others: 1, Passes: 1}},
		// xᵀ·dy over all rows
		{&kernel.Program{Name: "grad", Operands: 3, Widths: []int{6, 5},
			Leaves: []kernel.Leaf{
				{From: kernel.Own, Operand: 0, Cols: 6, LD: 8, Reg: 0},
				{From: kernel.Own, Operand: 1, Cols: 5, LD: 8, Reg: 1}},
			Outs: []kernel.Out{{Acc: kernel.SumTN, Reg: 0, Reg2: 1, Operand: 2, LD: 5, Aux: -1}}},
			plan.Cost{RowDense: 2 * 6 * 5, RowBytes: 4 * 11, FixedBytes: 2 * 4 * 30, Products: 1, Passes: 1}},
		// the block of the edge's type, times the edge's weight, maximum with its arg-max
		{&kernel.Program{Name: "typed", Edges: true, Operands: 3, Widths: []int{3, 1, 3},
			Leaves: []kernel.Leaf{
				{From: kernel.Other, Operand: 0, Cols: 3, LD: 16, Key: kernel.ByType, Blocks: 4, Reg: 0},
				{From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1, Reg: 1}},
			Instrs: []kernel.Instr{{Op: "scale", Fn: f, Dst: 2, In: []int{0, 1}}},
			Outs:   []kernel.Out{{Acc: kernel.Max, Reg: 2, Operand: 1, LD: 4, Aux: 2, AuxLD: 4}}},
			plan.Cost{EdgeElem: 3 + 3, EdgeBytes: 4 + 4 + 4, AccBytes: 4 * 4 * 3, GatherBytes: 4 * 3, GatherPad: 4, OtherBytes: 4 * 16, Others: 1, Passes: 1}},
	} {
		if err := c.p.Check(); err != nil {
			t.Fatal(err)
		}
		if got := CostOf(c.p); got != c.want {
			t.Errorf("%s: cost %+v, want %+v", c.p.Name, got, c.want)
		}
	}
}
