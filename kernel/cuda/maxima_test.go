package cuda_test

import (
	"fmt"
	"math"
	"testing"

	"sagann/chunk"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// maxFar is the rows of the far interval of cellOf.
const maxFar = 50

// maxCell is a cell of rows of few and of many edges. Ranks ascend in a row, unless turned; those of different cells
// differ.
func maxCell(rows, seed int, turned bool) *chunk.Rect {
	degrees := []int{0, 1, 2, 3, 5, 17, 33, 4, 8, 70}
	c := cellOf(rows, seed, chunk.Want{Rank: true}, func(r int) int { return degrees[(r*5+r/7+seed)%len(degrees)] })
	v := c.View()
	for r := range rows {
		first, n := int(v.Ptr[r]), int(v.Ptr[r+1]-v.Ptr[r])
		for k := range n {
			rank := k
			if turned {
				rank = n - 1 - k
			}
			v.Rank[first+k] = float32(rank*3 + seed)
		}
	}
	return c
}

// cellOf is a cell of so many rows, each of so many edges from vertices all over the far interval.
func cellOf(rows, seed int, want chunk.Want, degree func(r int) int) *chunk.Rect {
	n := 0
	for r := range rows {
		n += degree(r)
	}
	c := &chunk.Rect{}
	c.Resize(rows, int64(n), want, 0)
	v, i := c.View(), 0
	for r := range rows {
		v.Ptr[r] = uint32(i)
		for range degree(r) {
			v.Other[i] = uint32(i*7919+i/301+seed*13) % maxFar
			i++
		}
	}
	v.Ptr[rows] = uint32(i)
	return c
}

// TestMaximaEmulated: maxima of few different numbers, infinities and NaN among them, and their ranks are the CPU's to
// the number, whatever the order of cells and whether ranks ascend in rows and kernels know it.
func TestMaximaEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	const rows = 60
	inf, nan, minus := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	numbers := [][]float32{{-inf, -1, minus, 0, 0, minus, 1, -inf}, {-inf, -inf, -inf, -1}, {0, minus}, {-1, 0, 1, inf, nan, -inf, 2, 2}}
	for _, f := range []int{1, 8, 32} {
		for _, ascend := range []bool{false, true} {
			ld := (f + 7) / 8 * 8
			p := &kernel.Program{Name: "maximum", Edges: true, Operands: 3, Widths: []int{f}, Ascend: ascend,
				Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
				Outs:   []kernel.Out{{Acc: kernel.Max, Reg: 0, Operand: 1, Aux: 2, LD: ld, AuxLD: ld}}}
			for k, of := range numbers {
				x := make([]float32, maxFar*ld)
				for i := range x {
					x[i] = of[(i*2654435761>>7)%len(of)]
				}
				for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
					var cells []*chunk.Rect
					for _, seed := range order {
						cells = append(cells, maxCell(rows, seed, !ascend && seed == 1))
					}
					for _, way := range []kernel.GatherWay{kernel.WarpWhole, kernel.FewWhole} {
						t.Run(fmt.Sprintf("F=%d ascend=%v numbers=%d cells=%v way=%d", f, ascend, k, order, way), func(t *testing.T) {
							sameMaxima(t, p, cells, rows, x, way)
						})
					}
				}
			}
		}
	}
}

// sameMaxima runs p over cells on an emulated GPU and on the CPU.
func sameMaxima(t *testing.T, p *kernel.Program, cells []*chunk.Rect, rows int, x []float32, way kernel.GatherWay) {
	host, err := cpu.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	f, ld := p.Widths[0], p.Outs[0].LD
	want := [][]float32{x, make([]float32, rows*ld), make([]float32, rows*ld)}
	got := [][]float32{x, make([]float32, rows*ld), make([]float32, rows*ld)}
	for k, r := range cells {
		v := r.View()
		host.Run(&cpu.Launch{Rows: rows, Bufs: want, Cell: &v, First: k == 0, Last: k == len(cells)-1})
	}
	emulate(t, p, cells, &kernel.GPULaunch{Rows: rows, Gather: way}, nil, got)
	for k := 1; k < 3; k++ {
		for i, w := range want[k] {
			if x := got[k][i]; i%ld < f && x != w && (x == x || w == w) {
				t.Fatalf("row %d column %d of operand %d: %v, want %v", i/ld, i%ld, k, x, w)
			}
		}
	}
}
