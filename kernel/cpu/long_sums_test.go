package cpu_test

import (
	"math"
	"os"
	"testing"

	"sagann/chunk"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// terms is how many terms the long sums have: 2²⁴, where float32 stops counting, 10⁸
// with SAGA_SOAK=1, and fewer for tools that look at each access.
func terms() int {
	if testing.Short() {
		return 1 << 20
	}
	if os.Getenv("SAGA_SOAK") != "" {
		return 100_000_000
	}
	return 1 << 24
}

// pattern is what rows repeat: equal terms, whose rounding errors all have one sign, and
// terms of both signs. The first column is 1, so that its sums count.
var pattern = [4][3]float32{{1, 0.1, 0.3}, {1, 0.1, -0.7}, {1, 0.1, 0.3}, {1, 0.1, -0.2}}

// allowed is the error that a sum of many terms may have, in parts of Σ|terms|.
const allowed = 1e-5

// closeTo checks number i of a sum against want, the sum of terms of size Σ|terms|.
func closeTo(t *testing.T, what string, got float32, want, size float64) {
	t.Helper()
	err := math.Abs(float64(got)-want) / size
	t.Logf("%s: %v, want %.9g, off by %.2g of Σ|terms|", what, got, want, err)
	if !(err <= allowed) {
		t.Errorf("%s: %v, want %v: off by %.2g of Σ|terms|, not %.0e", what, got, want, err, allowed)
	}
}

func run(t *testing.T, p *kernel.Program, launches []cpu.Launch) {
	t.Helper()
	c, err := cpu.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range launches {
		c.Run(&launches[i])
	}
}

// TestLongGathers sums the edges of one row, in one cell and in four: rows of the far end,
// with a weight, through a strip, by type, and their exponentials.
func TestLongGathers(t *testing.T) {
	n := terms()
	far, weight, kind := make([]uint32, n), make([]float32, n), make([]uint32, n)
	for i := range far {
		far[i], weight[i], kind[i] = uint32(i%4), 0.6, uint32(i%2)
	}
	var src, out []float32
	for _, r := range pattern {
		src = append(src, r[:]...)
	}
	leaf := kernel.Leaf{From: kernel.Other, Operand: 0, Cols: 3, LD: 3, Reg: 0}
	w := kernel.Leaf{From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1, Reg: 1}
	sum := kernel.Out{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: 3}
	scaled, keyed, exps := sum, sum, sum
	scaled.Reg = 3
	keyed.Key, keyed.Blocks, keyed.LD = kernel.ByType, 2, 6
	exps.Acc, exps.Aux, exps.AuxLD = kernel.SumExp, 2, 3
	mul := []kernel.Instr{{Op: "widen", Role: kernel.Widen, Fn: ops["widen"].strip, Dst: 2, In: []int{1}}, {Op: "mul", Role: kernel.Mul, Fn: ops["mul"].strip, Dst: 3, In: []int{0, 2}}}
	snap := []kernel.Instr{{Op: "mul", Role: kernel.Mul, Fn: ops["mul"].strip, Dst: 3, In: []int{0, 0}}}
	programs := []*kernel.Program{
		{Name: "rows", Widths: []int{3}, Leaves: []kernel.Leaf{leaf}, Outs: []kernel.Out{sum}},
		{Name: "weighted", Widths: []int{3, 1, 3, 3}, Leaves: []kernel.Leaf{leaf, w}, Instrs: mul, Outs: []kernel.Out{scaled}},
		{Name: "squares", Widths: []int{3, 1, 3, 3}, Leaves: []kernel.Leaf{leaf, w}, Instrs: snap, Outs: []kernel.Out{scaled}},
		{Name: "by type", Widths: []int{3}, Leaves: []kernel.Leaf{leaf}, Outs: []kernel.Out{keyed}},
		{Name: "exponentials", Widths: []int{3}, Leaves: []kernel.Leaf{leaf}, Outs: []kernel.Out{exps}},
	}
	for _, p := range programs {
		p.Edges, p.Operands = true, 3
		for _, cells := range []int{1, 4} {
			out = make([]float32, 6)
			bufs := [][]float32{src, out, make([]float32, 3)}
			var launches []cpu.Launch
			for c := range cells {
				lo, hi := n/cells*c, n/cells*(c+1)
				launches = append(launches, cpu.Launch{Rows: 1, Bufs: bufs, First: c == 0, Last: c == cells-1,
					Cell: &chunk.View{Ptr: []uint32{0, uint32(hi - lo)}, Other: far[lo:hi], Weight: weight[lo:hi], Type: kind[lo:hi]}})
			}
			run(t, p, launches)
			checkLongGather(t, p.Name, out, float64(n/cells*cells))
		}
	}
}

// checkLongGather compares what a program of TestLongGathers gave for n edges.
func checkLongGather(t *testing.T, name string, got []float32, n float64) {
	t.Helper()
	for c := range 3 {
		var want, size [2]float64 // by type
		exps, top := 0.0, math.Inf(-1)
		for _, r := range pattern {
			top = max(top, float64(r[c]))
		}
		for i, r := range pattern {
			x := float64(r[c])
			switch name {
			case "weighted":
				x *= float64(float32(0.6))
			case "squares":
				x *= x
			}
			want[i%2] += x * n / 4
			size[i%2] += math.Abs(x) * n / 4
			exps += math.Exp(x-top) * n / 4
		}
		switch name {
		case "by type":
			closeTo(t, name, got[c], want[0], size[0])
			closeTo(t, name, got[3+c], want[1], size[1])
		case "exponentials":
			closeTo(t, name, got[c], exps, exps)
		default:
			closeTo(t, name, got[c], want[0]+want[1], size[0]+size[1])
		}
	}
}

// TestLongReductions sums rows into Globals, in one launch and in 64: rows, products, and by
// a key that alternates.
func TestLongReductions(t *testing.T) {
	n := terms() / 64 * 64
	x, key := make([]float32, 3*n), make([]float32, n)
	for i := range n {
		copy(x[3*i:], pattern[i%4][:])
		key[i] = float32(i % 2)
	}
	p := &kernel.Program{Name: "reductions", Operands: 5, Widths: []int{3, 1},
		Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: 3, LD: 3, Reg: 0}, {From: kernel.Own, Operand: 1, Cols: 1, LD: 1, Reg: 1}},
		Outs: []kernel.Out{{Acc: kernel.SumRows, Reg: 0, Operand: 2, Aux: -1, LD: 3, Carry: true},
			{Acc: kernel.SumTN, Reg: 0, Reg2: 0, Operand: 3, Aux: -1, LD: 3, Carry: true},
			{Acc: kernel.SumBy, Reg: 0, Reg2: 1, Operand: 4, Aux: -1, LD: 3, Blocks: 2}}}
	for _, parts := range []int{1, 64} {
		bufs := [][]float32{nil, nil, make([]float32, 6), make([]float32, 18), make([]float32, 6)}
		var launches []cpu.Launch
		for k := range parts {
			rows := n / parts
			b := append([][]float32{x[3*k*rows : 3*(k+1)*rows], key[k*rows : (k+1)*rows]}, bufs[2:]...)
			launches = append(launches, cpu.Launch{Rows: rows, Bufs: b})
		}
		run(t, p, launches)
		for c := range 3 {
			var want, size [2]float64
			var products, sizes [3]float64
			for i, r := range pattern {
				want[i%2] += float64(r[c]) * float64(n/4)
				size[i%2] += math.Abs(float64(r[c])) * float64(n/4)
				for d := range 3 {
					y := float64(r[c]) * float64(r[d]) * float64(n/4)
					products[d] += y
					sizes[d] += math.Abs(y)
				}
			}
			closeTo(t, "rows", bufs[2][c], want[0]+want[1], size[0]+size[1])
			for d := range 3 {
				closeTo(t, "products", bufs[3][3*c+d], products[d], sizes[d])
			}
			closeTo(t, "by key", bufs[4][c], want[0], size[0])
			closeTo(t, "by key", bufs[4][3+c], want[1], size[1])
		}
	}
}

// TestManyLaunches adds to a Global more often than float32 can follow.
func TestManyLaunches(t *testing.T) {
	p := &kernel.Program{Name: "launches", Operands: 2, Widths: []int{1},
		Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: 1, LD: 1, Reg: 0}},
		Outs:   []kernel.Out{{Acc: kernel.SumRows, Reg: 0, Operand: 1, Aux: -1, LD: 1, Carry: true}}}
	const n = 20000
	sum := make([]float32, 2)
	launches := make([]cpu.Launch, n)
	for i := range launches {
		launches[i] = cpu.Launch{Rows: 1, Bufs: [][]float32{{0.1}, sum}}
	}
	run(t, p, launches)
	closeTo(t, "launches", sum[0], n*float64(float32(0.1)), n*float64(float32(0.1)))
}
