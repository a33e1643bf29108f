package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/device/launch"
	"sagann/kernel"
)

// This file measures the rates of a GPU that a machine model has: copies in its memory, gathers of rows that are in its
// cache and of rows that are not, dense products, and what kernels and copies take beside their work.

const (
	measuredEdges = 1 << 24 // of a gather
	measuredCols  = 128     // floats of a row
	measureTimes  = 7       // of which the median counts, after two that do not
	measureCalls  = 400     // of a small kernel, one after the other
	gatherSlice   = 128     // bytes of a row that a gather reads at a time
)

// measureText fills memory with numbers that look random, makes lists of far ends and rows of equal length, and has a
// kernel that does almost nothing.
const measureText = `
__device__ unsigned mixed(unsigned x) {
	x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
	return x;
}
extern "C" __global__ void saga_noise(float *a, unsigned long long n) {
	for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x)
		a[i] = (float)mixed((unsigned)i) * 2.3283064e-10f - 0.5f;
}
extern "C" __global__ void saga_rows(unsigned *ptr, unsigned *other, unsigned long long rows, unsigned long long degree) {
	unsigned long long n = rows * degree;
	for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x) {
		other[i] = (unsigned)(((unsigned long long)mixed((unsigned)i) * rows) >> 32);
		if (i <= rows) ptr[i] = (unsigned)(i * degree);
	}
}
extern "C" __global__ void saga_tiny(float *a) { if (threadIdx.x == 0) a[blockIdx.x] = threadIdx.x; }
`

// gauge measures one GPU.
type gauge struct {
	kind  *backend.Kind
	dev   device.GPU
	q     device.Queue
	mem   device.Mem
	at    uint64
	text  []*launch.Kernel // of measureText
	times []float64        // of launches, in seconds
}

// rows of the gathers: slices of all of them take an eighth of the cache, all of it, and two and a half times that.
func measuredRows(cache int64) [3]int {
	n := int(max(cache, 4<<20) / gatherSlice)
	return [3]int{n / 8, n, n / 2 * 5}
}

// gaugeBytes is the memory that measuring a GPU of that cache takes.
func gaugeBytes(cache int64) int64 {
	rows := int64(measuredRows(cache)[2])
	return 2*rows*4*measuredCols + 4*measuredEdges + 4*rows + 1<<20
}

// measureKind is base with the rates of GPU number index; about is the source of every one.
func measureKind(kind *backend.Kind, index int, total int64, base sim.DeviceKind, about string) (k sim.DeviceKind, err error) {
	const most = 60 << 20 // bytes of cache: what the largest has of these measured
	d, err := device.OpenCUDA(index, gaugeBytes(most))
	if err != nil {
		return base, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	g := &gauge{kind: kind}
	var ok bool
	if g.dev, ok = d.(device.GPU); !ok {
		return base, fmt.Errorf("%v is no GPU", d.Info())
	}
	err = g.open(gaugeBytes(most))
	defer func() { err = errors.Join(err, d.Sync(), d.Free(g.mem)) }()
	if err != nil {
		return base, err
	}
	return g.rates(base, total, min(most, cmp.Or(d.Info().Cache, int64(base.Cache.Value))), about)
}

func (g *gauge) open(bytes int64) (err error) {
	if g.q, err = g.dev.NewQueue("compute"); err != nil {
		return err
	}
	if g.mem, err = g.dev.Alloc(bytes); err != nil {
		return err
	}
	if g.at, err = g.dev.Address(g.mem); err != nil {
		return err
	}
	if g.text, err = launch.Compile(g.dev, measureText, []string{"saga_noise", "saga_rows", "saga_tiny"}); err != nil {
		return err
	}
	noise, err := g.call(0, 2048, 256, kernel.GPUAt("a", g.at), kernel.GPUNumber("n", bytes/4))
	if err != nil {
		return err
	}
	return g.do(1, noise)
}

// call is a launch of a kernel of measureText.
func (g *gauge) call(k int, blocks, threads uint32, args ...kernel.GPUArg) (device.Command, error) {
	return backend.Call(g.text[k], [3]uint32{blocks, 1, 1}, threads, 0, args)
}

// do launches commands so many times and notes the time of each launch.
func (g *gauge) do(times int, list ...device.Command) error {
	b, err := g.dev.Prepare(list)
	if err != nil {
		return err
	}
	defer g.dev.Release(b)
	k := device.GPUFunc("measure", func(device.GPU) (device.Batch, error) { return b, nil })
	return g.timed(times, func() error { return g.dev.Launch(g.q, k) })
}

func (g *gauge) timed(times int, f func() error) error {
	g.times = g.times[:0]
	g.dev.SetTrace(func(s device.Span) { g.times = append(g.times, (s.End - s.Start).Seconds()) })
	for range times {
		if err := errors.Join(f(), g.dev.Sync()); err != nil {
			return err
		}
	}
	g.dev.SetTrace(nil)
	return nil
}

// median is the median time in seconds of commands, after two runs that do not count.
func (g *gauge) median(list ...device.Command) (float64, error) {
	err := g.do(2+measureTimes, list...)
	return g.middle(), err
}

func (g *gauge) middle() float64 {
	if len(g.times) < 3 {
		return math.NaN()
	}
	t := slices.Clone(g.times[2:])
	slices.Sort(t)
	return t[len(t)/2]
}

// rates measures all.
func (g *gauge) rates(k sim.DeviceKind, total, cache int64, about string) (sim.DeviceKind, error) {
	number := func(value float64, unit, what string) sim.Number {
		return sim.Number{Value: value, Unit: unit, Source: about + ": " + what}
	}
	k.Memory = number(float64(total), "B", "what the driver reports")
	const block = 256 << 20
	if err := g.timed(2+measureTimes, func() error { return g.dev.CopyD2D(g.q, g.mem, 0, g.dev, g.mem, block, block) }); err != nil {
		return k, err
	}
	k.Bandwidth = number(2*block/g.middle(), "B/s", "copies of 256 MiB in device memory, read plus written")
	if err := g.gathers(&k, cache, number); err != nil {
		return k, err
	}
	if err := g.products(&k, number); err != nil {
		return k, err
	}
	tiny, err := g.call(2, 1, 32, kernel.GPUAt("a", g.at))
	if err != nil {
		return k, err
	}
	t, err := g.median(slices.Repeat([]device.Command{tiny}, measureCalls)...)
	k.Launch = number(t/measureCalls, "s", fmt.Sprintf("%d kernels that do almost nothing, one after the other", measureCalls))
	return k, err
}

// gathers measures sums of rows over uniform edges, for three numbers of rows. Rates are those of rows in the cache, of others,
// and the bytes of the cache, that fit the three.
func (g *gauge) gathers(k *sim.DeviceKind, cache int64, number func(float64, string, string) sim.Number) error {
	ld := measuredCols
	p := &kernel.Program{Name: "gather-sum", Edges: true, Operands: 2, Widths: []int{ld},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: ld, LD: ld, Reg: 0}},
		Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: ld}}}
	r, err := g.kind.Renderer.Render(p, g.kind.ChipOf(g.dev.Info()))
	if err != nil {
		return err
	}
	kernels, err := backend.Compile(g.dev, r.Text())
	if err != nil {
		return err
	}
	var slow, size [3]float64 // seconds a byte, and bytes of a slice of all rows
	for i, rows := range measuredRows(cache) {
		bytes := uint64(rows) * 4 * measuredCols
		degree := measuredEdges / rows
		ptr := g.at + 2*bytes
		other := (ptr + 4*uint64(rows+1) + 255) &^ 255
		fill, err := g.call(1, 2048, 256, kernel.GPUAt("ptr", ptr), kernel.GPUAt("other", other), kernel.GPUNumber("rows", rows), kernel.GPUNumber("degree", degree))
		if err != nil {
			return err
		}
		if err := g.do(1, fill); err != nil {
			return err
		}
		cell := &kernel.GPUCell{PtrAt: ptr, Other: other, Rows: rows, NNZ: rows * degree, Most: degree}
		list, err := backend.Commands(r.Steps(&kernel.GPULaunch{Rows: rows, Bufs: []uint64{g.at, g.at + bytes}, First: true, Last: true, Cell: cell}), kernels, false)
		if err != nil {
			return err
		}
		t, err := g.median(list...)
		if err != nil {
			return err
		}
		slow[i], size[i] = t/(float64(rows*degree)*4*measuredCols), float64(rows*gatherSlice)
	}
	hit, miss, held := fitGathers(slow, size, float64(cache))
	what := fmt.Sprintf("fits gather-sums of %d uniform edges over rows of %d floats, of which slices take %.1f, %.1f and %.1f MB, at %.0f, %.0f and %.0f GB/s",
		measuredEdges, measuredCols, size[0]/1e6, size[1]/1e6, size[2]/1e6, 1e-9/slow[0], 1e-9/slow[1], 1e-9/slow[2])
	k.GatherPacked.Value *= k.GatherHit.Value / hit
	if k.GatherPacked.Value > 0 {
		k.GatherPacked.Source = fmt.Sprintf("not measured: scaled by gather_hit; %s", k.GatherPacked.Source)
	}
	k.GatherHit, k.GatherMiss, k.Cache = number(hit, "B/s", what), number(miss, "B/s", what), number(held, "B", what)
	return nil
}

// fitGathers solves slow = h/hit + (1-h)/miss with h the share of the slices that the cache holds, all of the first. Where noise
// gives no sense, the cache holds two thirds of what the driver says.
func fitGathers(slow, size [3]float64, cache float64) (hit, miss, held float64) {
	a := slow[0]
	c := (slow[2] - slow[1]) / (1/size[1] - 1/size[2])
	x := slow[1] + c/size[1]
	held = c / (x - a)
	if !(x > a && held > cache/4 && held <= size[1]) {
		held = cache / 3 * 2
		h := held / size[2]
		x = max(a, (slow[2]-h*a)/(1-h))
	}
	return 1 / a, 1 / x, held
}

// products measures dense products of many rows in single precision, of a square matrix in TF32, and what products of few
// rows take in addition.
func (g *gauge) products(k *sim.DeviceKind, number func(float64, string, string) sim.Number) error {
	const calls, many = 8, 262144
	x, w, y := g.at, g.at+200<<20, g.at+320<<20
	time := func(m, from, to int, tf32 bool) (float64, error) {
		var list []device.Command
		for range calls {
			list = append(list, device.Command{Gemm: &device.Gemm{A: x, B: w, C: y, M: m, N: to, K: from, LDA: from, LDB: to, LDC: to, TF32: tf32}})
		}
		t, err := g.median(list...)
		return t / calls, err
	}
	t, err := time(many, measuredCols, measuredCols, false)
	if err != nil {
		return err
	}
	k.FP32 = number(2*many*measuredCols*measuredCols/t, "FLOP/s", "products of 262,144 rows, 128 to 128 columns")
	if err := g.grouped(k, many, number); err != nil {
		return err
	}
	perRow := t / many
	var more []float64
	for _, m := range []int{1100, 2200, 4400} {
		few, err := time(m, measuredCols, measuredCols, false)
		if err != nil {
			return err
		}
		more = append(more, few-perRow*float64(m))
	}
	slices.Sort(more)
	k.Product = number(max(0, more[1]), "s", "products of 1,100 to 4,400 rows, 128 to 128 columns, less their work at the rate of many rows: the median")
	const side = 4096
	if t, err = time(side, side, side, true); err != nil {
		return err
	}
	k.TF32 = number(max(k.FP32.Value, 2*side*side*side/t), "FLOP/s", "products of 4,096 rows and columns in TF32")
	return nil
}

// grouped measures the product of many rows as programs compute it, on a chip whose groups of warps multiply faster than the library.
func (g *gauge) grouped(k *sim.DeviceKind, many int, number func(float64, string, string) sim.Number) error {
	k.Products = sim.Number{}
	chip, n := g.kind.ChipOf(g.dev.Info()), measuredCols
	if !chip.Groups {
		return nil
	}
	p := &kernel.Program{Name: "product", Operands: 3, Widths: []int{n, n, n},
		Leaves: []kernel.Leaf{{From: kernel.Own, Operand: 0, Cols: n, LD: n, Reg: 0}, {From: kernel.Global, Operand: 1, Cols: n, LD: n, Rows: n, Reg: 1}},
		Instrs: []kernel.Instr{{Op: "matmul", Role: kernel.MatMul, Dst: 2, In: []int{0, 1}, I: int32(n)}},
		Outs:   []kernel.Out{{Acc: kernel.Store, Reg: 2, Operand: 2, Aux: -1, LD: n}}}
	r, err := g.kind.Renderer.Render(p, chip)
	if err != nil {
		return err
	}
	kernels, err := backend.Compile(g.dev, r.Text())
	if err != nil {
		return err
	}
	x, w, y := g.at, g.at+200<<20, g.at+320<<20
	list, err := backend.Commands(r.Steps(&kernel.GPULaunch{Rows: many, Bufs: []uint64{x, w, y}, Scratch: g.at + 201<<20}), kernels, false)
	if err != nil {
		return err
	}
	t, err := g.median(list...)
	if rate := 2 * float64(many*n*n) / t; rate > k.FP32.Value {
		k.Products = number(rate, "FLOP/s", "products of 262,144 rows, 128 to 128 columns, by kernels of groups of warps")
	}
	return err
}

// sinceText is a duration for people.
func sinceText(begun time.Time) string { return fmt.Sprintf("%.1f s", time.Since(begun).Seconds()) }
