package cuda_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// gated is the gradient of a gate on edges, in f columns: two rows of far ends, two sums.
func gated(f, ld int) *kernel.Program {
	w := []int{f, f, f, f, f, f, f, f}
	return &kernel.Program{Name: "gated", Edges: true, Operands: 5, Widths: w,
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}, {From: kernel.Own, Operand: 1, Cols: f, LD: ld, Reg: 1},
			{From: kernel.Other, Operand: 2, Cols: f, LD: ld, Reg: 5}},
		Instrs: []kernel.Instr{{Dst: 2, In: []int{0, 1}, CUDA: "$0 + $1"}, {Dst: 3, In: []int{2}, CUDA: "saga_sigmoid($0)"},
			{Dst: 4, In: []int{3}, CUDA: "$0 * (1.f - $0)"}, {Dst: 6, In: []int{5, 4}, Role: kernel.Mul, CUDA: "$0 * $1"}, {Dst: 7, In: []int{5, 3}, Role: kernel.Mul, CUDA: "$0 * $1"}},
		Outs: []kernel.Out{{Acc: kernel.Sum, Reg: 6, Operand: 3, Aux: -1, LD: ld}, {Acc: kernel.Sum, Reg: 7, Operand: 4, Aux: -1, LD: ld}}}
}

// maxGrad is the gradient of a maximum of f columns.
func maxGrad(f, ld int) *kernel.Program {
	return &kernel.Program{Name: "max gradient", Edges: true, Operands: 3, Widths: []int{1, f, f, f, f, f},
		Leaves: []kernel.Leaf{{From: kernel.Cell, Array: kernel.Rank, Cols: 1, LD: 1, Reg: 0}, {From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 2},
			{From: kernel.Other, Operand: 1, Cols: f, LD: ld, Reg: 4}},
		Instrs: []kernel.Instr{{Dst: 1, In: []int{0}, Role: kernel.Widen}, {Dst: 3, In: []int{2, 1}, Role: kernel.Eq, CUDA: "($0 == $1 ? 1.f : 0.f)"},
			{Dst: 5, In: []int{4, 3}, Role: kernel.Mask, CUDA: "($1 != 0.f ? $0 : 0.f)"}},
		Outs: []kernel.Out{{Acc: kernel.Sum, Reg: 5, Operand: 2, Aux: -1, LD: ld}}}
}

// TestLaidEmulated: over rows of far ends that are laid out anew, sums have the bits that they have without, in all ways, whatever room there
// is: gated sums of two rows, and the gradient of a maximum whose edges' ranks have equal remainders, with infinities, NaN and far ends without a maximum.
func TestLaidEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	const rows = 40
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, f := range []int{33, 41, 128} {
		ld := (f + 7) / 8 * 8
		if f == 33 {
			ld = f
		}
		fill := func(rows int, of func(i int) float32) []float32 {
			x := make([]float32, rows*ld)
			for i := range x {
				x[i] = of(i)
			}
			return x
		}
		some := func(i int) float32 { return float32(i*2654435761>>7%1000)/250 - 2 }
		ranks := func(i int) float32 {
			if i%11 == 3 {
				return []float32{inf, nan, -1, 0.5, 1 << 24, float32(math.Copysign(0, -1))}[i%6]
			}
			return float32(i * 7919 % 71 * 3)
		}
		grad := func(i int) float32 {
			if i%97 == 5 {
				return []float32{inf, -inf, nan}[i%3]
			}
			return some(i + 3)
		}
		for _, x := range []struct {
			p    *kernel.Program
			bufs [][]float32
			room int64
		}{
			{gated(f, ld), [][]float32{fill(maxFar, some), fill(rows, some), fill(maxFar, grad), fill(rows, some), fill(rows, some)}, 128 * maxFar},
			{maxGrad(f, ld), [][]float32{fill(maxFar, ranks), fill(maxFar, grad), fill(rows, some)}, int64(8*f+512) * maxFar},
		} {
			for _, ways := range [][]kernel.GatherWay{{kernel.WarpSlice, kernel.WarpLaid}, {kernel.FewSlice, kernel.FewLaid}} {
				for _, room := range []int64{x.room, 3 * x.room} {
					t.Run(fmt.Sprintf("%s F=%d ways=%v room=%d", x.p.Name, f, ways, room), func(t *testing.T) {
						sameLaid(t, x.p, rows, []*chunk.Rect{maxCell(rows, 0, false), maxCell(rows, 5, true)}, x.bufs, ways, room)
					})
				}
			}
		}
	}
}

// sameLaid runs p over cells with and without rows laid out anew, and compares bits.
func sameLaid(t *testing.T, p *kernel.Program, rows int, cells []*chunk.Rect, bufs [][]float32, ways []kernel.GatherWay, room int64) {
	t.Helper()
	var got [2][][]float32
	for k, way := range ways {
		for _, x := range bufs {
			got[k] = append(got[k], slices.Clone(x))
		}
		l := &kernel.GPULaunch{Rows: rows, Gather: way, Far: maxFar, Room: room}
		emulate(t, p, cells, l, nil, got[k])
		c, err := cuda.Render(p, cuda.H200)
		if err != nil {
			t.Fatal(err)
		}
		l.Cell = &kernel.GPUCell{Ptr: cells[0].View().Ptr}
		steps := c.Steps(l)
		first, last := c.Names[steps[0].Func], c.Names[steps[max(0, len(steps)-2)].Func]
		if hubs := slices.Max(degrees(l.Cell.Ptr)) > 1024; hubs && last != []string{"gather_hub_beside", "won_beside"}[k] {
			t.Errorf("way %d leaves rows of many edges to %s", way, last)
		}
		if laid := strings.HasSuffix(first, "_lay"); laid != (k == 1) {
			t.Errorf("way %d begins with %s", way, first)
		}
	}
	for k := range bufs {
		for i, want := range got[0][k] {
			if x := got[1][k][i]; math.Float32bits(x) != math.Float32bits(want) && (x == x || want == want) {
				t.Fatalf("operand %d, number %d: %v, without %v", k, i, x, want)
			}
		}
		if o := p.Outs[0].Operand; k == o && slices.Equal(got[0][k], bufs[k]) {
			t.Error("nothing was summed")
		}
	}
}

// TestLaidManyEdges: terms of rows of many edges have the sums of the kernel for such rows, with columns taken at once and in two turns.
func TestLaidManyEdges(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	lengths := []int{700, 3, 0, 1601}
	for len(lengths) < 60 {
		lengths = append(lengths, 3)
	}
	c := &chunk.Rect{}
	c.Resize(len(lengths), 2472, chunk.Want{Rank: true}, 0)
	v, i := c.View(), 0
	for r, n := range lengths {
		for k := range n {
			v.Other[i], v.Rank[i] = uint32(k*31+r)%maxFar, float32(k%900)
			i++
		}
		v.Ptr[r+1] = uint32(i)
	}
	for _, f := range []int{36, 200} {
		fill := func(rows int, of func(i int) float32) []float32 {
			x := make([]float32, rows*f)
			for i := range x {
				x[i] = of(i)
			}
			return x
		}
		bufs := [][]float32{fill(maxFar, func(i int) float32 { return float32(i * 7919 % 900) }), fill(maxFar, func(i int) float32 { return float32(i%1000)/250 - 2 }),
			fill(len(lengths), func(i int) float32 { return float32(i % 7) })}
		sameLaid(t, maxGrad(f, f), len(lengths), []*chunk.Rect{c, c}, bufs, []kernel.GatherWay{kernel.WarpSlice, kernel.WarpLaid}, int64(8*f+512)*maxFar)
	}
}

// degrees are the lengths of rows.
func degrees(ptr []uint32) (list []uint32) {
	for i := range len(ptr) - 1 {
		list = append(list, ptr[i+1]-ptr[i])
	}
	return list
}

// TestLaid: rows of far ends are laid out anew where these have many edges, rows are many, and there is room: all slices of pairs at once, or as many as there is room for.
func TestLaid(t *testing.T) {
	pairs, won := gated(128, 128), maxGrad(128, 128)
	const far, mib = 200_000, 1 << 20
	chip := kernel.Chip{Processors: 132, Cache: 50 << 20}
	for _, x := range []struct {
		p           *kernel.Program
		edges, far  int
		room        int64
		least, most int64
	}{
		{pairs, 100 * far, far, 300 * mib, 120 * mib, 128 * mib},
		{pairs, 100 * far, far, 80 * mib, 3 * far * 128, 3*far*128 + 256},
		{pairs, 100 * far, far, 20 * mib, 0, 0},
		{pairs, 19 * far, far, 300 * mib, 0, 0},
		{pairs, 100 * far, 100_000, 300 * mib, 0, 0}, // slices of both rows are in the cache
		{won, 100 * far, far, 300 * mib, far * (128*8 + 512), far*(128*8+512) + 256},
		{won, 100 * far, far, 292 * mib, 0, 0},
	} {
		if n := cuda.Need(x.p, chip, x.room).Bytes(far, x.edges, x.far); n < x.least || n > x.most {
			t.Errorf("%s wants %d bytes of scratch memory for %d edges of %d far ends in %d", x.p.Name, n, x.edges, x.far, x.room)
		}
	}
	for _, x := range []struct {
		p           *kernel.Program
		rows, edges int
		room        int64
		want        string
	}{
		{pairs, far, 100, 300 * mib, "pair_lay 8, pair 8"},
		{pairs, far, 100, 80 * mib, "pair_lay 3, pair 3, pair_lay 3, pair 3, pair_lay 2, pair 2"},
		{pairs, far, 100, 20 * mib, "gather 4"},
		{pairs, far, 31, 300 * mib, "pair_lay 8, pair_few 8"},
		{pairs, far, 19, 300 * mib, "gather_few 4"},
		{pairs, 100_000, 100, 300 * mib, "gather 4"}, // slices of both rows are in the cache
		{won, far, 100, 300 * mib, "won_lay 1, won_4 1"},
		{won, far, 100, 292 * mib, "gather 4"},
		{won, far, 31, 300 * mib, "won_lay 1, won_1 1"},
		{won, far, 19, 300 * mib, "gather_few 4"},
	} {
		c, err := cuda.Render(x.p, chip)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range c.Steps(&kernel.GPULaunch{Rows: x.rows, Bufs: make([]uint64, 5), First: true, Last: true, Far: x.rows, Room: x.room,
			Cell: &kernel.GPUCell{Ptr: rowsOf(x.rows, x.edges)}}) {
			slices := int(s.Grid[1])
			for _, a := range s.Args {
				if c.Names[s.Func] == "pair_lay" && a.Name == "n" {
					slices = int(a.Value)
				}
			}
			got = append(got, fmt.Sprint(c.Names[s.Func], " ", slices))
		}
		if got := strings.Join(got, ", "); got != x.want {
			t.Errorf("%s, %d rows of %d edges, %d bytes: %s, want %s", x.p.Name, x.rows, x.edges, x.room, got, x.want)
		}
	}
}
