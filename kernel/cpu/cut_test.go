package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// TestCutRows computes results of one column alone, in strips of 512 edges, and beside a sum
// of 256 columns, in strips of 8, which cut most rows: the bits are the same, also of rows
// that have met edges in another cell. The last launch does not finish: a logarithm would hide
// what sums differ by.
func TestCutRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	degrees := []int{1, 7, 12, 16, 17, 100, 127, 128, 129, 300, 1000}
	const wide = 256
	var cells []chunk.View
	for range 3 {
		v := chunk.View{Ptr: []uint32{0}}
		for _, n := range degrees {
			for range n {
				v.Other = append(v.Other, r.Uint32N(20))
				v.Weight = append(v.Weight, r.Float32())
				v.Type = append(v.Type, r.Uint32N(2))
			}
			v.Ptr = append(v.Ptr, uint32(len(v.Other)))
		}
		cells = append(cells, v)
	}
	rows := len(degrees)
	src, far := make([]float32, 20), make([]float32, 20*wide)
	for i := range src {
		src[i] = r.Float32()*2 - 1
	}
	x := kernel.Leaf{From: kernel.Other, Operand: 0, Cols: 1, LD: 1, Reg: 0}
	w := kernel.Leaf{From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1, Reg: 1}
	y := kernel.Leaf{From: kernel.Other, Operand: 1, Cols: wide, LD: wide, Reg: 5}
	instrs := []kernel.Instr{{Op: "widen", Role: kernel.Widen, Fn: ops["widen"].strip, Dst: 2, In: []int{1}}, {Op: "mul", Role: kernel.Mul, Fn: ops["mul"].strip, Dst: 3, In: []int{0, 2}},
		{Op: "mul", Role: kernel.Mul, Fn: ops["mul"].strip, Dst: 4, In: []int{0, 0}}}
	for name, o := range map[string]kernel.Out{
		"weighted rows": {Acc: kernel.Sum, Reg: 3}, "squares": {Acc: kernel.Sum, Reg: 4},
		"sums by type": {Acc: kernel.Sum, Reg: 4, Key: kernel.ByType, Blocks: 2}, "sums of exponentials": {Acc: kernel.SumExp, Reg: 4},
		"sums over edges": {Acc: kernel.SumRows, Reg: 4},
	} {
		o.Operand, o.Aux, o.LD = 2, -1, max(1, o.Blocks)
		if o.Acc == kernel.SumExp {
			o.Aux, o.AuxLD = 3, 1
		}
		alone := &kernel.Program{Name: name, Edges: true, Operands: 5, Widths: []int{1, 1, 1, 1, 1},
			Leaves: []kernel.Leaf{x, w}, Instrs: instrs, Outs: []kernel.Out{o}}
		beside := *alone
		beside.Widths = append(alone.Widths, wide, wide)
		beside.Leaves = append(alone.Leaves, y)
		beside.Instrs = append(alone.Instrs[:3:3], kernel.Instr{Op: "mul", Role: kernel.Mul, Fn: ops["mul"].strip, Dst: 6, In: []int{5, 5}})
		beside.Outs = append(alone.Outs, kernel.Out{Acc: kernel.Sum, Reg: 6, Operand: 4, Aux: -1, LD: wide})
		var got [2][]float32
		for k, p := range []*kernel.Program{alone, &beside} {
			got[k] = make([]float32, 2*rows)
			bufs := [][]float32{src, far, got[k], make([]float32, rows), make([]float32, rows*wide)}
			var launches []cpu.Launch
			for c := range cells {
				launches = append(launches, cpu.Launch{Rows: rows, Bufs: bufs, Cell: &cells[c], First: c == 0})
			}
			run(t, p, launches)
		}
		for i, a := range got[0] {
			if b := got[1][i]; math.Float32bits(a) != math.Float32bits(b) {
				t.Errorf("%s, number %d: %v alone, %v beside a wide sum", name, i, a, b)
			}
		}
	}
}
