// Package kerneltest has programs for the tests of kernels.
package kerneltest

import "sagann/kernel"

// Layer is two products by tiles that are added, what follows them, a second product from its result and the sums of both for a backward pass:
// y = relu(x·w + z·w' + z + bias), u = y·vᵀ, dw = xᵀ·y, db = Σ y.
func Layer(in, out, back int) *kernel.Program {
	wide := func(n int) int { return (n + 3) / 4 * 4 }
	return &kernel.Program{Name: "layer", Operands: 10, Widths: []int{in, out, out, out, out, out, out, out, back, out, out, out},
		Leaves: []kernel.Leaf{
			{From: kernel.Own, Operand: 0, Cols: in, LD: wide(in), Reg: 0},
			{From: kernel.Global, Operand: 1, Cols: out, LD: out, Rows: in, Reg: 1},
			{From: kernel.Own, Operand: 2, Cols: out, LD: wide(out), Reg: 2},
			{From: kernel.Global, Operand: 3, Cols: out, LD: out, Rows: 1, Spread: true, Reg: 3},
			{From: kernel.Global, Operand: 4, Cols: out, LD: out, Rows: back, Reg: 7},
			{From: kernel.Global, Operand: 9, Cols: out, LD: out, Rows: out, Reg: 9}},
		Instrs: []kernel.Instr{
			{Op: "matmul", Role: kernel.MatMul, Dst: 4, In: []int{0, 1}},
			{Op: "matmul", Role: kernel.MatMul, Dst: 10, In: []int{2, 9}},
			{Op: "add", Role: kernel.Plus, CUDA: "$0 + $1", Dst: 11, In: []int{4, 10}},
			{Op: "add", Role: kernel.Plus, CUDA: "$0 + $1", Dst: 5, In: []int{11, 2}},
			{Op: "relu", CUDA: "saga_maximum($0 + $1, 0.f)", Dst: 6, In: []int{5, 3}},
			{Op: "matmul_nt", Role: kernel.MatMulNT, Dst: 8, In: []int{6, 7}}},
		Outs: []kernel.Out{
			{Acc: kernel.Store, Reg: 6, Operand: 5, Aux: -1, LD: wide(out)},
			{Acc: kernel.Store, Reg: 8, Operand: 6, Aux: -1, LD: wide(back)},
			{Acc: kernel.SumTN, Reg: 0, Reg2: 6, Operand: 7, Aux: -1, LD: out, Carry: true},
			{Acc: kernel.SumRows, Reg: 6, Operand: 8, Aux: -1, LD: out, Carry: true}}}
}
