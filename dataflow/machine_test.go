package dataflow

import (
	"math/rand/v2"
	"testing"
	"time"

	"sagann/chunk"
	"sagann/device"
	"sagann/internal/simd"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// BenchmarkMachine measures the rates that a machine file holds, on the CPU device,
// with the kernels that runs use:
//
//	go test ./dataflow -run '^$' -bench Machine -benchtime 2s
//
// It reports the best of all repetitions, which are kept to a few milliseconds: other
// work on the machine can only make them worse. What is meant to miss the caches
// walks through much more memory than one repetition touches. machines/cpu.json was
// filled from it.
func BenchmarkMachine(b *testing.B) {
	b.Run("fp32", func(b *testing.B) {
		const rows, in, out = 2048, 602, 256
		l := launch(rows, rows*in, in*out, rows*out)
		p := &kernel.Program{Name: "matmul", Operands: 3, Widths: []int{in, out, out},
			Leaves: []kernel.Leaf{{Cols: in, LD: in}, {From: kernel.Global, Operand: 1, Cols: out, LD: out, Rows: in, Reg: 1}},
			Instrs: []kernel.Instr{{Op: "matmul", Role: kernel.MatMul, Dst: 2, In: []int{0, 1}}},
			Outs:   []kernel.Out{{Reg: 2, Operand: 2, LD: out, Aux: -1}}}
		best(b, "GFLOP/s", 2*rows*in*out, runner(b, p, l))
	})
	b.Run("elementwise", func(b *testing.B) { // G-GCN's gate on rows that stay in the caches
		const rows, cols = 4096, 64
		l := launch(rows, rows*cols, rows*cols)
		p := &kernel.Program{Name: "gate", Operands: 2, Widths: []int{cols, cols, cols, cols},
			Leaves: []kernel.Leaf{{Cols: cols, LD: cols}},
			Instrs: []kernel.Instr{
				{Op: "add", Dst: 1, In: []int{0, 0}, Fn: func(a *kernel.Args) { simd.Add(a.Out, a.In[0], a.In[1]) }},
				{Op: "sigmoid", Dst: 2, In: []int{1}, Fn: func(a *kernel.Args) { simd.Sigmoid(a.Out, a.In[0]) }},
				{Op: "mul", Role: kernel.Mul, Dst: 3, In: []int{2, 0}, Fn: func(a *kernel.Args) { simd.Mul(a.Out, a.In[0], a.In[1]) }}},
			Outs: []kernel.Out{{Reg: 3, Operand: 1, LD: cols, Aux: -1}}}
		best(b, "Gop/s", 3*rows*cols, runner(b, p, l))
	})
	b.Run("bandwidth", func(b *testing.B) {
		const rows, all, cols = 1 << 14, 1 << 20, 64
		l := launch(rows, all*cols, all*cols)
		in, out, at := l.Bufs[0], l.Bufs[1], 0
		p := &kernel.Program{Name: "double", Operands: 2, Widths: []int{cols, cols},
			Leaves: []kernel.Leaf{{Cols: cols, LD: cols}},
			Instrs: []kernel.Instr{{Op: "add", Dst: 1, In: []int{0, 0}, Fn: func(a *kernel.Args) { simd.Add(a.Out, a.In[0], a.In[1]) }}},
			Outs:   []kernel.Out{{Reg: 1, Operand: 1, LD: cols, Aux: -1}}}
		run := runner(b, p, l)
		best(b, "GB/s", 8*rows*cols, func() {
			at = (at + rows) % all
			l.Bufs[0], l.Bufs[1] = in[at*cols:], out[at*cols:]
			run()
		})
	})
	for _, g := range []struct {
		name           string
		sources, cells int
	}{{"gather_hit", 4096, 1}, {"gather_miss", 200000, 64}} {
		b.Run(g.name, func(b *testing.B) {
			const rows, degree, cols = 2048, 30, 128
			l := launch(rows, g.sources*cols, rows*cols)
			l.First, l.Last = true, true
			var cells []*chunk.View
			for i := range g.cells {
				cells = append(cells, cell(uint64(i), rows, degree, g.sources))
			}
			at := 0
			p := &kernel.Program{Name: "sum", Edges: true, Operands: 2, Widths: []int{cols},
				Leaves: []kernel.Leaf{{From: kernel.Other, Cols: cols, LD: cols}},
				Outs:   []kernel.Out{{Acc: kernel.Sum, Operand: 1, LD: cols, Aux: -1}}}
			run := runner(b, p, l)
			best(b, "GB/s", 4*rows*degree*cols, func() {
				at++
				l.Cell = cells[at%len(cells)]
				run()
			})
		})
	}
	b.Run("launch", func(b *testing.B) { // next to no work, shared by all cores
		onDevice(b, func(d device.Device, q device.Queue, _ device.Mem, _ []byte) func() error {
			const rows = 2048
			p := &kernel.Program{Name: "copy", Operands: 2, Widths: []int{1},
				Leaves: []kernel.Leaf{{Cols: 1, LD: 1}}, Outs: []kernel.Out{{Operand: 1, LD: 1, Aux: -1}}}
			run := runner(b, p, launch(rows, rows, rows))
			k := device.HostFunc("copy", func([]byte) error { run(); return nil })
			return func() error { return d.Launch(q, k) }
		}, 1, func(s float64) { b.ReportMetric(1e6*s, "us") })
	})
	for _, c := range []struct {
		name     string
		bytes    int
		down, up bool
	}{{"copy_small/down", 64 << 10, true, false}, {"copy/down", 4 << 20, true, false}, {"copy/up", 4 << 20, false, true}, {"copy/both", 4 << 20, true, true}} {
		b.Run(c.name, func(b *testing.B) {
			n := c.bytes
			if c.down && c.up {
				n *= 2
			}
			onDevice(b, func(d device.Device, q device.Queue, m device.Mem, host []byte) func() error {
				other, err := d.NewQueue("other direction")
				if err != nil {
					b.Fatal(err)
				}
				at := 0 // walk through host memory: a chunk is not in the caches
				return func() error {
					at = (at + n) % (len(host) - n)
					if c.up {
						if err := d.CopyD2H(other, host[at:at+c.bytes], m, int64(n-c.bytes)); err != nil {
							return err
						}
					}
					if c.down {
						return d.CopyH2D(q, m, 0, host[at+n-c.bytes:at+n])
					}
					return nil
				}
			}, n, func(s float64) { b.ReportMetric(float64(n)/s/1e9, "GB/s") })
		})
	}
}

func launch(rows int, floats ...int) *cpu.Launch {
	l := &cpu.Launch{Rows: rows}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range floats {
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32() - 0.5
		}
		l.Bufs = append(l.Bufs, x)
	}
	return l
}

func cell(seed uint64, rows, degree, sources int) *chunk.View {
	r := rand.New(rand.NewPCG(seed, 4))
	v := &chunk.View{}
	for i := range rows {
		v.Ptr = append(v.Ptr, uint32(i*degree))
		for range degree {
			v.Other = append(v.Other, r.Uint32N(uint32(sources)))
		}
	}
	v.Ptr = append(v.Ptr, uint32(rows*degree))
	return v
}

func runner(b *testing.B, p *kernel.Program, l *cpu.Launch) func() {
	c, err := cpu.Compile(p)
	if err != nil {
		b.Fatal(err)
	}
	return func() { c.Run(l) }
}

// best reports work over the shortest time of f.
func best(b *testing.B, unit string, work float64, f func()) {
	f()
	shortest := time.Hour
	for b.Loop() {
		start := time.Now()
		f()
		shortest = min(shortest, time.Since(start))
	}
	b.ReportMetric(work/float64(shortest.Nanoseconds()), unit)
}

// onDevice reports the shortest time, a task, of a queue that runs several of them.
func onDevice(b *testing.B, task func(device.Device, device.Queue, device.Mem, []byte) func() error, bytes int, report func(seconds float64)) {
	d, err := device.NewCPU(0, int64(bytes)+1<<20)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	m, err := d.Alloc(int64(bytes))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Free(m)
	host, err := d.HostAlloc(512 << 20)
	if err != nil {
		b.Fatal(err)
	}
	defer d.HostFree(host)
	clear(host.Bytes())
	q, err := d.NewQueue("measure")
	if err != nil {
		b.Fatal(err)
	}
	f := task(d, q, m, host.Bytes())
	tasks := max(1, min(64, 4<<20/bytes))
	shortest := time.Hour
	for b.Loop() {
		start := time.Now()
		for range tasks {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
		shortest = min(shortest, time.Since(start))
	}
	report(shortest.Seconds() / float64(tasks))
}
