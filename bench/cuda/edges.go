package main

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// An edgeBench holds one graph on the device, and the buffers of programs over it.
type edgeBench struct {
	dev  device.GPU
	q    device.Queue
	g    *csr
	cell kernel.GPUCell
	held []device.Mem
}

func newEdgeBench(d device.GPU, g *csr) (*edgeBench, error) {
	q, err := d.NewQueue("compute")
	if err != nil {
		return nil, err
	}
	e := &edgeBench{dev: d, q: q, g: g, cell: kernel.GPUCell{Ptr: g.ptr}}
	if e.cell.PtrAt, err = e.put(raw(g.ptr), int64(4*len(g.ptr))); err == nil {
		e.cell.Other, err = e.put(raw(g.other), int64(4*len(g.other)))
	}
	return e, err
}

func (e *edgeBench) close() {
	for _, m := range e.held {
		e.dev.Free(m)
	}
}

// put allocates bytes of device memory and copies b to its beginning. It begins at a multiple of
// 256, as the buffers of plans do, so that a slice of a row is one cache line.
func (e *edgeBench) put(b []byte, bytes int64) (uint64, error) {
	m, err := e.dev.Alloc((bytes + 255) &^ 255)
	if err != nil {
		return 0, err
	}
	e.held = append(e.held, m)
	if len(b) > 0 {
		if err := e.dev.CopyH2D(e.q, m, 0, b); err != nil {
			return 0, err
		}
	}
	return e.dev.Address(m)
}

// time is the median of twenty launches of p in milliseconds, after three warm-up launches.
func (e *edgeBench) time(p *kernel.Program, bufs ...uint64) (float64, error) {
	c, err := cuda.Render(p, cuda.H200)
	if err != nil {
		return 0, err
	}
	funcs, err := e.dev.Compile(c.Source, c.Names)
	if err != nil {
		return 0, err
	}
	return e.median(p.Name, funcs, c.Steps(&kernel.GPULaunch{Rows: len(e.g.ptr) - 1, Bufs: bufs, First: true, Last: true, Cell: &e.cell}), 20)
}

// median is the median of n launches of steps in milliseconds, after three warm-up launches.
func (e *edgeBench) median(name string, funcs []device.Function, steps []kernel.GPUStep, n int) (float64, error) {
	var list []device.Command
	for _, s := range steps {
		list = append(list, device.Command{Call: &device.Call{Func: funcs[s.Func], Grid: s.Grid, Block: s.Block, Shared: s.Shared, Args: s.Args, Beside: s.Beside}})
	}
	b, err := e.dev.Prepare(list)
	if err != nil {
		return 0, err
	}
	k := device.GPUFunc(name, func(device.GPU) (device.Batch, error) { return b, nil })
	var times []float64
	for i := range n + 3 {
		if i == 3 {
			e.dev.SetTrace(func(s device.Span) { times = append(times, ms(s.End-s.Start)) })
		}
		if err := e.dev.Launch(e.q, k); err != nil {
			return 0, err
		}
		if err := e.dev.Sync(); err != nil {
			return 0, err
		}
	}
	e.dev.SetTrace(nil)
	slices.Sort(times)
	return times[len(times)/2], nil
}

// columns is the leading dimension of rows of width f, in floats.
func columns(f int) int {
	if f < 32 {
		return (f + 7) &^ 7
	}
	return (f + 31) &^ 31
}

func noise(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*7+i/31)%1000)/1000 - 0.5
	}
	return x
}

// check compares ten rows of the last buffer with sums of rows of x.
func (e *edgeBench) check(x []float32, f, ld int) error {
	n := len(e.g.ptr) - 1
	y := make([]float32, n*ld)
	if err := e.dev.CopyD2H(e.q, raw(y), e.held[len(e.held)-1], 0); err != nil {
		return err
	}
	if err := e.dev.Sync(); err != nil {
		return err
	}
	for v := 0; v < n; v += n / 10 {
		for col := range f {
			want, size := 0.0, 0.0
			for _, u := range e.g.other[e.g.ptr[v]:e.g.ptr[v+1]] {
				want += float64(x[int(u)*ld+col])
				size += math.Abs(float64(x[int(u)*ld+col]))
			}
			if got := float64(y[v*ld+col]); !(math.Abs(got-want) <= 1e-5*size) {
				return fmt.Errorf("row %d column %d: %v, want %v", v, col, got, want)
			}
		}
	}
	return nil
}

// halves packs the rows of x, which have an even number of columns, as bfloat16, and rounds x to the
// same values.
func halves(x []float32) []uint32 {
	out := make([]uint32, len(x)/2)
	for i := range x {
		b := math.Float32bits(x[i])
		b = (b + 0x7fff + b>>16&1) & 0xffff0000 // round to nearest, ties to even
		x[i] = math.Float32frombits(b)
		out[i/2] |= b >> 16 << (16 * (i % 2))
	}
	return out
}

func sumProgram(f, ld int) *kernel.Program {
	return &kernel.Program{Name: "gather-sum", Edges: true, Operands: 2, Widths: []int{f},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
		Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: ld}}}
}

// gatherSum is the median time in ms of the rendered gather-sum with width f; with half, of rows of
// bfloat16. Ten rows of the result are checked.
func (b *bench) gatherSum(g *csr, f int, half bool) (float64, error) {
	e, err := newEdgeBench(b.dev, g)
	if err != nil {
		return 0, err
	}
	defer e.close()
	ld := columns(f)
	x := noise((len(g.ptr) - 1) * ld)
	p, rows := sumProgram(f, ld), raw(x)
	if half {
		p.Leaves[0].Half, p.Leaves[0].LD = true, ld/2
		rows = raw(halves(x))
	}
	in, err := e.put(rows, int64(len(rows)))
	if err != nil {
		return 0, err
	}
	out, err := e.put(nil, int64(4*len(x)))
	if err != nil {
		return 0, err
	}
	t, err := e.time(p, in, out)
	if err != nil {
		return 0, err
	}
	return t, e.check(x, f, ld)
}

// standalone times Scatter, which copies the row of its source to every edge, and Gather, which sums
// the edges' rows, with edge rows in memory. It also times a copy of as many bytes.
func (b *bench) standalone(g *csr, f int) error {
	e, err := newEdgeBench(b.dev, g)
	if err != nil {
		return err
	}
	defer e.close()
	v, n, ld := len(g.ptr)-1, len(g.other), columns(f)
	x := noise(v * ld)
	in, err := e.put(raw(x), int64(4*len(x)))
	if err != nil {
		return err
	}
	rows, err := e.put(nil, 4*int64(n)*int64(ld))
	if err != nil {
		return err
	}
	out, err := e.put(nil, int64(4*len(x)))
	if err != nil {
		return err
	}
	scatter := &kernel.Program{Name: "scatter", Edges: true, Operands: 2, Widths: []int{f},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
		Outs:   []kernel.Out{{Acc: kernel.Store, Reg: 0, Operand: 1, Aux: -1, LD: ld}}}
	gather := sumProgram(f, ld)
	gather.Leaves[0].From = kernel.EdgeBuf
	ts, err := e.time(scatter, in, rows)
	if err != nil {
		return err
	}
	tg, err := e.time(gather, rows, out)
	if err != nil {
		return err
	}
	if err := e.check(x, f, ld); err != nil {
		return fmt.Errorf("scatter and gather: %w", err)
	}
	copied, err := copyRate(b.dev, e.q)
	if err != nil {
		return err
	}
	edges, vertices := 4*float64(n)*float64(f), 4*float64(v)*float64(f)
	fmt.Printf("device copy: %.0f GB/s read and written\n", copied)
	fmt.Printf("scatter, E=%d F=%d: %.3f ms, %.0f GB/s of edge rows read and written, %.1f %% of the copy\n",
		n, f, ts, 2*edges/ts/1e6, 100*2*edges/ts/1e6/copied)
	fmt.Printf("gather, E=%d F=%d: %.3f ms, %.0f GB/s of edge rows read and own rows written, %.1f %% of the copy\n",
		n, f, tg, (edges+vertices)/tg/1e6, 100*(edges+vertices)/tg/1e6/copied)
	return nil
}

// copyRate is the rate of copies within the device, in GB/s of bytes read and written.
func copyRate(d device.GPU, q device.Queue) (float64, error) {
	const bytes = 1 << 30
	a, err := d.Alloc(2 * bytes)
	if err != nil {
		return 0, err
	}
	defer d.Free(a)
	var times []float64
	for i := range 13 {
		if i == 3 {
			d.SetTrace(func(s device.Span) { times = append(times, ms(s.End-s.Start)) })
		}
		if err := d.CopyD2D(q, a, 0, d, a, bytes, bytes); err != nil {
			return 0, err
		}
	}
	if err := d.Sync(); err != nil {
		return 0, err
	}
	d.SetTrace(nil)
	slices.Sort(times)
	return 2 * bytes / times[len(times)/2] / 1e6, nil
}

func raw[T uint32 | float32](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
