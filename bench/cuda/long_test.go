package cuda

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"

	"sagann/backend"
	"sagann/device"
	"sagann/device/launch"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// longPattern is what rows of long sums repeat, as in kernel/cpu/long_sums_test.go.
var longPattern = [4][4]float32{{1, 0.1, 0.3, 0.6}, {1, 0.1, -0.7, 0.6}, {1, 0.1, 0.3, 0.6}, {1, 0.1, -0.2, 0.6}}

// longTerms is 2²⁴, or 10⁸ with SAGA_SOAK=1.
func longTerms() int {
	if os.Getenv("SAGA_SOAK") != "" {
		return 100_000_000
	}
	return 1 << 24
}

func longClose(t *testing.T, what string, got float32, want, size float64) {
	t.Helper()
	err := math.Abs(float64(got)-want) / size
	t.Logf("%s: %v, want %.9g, off by %.2g of Σ|terms|", what, got, want, err)
	if !(err <= 1e-5) {
		t.Errorf("%s: %v, want %v: off by %.2g of Σ|terms|", what, got, want, err)
	}
}

// longRun is memory and a queue of a GPU for one program.
type longRun struct {
	*edgeBench
	t       *testing.T
	c       *cuda.Program
	kernels []*launch.Kernel
}

// commands are those of a launch.
func (r *longRun) commands(l *kernel.GPULaunch) []device.Command {
	r.t.Helper()
	list, err := backend.Commands(r.c.Steps(l), r.kernels, false)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func newLongRun(t *testing.T, d device.GPU, p *kernel.Program) *longRun {
	t.Helper()
	c, err := cuda.Render(p, backend.Of("cuda").ChipOf(d.Info()))
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := backend.Compile(d, c.Text())
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue("compute")
	if err != nil {
		t.Fatal(err)
	}
	return &longRun{&edgeBench{dev: d, q: q}, t, c, kernels}
}

func (r *longRun) put(b []byte, n int64) uint64 {
	r.t.Helper()
	at, err := r.edgeBench.put(b, n)
	if err != nil {
		r.t.Fatal(err)
	}
	return at
}

// launch runs launches twice, from zeroed results held in memories out, and gives what is
// in these; both runs must give the same bits.
func (r *longRun) launch(name string, list []device.Command, out []int, sizes []int) (got [][]float32) {
	r.t.Helper()
	held := slices.Clone(r.held)
	var before [][]float32
	for range 2 {
		got = nil
		for i, k := range out {
			if err := r.dev.CopyH2D(r.q, held[k], 0, raw(make([]float32, sizes[i]))); err != nil {
				r.t.Fatal(err)
			}
		}
		b, err := r.dev.Prepare(list)
		if err != nil {
			r.t.Fatal(err)
		}
		if err := r.dev.Launch(r.q, device.GPUFunc(name, func(device.GPU) (device.Batch, error) { return b, nil })); err != nil {
			r.t.Fatal(err)
		}
		for i, k := range out {
			x := make([]float32, sizes[i])
			if err := r.dev.CopyD2H(r.q, raw(x), held[k], 0); err != nil {
				r.t.Fatal(err)
			}
			got = append(got, x)
		}
		if err := r.dev.Sync(); err != nil {
			r.t.Fatal(err)
		}
		for i := range before {
			if !bytes.Equal(raw(before[i]), raw(got[i])) {
				r.t.Errorf("%s: two runs differ: %v and %v", name, before[i][:4], got[i][:4])
			}
		}
		before = got
	}
	return got
}

// TestLongGathers sums the edges of a row on a GPU: sums, weighted sums and sums of exponentials of
// 2²⁴ edges, which a block has, and of 16,000, which a warp has, in one cell and in four.
func TestLongGathers(t *testing.T) {
	d, err := device.OpenCUDA(0, 4<<30)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	for _, cells := range []int{1, 4} {
		for _, p := range longPrograms(4) {
			longGather(t, d.(device.GPU), p, longTerms()/cells, 64, cells)
			longGather(t, d.(device.GPU), p, 16000/cells, 2, cells)
		}
		for _, p := range longPrograms(128) { // a warp takes one edge at a time
			longGather(t, d.(device.GPU), p, 16000/cells, 2, cells)
			longGather(t, d.(device.GPU), p, 1<<20/cells, 64, cells)
		}
	}
}

// longPrograms gather rows of so many columns.
func longPrograms(cols int) []*kernel.Program {
	leaf := kernel.Leaf{From: kernel.Other, Operand: 0, Cols: cols, LD: cols, Reg: 0}
	sum := kernel.Out{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: cols}
	scaled, exps := sum, sum
	scaled.Reg = 3
	exps.Acc, exps.Aux, exps.AuxLD = kernel.SumExp, 2, cols
	list := []*kernel.Program{
		{Name: "rows", Widths: []int{cols}, Leaves: []kernel.Leaf{leaf}, Outs: []kernel.Out{sum}},
		{Name: "weighted", Widths: []int{cols, 1, cols, cols},
			Leaves: []kernel.Leaf{leaf, {From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1, Reg: 1}},
			Instrs: []kernel.Instr{{Op: "widen", Role: kernel.Widen, Dst: 2, In: []int{1}, I: int32(cols)}, {Op: "mul", Role: kernel.Mul, CUDA: "$0 * $1", Dst: 3, In: []int{0, 2}}},
			Outs:   []kernel.Out{scaled}},
		{Name: "exponentials", Widths: []int{cols}, Leaves: []kernel.Leaf{leaf}, Outs: []kernel.Out{exps}},
	}
	for _, p := range list {
		p.Edges, p.Operands = true, 3
	}
	return list
}

// longGather gathers n edges in each of some cells. All rows but the last have one edge:
// where they are many, the last has so many times the mean that a block has it.
func longGather(t *testing.T, d device.GPU, p *kernel.Program, n, rows, cells int) {
	cols := p.Widths[0]
	r := newLongRun(t, d, p)
	defer r.close()
	far, weight := make([]uint32, n), make([]float32, n)
	for i := range far {
		far[i], weight[i] = uint32(i%4), 0.6
	}
	var src []float32
	for _, x := range longPattern {
		for c := range cols {
			src = append(src, x[c%4])
		}
	}
	ptr := []uint32{0}
	for range rows - 1 {
		ptr = append(ptr, ptr[len(ptr)-1]+1)
	}
	ptr = append(ptr, ptr[len(ptr)-1]+uint32(n-rows+1))
	bufs := []uint64{r.put(raw(src), int64(len(src)*4)), r.put(nil, int64(rows*cols*4)), r.put(nil, int64(rows*cols*4))}
	cell := &kernel.GPUCell{Ptr: ptr, PtrAt: r.put(raw(ptr), int64(len(ptr)*4)), Other: r.put(raw(far), int64(n*4)), Weight: r.put(raw(weight), int64(n*4))}
	for _, way := range []kernel.GatherWay{kernel.ByCell, kernel.WarpWhole} {
		var list []device.Command
		for k := range cells {
			l := &kernel.GPULaunch{Rows: rows, Bufs: bufs, Cell: cell, First: k == 0, Last: k == cells-1, Gather: way}
			list = append(list, r.commands(l)...)
		}
		got := r.launch(p.Name, list, []int{1}, []int{rows * cols})[0][rows*cols-4:]
		for c := range 4 {
			want, size, total, top := 0.0, 0.0, 0.0, 0.0
			for _, r := range longPattern {
				top = max(top, float64(r[c]))
			}
			for i := range n {
				if i < rows-1 {
					continue
				}
				x := float64(longPattern[i%4][c])
				if p.Name == "weighted" {
					x *= float64(float32(0.6))
				}
				want, size, total = want+x*float64(cells), size+math.Abs(x)*float64(cells), total+math.Exp(x-top)*float64(cells)
			}
			if p.Name == "exponentials" {
				longClose(t, p.Name, got[c], total, total)
			} else {
				longClose(t, p.Name, got[c], want, size)
			}
		}
	}
}

// TestLongReductions sums rows on a GPU into Globals that carry: rows, products, by key.
func TestLongReductions(t *testing.T) {
	d, err := device.OpenCUDA(0, 8<<30)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	for _, parts := range []int{1, 8} {
		rows := longTerms() / 8 / parts * 8
		p := &kernel.Program{Name: "reductions", Operands: 5, Widths: []int{4, 1},
			Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: 4, LD: 4, Reg: 0}, {From: kernel.Own, Operand: 1, Cols: 1, LD: 1, Reg: 1}},
			Outs: []kernel.Out{{Acc: kernel.SumRows, Reg: 0, Operand: 2, Aux: -1, LD: 4, Carry: true},
				{Acc: kernel.SumTN, Reg: 0, Reg2: 0, Operand: 3, Aux: -1, LD: 4, Carry: true},
				{Acc: kernel.SumBy, Reg: 0, Reg2: 1, Operand: 4, Aux: -1, LD: 4, Blocks: 2}}}
		r := newLongRun(t, d.(device.GPU), p)
		x, key := make([]float32, 4*rows), make([]float32, rows)
		for i := range rows {
			copy(x[4*i:], longPattern[i%4][:])
			key[i] = float32(i % 2)
		}
		sizes := []int{8, 32, 8}
		bufs := []uint64{r.put(raw(x), int64(len(x)*4)), r.put(raw(key), int64(len(key)*4))}
		for _, n := range sizes {
			bufs = append(bufs, r.put(nil, int64(4*n)))
		}
		scratch := r.put(nil, r.c.Scratch(rows, 0))
		var list []device.Command
		for range parts {
			list = append(list, r.commands(&kernel.GPULaunch{Rows: rows, Bufs: bufs, Scratch: scratch})...)
		}
		got := r.launch(p.Name, list, []int{2, 3, 4}, sizes)
		n := float64(rows * parts)
		for c := range 4 {
			var want, size [2]float64
			var products, all [4]float64
			for i, y := range longPattern {
				want[i%2] += float64(y[c]) * n / 4
				size[i%2] += math.Abs(float64(y[c])) * n / 4
				for e := range 4 {
					products[e] += float64(y[c]) * float64(y[e]) * n / 4
					all[e] += math.Abs(float64(y[c])*float64(y[e])) * n / 4
				}
			}
			longClose(t, "rows", got[0][c], want[0]+want[1], size[0]+size[1])
			for e := range 4 {
				longClose(t, "products", got[1][4*c+e], products[e], all[e])
			}
			longClose(t, "by key", got[2][c], want[0], size[0])
			longClose(t, "by key", got[2][4+c], want[1], size[1])
		}
		r.close()
	}
}
