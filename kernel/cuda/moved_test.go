package cuda_test

import (
	"testing"

	"sagann/kernel"
	"sagann/kernel/cuda"
)

// What kernels move, by hand: x·W and y·V are added and, through a function of columns, stored, in one kernel; x·A has too few columns for groups of warps;
// xᵀ·d and yᵀ·d are one kernel that reads d once; of few columns xᵀ·e is none of theirs; the sums of d come with xᵀ·d.
func TestMoved(t *testing.T) {
	f := func(a *kernel.Args) {}
	own := func(operand, cols, reg int) kernel.Leaf {
		return kernel.Leaf{From: kernel.Own, Operand: operand, Cols: cols, LD: cols, Reg: reg}
	}
	whole := func(operand, rows, cols, reg int) kernel.Leaf {
		return kernel.Leaf{From: kernel.Global, Operand: operand, Cols: cols, LD: cols, Rows: rows, Reg: reg}
	}
	sum := func(acc kernel.Acc, reg, reg2, operand, ld int) kernel.Out {
		return kernel.Out{Acc: acc, Reg: reg, Reg2: reg2, Operand: operand, Aux: -1, LD: ld}
	}
	p := &kernel.Program{Name: "moved", Operands: 14, Widths: []int{128, 128, 64, 12, 64, 64, 4, 64, 64, 64, 64, 4, 64},
		Leaves: []kernel.Leaf{own(0, 128, 0), own(1, 128, 1), own(2, 64, 2), own(3, 12, 3), whole(4, 128, 64, 4), whole(5, 128, 64, 5), whole(6, 128, 4, 6)},
		Instrs: []kernel.Instr{
			{Op: "matmul", Role: kernel.MatMul, Dst: 7, In: []int{0, 4}},
			{Op: "matmul", Role: kernel.MatMul, Dst: 8, In: []int{1, 5}},
			{Op: "add", Role: kernel.Plus, Fn: f, CUDA: "$0 + $1", Dst: 9, In: []int{7, 8}},
			{Op: "relu", Fn: f, CUDA: "fmaxf($0, 0.f)", Dst: 10, In: []int{9}},
			{Op: "matmul", Role: kernel.MatMul, Dst: 11, In: []int{0, 6}},
			{Op: "neg", Fn: f, CUDA: "-$0", Dst: 12, In: []int{2}},
		},
		Outs: []kernel.Out{sum(kernel.Store, 10, 0, 7, 64), sum(kernel.Store, 11, 0, 8, 4), sum(kernel.Store, 12, 0, 9, 64), sum(kernel.SumTN, 0, 2, 10, 64), sum(kernel.SumTN, 1, 2, 11, 64),
			sum(kernel.SumTN, 0, 3, 12, 12), sum(kernel.SumRows, 2, 0, 13, 64)}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	flow := func(flops, columns int64) kernel.Flow { return kernel.Flow{Flops: flops, Bytes: 4 * columns} }
	want := kernel.Moved{Known: true, Products: 4, Kernels: 3, Bytes: 4 * (64 + 64), Groups: flow(2*2*128*64, 2*128+64), Library: flow(2*128*32, 128+4),
		Sums: flow(2*2*128*64, 2*128+64), Rest: flow(2*128*12, 128+12)}
	if got := cuda.Need(p, cuda.H200, 0).Moved; got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := cuda.Need(p, kernel.Chip{Processors: 108}, 0).Moved; got.Known {
		t.Errorf("without groups of warps: %+v", got)
	}
}
