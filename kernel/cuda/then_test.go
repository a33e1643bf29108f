package cuda_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// thenPrograms are a gather of rows of f columns, what follows it, and both in one: the sum and padded rows, times a number of the row, where
// a column of the row is not zero. The result lies in operand 5 or in place of the sum.
func thenPrograms(f, ld int, place bool) (gather, rows, both *kernel.Program) {
	gather = &kernel.Program{Name: "sums", Edges: true, Operands: 7, Widths: []int{f},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
		Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: ld}}}
	rows = &kernel.Program{Name: "rows", Operands: 7, Widths: []int{f, f, f, f, f, 1, f, f, f},
		Leaves: []kernel.Leaf{{Operand: 1, Cols: f, LD: ld, Reg: 0}, {Operand: 2, Cols: f, LD: ld, Reg: 1, Padded: true}, {Operand: 3, Cols: f, LD: ld, Reg: 2},
			{Operand: 4, Cols: 1, LD: 1, Reg: 5}, {From: kernel.Global, Operand: 6, Cols: f, LD: f, Rows: 1, Spread: true, Reg: 7}},
		Instrs: []kernel.Instr{{Op: "add", Role: kernel.Plus, CUDA: "$0 + $1", Dst: 3, In: []int{1, 0}}, {Op: "widen", Role: kernel.Widen, Dst: 4, In: []int{5}},
			{Op: "mul", Role: kernel.Mul, CUDA: "$0 * $1", Dst: 6, In: []int{3, 4}}, {Op: "add", Role: kernel.Plus, CUDA: "$0 + $1 + (float)$C", Dst: 8, In: []int{6, 7}}},
		Outs: []kernel.Out{{Acc: kernel.Store, Reg: 9, Operand: 5, Aux: -1, LD: ld}}}
	rows.Widths = append(rows.Widths, f)
	rows.Instrs = append(rows.Instrs, kernel.Instr{Op: "mask", Role: kernel.Mask, CUDA: "($1 != 0.f ? $0 : 0.f)", Dst: 9, In: []int{8, 2}})
	g, r := *gather, *rows
	g.Then, g.Outs = &r, slices.Clone(g.Outs)
	if place {
		r.Outs = slices.Clone(r.Outs)
		r.Outs[0].Operand, g.Outs[0].Quiet = 1, true
	}
	return gather, rows, &g
}

// TestThenEmulated: a gather with what follows it gives the bits of the two programs one after the other, in all ways to gather, also over several cells and for rows
// without edges, of many and of very many, and for such that no cell lists; padded rows are zeros and need not be there.
func TestThenEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	few, long := maxCell(40, 0, false), &chunk.Rect{}
	degrees := []uint32{1500, 0, 1500, 1500, 12_000, 1500, 1500, 1500} // two rounds of a warp, and a block's row
	long.Resize(len(degrees), 21_000, chunk.Want{}, 0)
	for v, i := long.View(), 0; i < len(v.Other); i++ {
		v.Other[i] = uint32(i*7919) % maxFar
	}
	for i, n := range degrees {
		long.View().Ptr[i+1] = long.View().Ptr[i] + n
	}
	for _, f := range []int{5, 41, 128} {
		for k, cells := range [][]*chunk.Rect{{few}, {long}, {few, maxCell(40, 3, false)}, {few, few}} {
			rows := cells[0].Rows
			if k == 3 { // of which the row list leaves some out
				rows += 3
			}
			for _, place := range []bool{false, true} {
				for _, way := range []kernel.GatherWay{kernel.WarpSlice, kernel.WarpWhole, kernel.FewSlice, kernel.FewWhole} {
					t.Run(fmt.Sprintf("F=%d rows=%d cells=%d place=%v way=%d", f, rows, len(cells), place, way), func(t *testing.T) { sameThen(t, f, rows, cells, place, way) })
				}
			}
		}
	}
}

func sameThen(t *testing.T, f, rows int, cells []*chunk.Rect, place bool, way kernel.GatherWay) {
	ld := chunk.LD(f)
	live := rows / 2
	fill := func(n, by int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i*by%23-11) / 8
		}
		return x
	}
	bufs := [][]float32{fill(maxFar*ld, 7), fill(rows*ld, 3), fill(live*ld, 5), fill(rows*ld, 11), fill(rows, 13), fill(rows*ld, 17), fill(f, 19)}
	gather, after, both := thenPrograms(f, ld, place)
	run := func(p *kernel.Program, cells []*chunk.Rect, of [][]float32) [][]float32 {
		var got [][]float32
		for _, x := range of {
			got = append(got, slices.Clone(x))
		}
		emulate(t, p, cells, &kernel.GPULaunch{Rows: rows, Gather: way, Live: []int{0, 0, live, 0, 0, 0, 0}}, nil, got)
		return got
	}
	want, got := run(after, nil, run(gather, cells, bufs)), run(both, cells, bufs)
	if place {
		want[1], want[5] = want[5], bufs[5]
	}
	for k := range want {
		if !slices.Equal(columns(got[k], k, f, ld), columns(want[k], k, f, ld)) {
			t.Errorf("operand %d: %v, want %v", k, got[k], want[k])
		}
	}
}

// columns are those of operand k that belong to rows of f.
func columns(x []float32, k, f, ld int) (out []float32) {
	if k == 4 || k == 6 {
		return x
	}
	for at := 0; at < len(x); at += ld {
		out = append(out, x[at:at+f]...)
	}
	return out
}

// TestThenPairs: of a gather that has two results, the one that nothing but Then reads stays in registers, and the other one is written: ranks of
// maxima, and maxima beside sums of exponentials. Both are the CPU's.
func TestThenPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	const f, ld = 5, 8
	for _, acc := range []kernel.Acc{kernel.Max, kernel.SumExp} {
		gather := &kernel.Program{Name: "pairs", Edges: true, Operands: 4, Widths: []int{f},
			Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
			Outs:   []kernel.Out{{Acc: acc, Reg: 0, Operand: 1, LD: ld, Aux: 2, AuxLD: ld}}}
		both := *gather
		both.Outs = slices.Clone(gather.Outs)
		both.Outs[0].Quiet = true
		both.Then = &kernel.Program{Name: "rows", Operands: 4, Widths: []int{f, f}, Leaves: []kernel.Leaf{{Operand: 1, Cols: f, LD: ld, Reg: 0}},
			Instrs: []kernel.Instr{{Op: "add", Role: kernel.Plus, CUDA: "$0 + $1", Dst: 1, In: []int{0, 0}}},
			Outs:   []kernel.Out{{Acc: kernel.Store, Reg: 1, Operand: 3, Aux: -1, LD: ld}}}
		host, err := cpu.Compile(gather)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float32, maxFar*ld)
		for i := range x {
			x[i] = float32(i*7919%61-30) / 4
		}
		for k, cells := range [][]*chunk.Rect{{maxCell(40, 0, false)}, {maxCell(40, 0, false), maxCell(40, 3, true)}, {maxCell(40, 5, false)}} {
			rows := 40
			if k == 2 { // of which the row list leaves some out
				rows += 3
			}
			for _, way := range []kernel.GatherWay{kernel.WarpSlice, kernel.WarpWhole, kernel.FewSlice, kernel.FewWhole} {
				t.Run(fmt.Sprintf("acc=%d cells=%d rows=%d way=%d", acc, len(cells), rows, way), func(t *testing.T) {
					empty := func() []float32 { return slices.Repeat([]float32{-77}, rows*ld) }
					want, got := [][]float32{x, empty(), empty(), empty()}, [][]float32{x, empty(), empty(), empty()}
					for k, r := range cells {
						v := r.View()
						host.Run(&cpu.Launch{Rows: rows, Bufs: want[:3], Cell: &v, First: k == 0, Last: k == len(cells)-1})
					}
					emulate(t, &both, cells, &kernel.GPULaunch{Rows: rows, Gather: way}, nil, got)
					for i := range want[1] {
						if i%ld >= f {
							continue
						}
						if y, w := float64(got[3][i]), 2*float64(want[1][i]); got[2][i] != want[2][i] || !(math.Abs(y-w) <= 1e-5*math.Abs(w)) {
							t.Fatalf("row %d column %d: %v beside %v, want %v beside %v", i/ld, i%ld, y, got[2][i], w, want[2][i])
						}
					}
				})
			}
		}
	}
}
