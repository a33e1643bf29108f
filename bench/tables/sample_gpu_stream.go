package tables

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/sample"
	"sagann/sample/cuda"
)

// link is the bytes a second of the link between host and GPU that bounds are computed with.
const link = 50e9

// larger reports whether the rows of a graph take more GPU memory than sample.Program.OnGPU gives them.
func (m *gpuSamples) larger(g *sample.Graph) bool {
	return 4*int64(g.Edges()+g.Vertices()) > m.gpu.Info().Budget/4*3
}

func newBeyond(budget int64) *sheet {
	return &sheet{title: fmt.Sprintf("Graphs whose edges stay on the host, with %.1f GiB of the GPU", float64(budget)/(1<<30)), key: "beyond",
		head: table.Row{"graph", "sampler", "samples", "s", "predicted s", "off by", "M samples/s", "M draws/s", "link, bytes a sample: to the GPU", "back", "of the link's bound", "bar, M samples/s", "grouping, of kernels' time", "equal to the CPU's"},
		notes: []string{"Seconds are by the clock, from roots on the host to the last sample in pinned memory, or hashed and dropped on the GPU. The link's bound is the less of 50 GB/s over the bytes of each direction. " +
			"Compared with the CPU's: the sum over 20000 samples, drawn again."}}
}

// beyond measures samplers of a graph that is larger than the GPU's memory.
func (m *gpuSamples) beyond(s *sheet, name string, g *sample.Graph) error {
	graph := *g
	graph.Weight = nil
	tree := sample.Sampler{Name: "k-hop", Steps: 2, Size: func(step int) int { return []int{25, 10}[step] }}
	layer := sample.Sampler{Name: "k-hop", Steps: 2, Size: func(step int) int { return []int{10, 25}[step] }}
	for _, x := range []struct {
		name    string
		sampler sample.Sampler
		samples int
		draws   float64
		keep    bool
		bar     float64
	}{
		{"k-hop 25,10, to pinned memory", tree, 12_000_000, 275, true, 10},
		{"k-hop 25,10, hashed", tree, 40_000_000, 275, false, 33},
		{"k-hop 10,25, hashed (NextDoor's code calls it layer)", layer, 40_000_000, 260, false, 20},
		{"uniform walk of 10 steps, hashed", sample.DeepWalk(10), g.Vertices(), 10, false, 0},
	} {
		p, err := sample.Compile(&graph, x.sampler)
		if err != nil {
			return err
		}
		gpu, err := p.OnGPU(m.gpu)
		if err != nil {
			return err
		}
		if !gpu.Streams() {
			return errors.Join(fmt.Errorf("%s: the graph lies on the GPU", x.name), gpu.Close())
		}
		err = m.beyondOne(s, name, x.name, gpu, p, min(x.samples, g.Vertices()), x.draws, x.keep, x.bar)
		if err = errors.Join(err, gpu.Close()); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}

func (m *gpuSamples) beyondOne(s *sheet, graph, name string, gpu *sample.GPU, p *sample.Program, samples int, draws float64, keep bool, bar float64) (err error) {
	key := sample.Key{Seed: 1}
	roots := make([]uint32, samples)
	for i := range roots {
		roots[i] = uint32(i)
	}
	cpu, err := sameAsCPU(gpu, p, roots[:min(samples, 20_000)], key) // also compiles the kernels and warms up
	if err != nil {
		return err
	}
	pinned := map[int]device.HostMem{}
	defer func() {
		for _, h := range pinned {
			err = errors.Join(err, m.gpu.HostFree(h))
		}
	}()
	var failed error
	to := func(step, _, n int) []uint32 { // each piece where the last one was
		words := n * cpu.Widths[step+1]
		h, ok := pinned[step]
		if !ok && failed == nil {
			h, failed = m.gpu.HostAlloc(4 * int64(words))
			pinned[step] = h
		}
		if failed != nil {
			return make([]uint32, words)
		}
		return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(h.Bytes()))), words)
	}
	run := func(roots []uint32) error {
		if keep {
			return errors.Join(gpu.Into(roots, 0, key, to), failed)
		}
		_, err := gpu.Sum(roots, 0, key)
		return err
	}
	if keep { // pin the memory before the clock starts
		if err := run(roots); err != nil {
			return err
		}
	}
	predicted, off, forecast := "", "", 0.0
	if machine, err := sim.LoadMachine(backend.Of(m.gpu.Info().Kind).Model); err == nil {
		passes, err := gpu.Passes(roots, keep)
		if err != nil {
			return err
		}
		forecast = streamSeconds(machine, passes)
		predicted = fmt.Sprintf("%.3f", forecast)
	}
	before, start := m.gpu.Counters(), time.Now()
	if err := run(roots); err != nil {
		return err
	}
	seconds, after := time.Since(start).Seconds(), m.gpu.Counters()
	if forecast > 0 {
		off = fmt.Sprintf("%+.0f %%", 100*(forecast/seconds-1))
	}
	grouping, err := m.groupingOf(func() error { return run(roots) })
	if err != nil {
		return err
	}
	n := float64(samples)
	in, out := float64(after.H2D-before.H2D)/n, float64(after.D2H-before.D2H)/n
	bound := link / max(in, out)
	barText := ""
	if bar > 0 {
		barText = fmt.Sprintf("%.0f", bar)
	}
	if keep {
		barText = fmt.Sprintf("%.1f and %.0f", 0.6*bound/1e6, bar)
	}
	s.add(table.Row{graph, name, samples, fmt.Sprintf("%.3f", seconds), predicted, off, fmt.Sprintf("%.1f", n/seconds/1e6), fmt.Sprintf("%.0f", n*draws/seconds/1e6),
		fmt.Sprintf("%.0f", in), fmt.Sprintf("%.0f", out), percent(100 * n / seconds / bound), barText, percent(100 * grouping), "yes"},
		fields{{"graph", graph}, {"sampler", name}, {"samples", samples}, {"seconds", seconds}, {"predicted_seconds", forecast}, {"bytes_in", in}, {"bytes_out", out}, {"grouping", grouping}})
	return nil
}

// sameAsCPU draws the samples of roots on the GPU and on the CPU, and returns the CPU's. It is an error if they
// differ.
func sameAsCPU(gpu *sample.GPU, p *sample.Program, roots []uint32, key sample.Key) (cpu sample.Samples, err error) {
	sum, err := gpu.Sum(roots, 0, key)
	if err == nil {
		err = p.Run(&cpu, roots, 0, key)
	}
	if err == nil && cpu.Sum(0) != sum {
		err = fmt.Errorf("the sum of %d samples is %x, the CPU's %x", len(roots), sum, cpu.Sum(0))
	}
	return cpu, err
}

// streamSeconds is the time of passes on a machine. Grouping reads the transits twice and writes their places in
// random order. Then edges are copied to the GPU while earlier ones are drawn from. Results are copied back
// while the next are drawn, except those that are drawn into the same memory.
func streamSeconds(m *sim.Machine, passes []cuda.Pass) float64 {
	k := m.Kind(0)
	down, up, _ := m.Rates()
	now, back, free := 0.0, 0.0, map[int]float64{} // ns
	for _, p := range passes {
		now += 3*k.Launch.Value*1e9 + float64(p.Transits*(4+4+sim.LeastRead))/k.Bandwidth.Value*1e9
		now = max(now, free[p.Room]) + max(float64(p.In)/down, float64(p.Draws*sim.LeastRead)/k.GatherMiss.Value*1e9)
		if p.Out > 0 {
			back = max(back, now) + float64(p.Out)/up
			free[p.Room] = back
		}
	}
	return max(now, back) / 1e9
}

// groupingOf is the share of the kernels' time that grouping transits takes.
func (m *gpuSamples) groupingOf(f func() error) (float64, error) {
	var mu sync.Mutex
	group, all := 0.0, 0.0
	m.gpu.SetTrace(func(s device.Span) {
		if s.Op != device.OpLaunch {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		t := (s.End - s.Start).Seconds()
		if all += t; s.Kernel == "saga_count" {
			group += t
		}
	})
	err := f()
	err = errors.Join(err, m.gpu.Sync())
	m.gpu.SetTrace(nil)
	return group / max(all, 1e-9), err
}
