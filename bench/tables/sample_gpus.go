package tables

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/sample"
)

// runGPUs compares the times of several GPUs with those of the first one alone.
func (c *Sample) runGPUs(a *app) (err error) {
	gpus, err := cli.OpenGPUs(c.Device, int64(c.Mem))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cli.CloseGPUs(gpus)) }()
	s := &sheet{title: fmt.Sprintf("Walks of 100 steps on %d times %s", len(gpus), gpus[0].Info().Name), key: "gpus",
		head:  table.Row{"graph", "sampler", "samples", "one GPU, ms of kernels", fmt.Sprintf("%d GPUs", len(gpus)), "ratio", "one GPU, ms by the clock", fmt.Sprintf("%d GPUs", len(gpus)), "ratio", "bar of ratios", "equal sums"},
		notes: []string{"Kernels of several GPUs: those of the GPU that takes longest. The clock runs from roots in memory of the host until all GPUs are done, samples stay on them. Medians. The sums are over the first 100000 samples."}}
	m := &gpuSamples{Sample: c, gpu: gpus[0]}
	for _, name := range c.Shapes {
		v, e, err := powerShape(name)
		if err != nil {
			return err
		}
		g := powerGraph(v, e, c.Weights)
		for _, x := range m.stepped() {
			if x.sampler.Size != nil || x.sampler.Roots > 1 || x.sampler.Over == sample.Collective || x.weighted && g.Weight == nil {
				continue
			}
			graph := *g
			if !x.weighted {
				graph.Weight = nil
			}
			if err := m.shared(s, name, x.name, &graph, x.sampler, gpus); err != nil {
				return fmt.Errorf("%s on %s: %w", x.name, name, err)
			}
		}
	}
	o := benchOutput{Markdown: c.Markdown, JSON: c.JSON, Machine: "this one"}
	return o.print(a, s)
}

// shared measures a sampler on the first GPU and on all.
func (m *gpuSamples) shared(s *sheet, graph, name string, g *sample.Graph, sampler sample.Sampler, gpus []device.GPU) (err error) {
	p, err := sample.Compile(g, sampler)
	if err != nil {
		return err
	}
	all, err := p.OnGPUs(gpus)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	roots := startsOf(g)
	some := roots[:min(len(roots), 100_000)]
	var sums [2]uint64
	for i, x := range []sample.GPUs{all[:1], all} {
		var drawn sample.Samples
		if err := x.Run(&drawn, some, 0, sample.Key{Seed: 1}); err != nil {
			return err
		}
		sums[i] = drawn.Sum(0)
	}
	if sums[0] != sums[1] {
		return fmt.Errorf("the sum of %d samples is %x on one GPU, %x on several", len(some), sums[0], sums[1])
	}
	var kernels, clock [2]float64
	for i, x := range []sample.GPUs{all[:1], all} {
		if kernels[i], clock[i], err = m.sharedTimes(x, gpus, roots); err != nil {
			return err
		}
	}
	s.add(table.Row{graph, name, len(roots), fmt.Sprintf("%.3f", kernels[0]), fmt.Sprintf("%.3f", kernels[1]), fmt.Sprintf("%.2f", kernels[0]/kernels[1]),
		fmt.Sprintf("%.2f", clock[0]), fmt.Sprintf("%.2f", clock[1]), fmt.Sprintf("%.2f", clock[0]/clock[1]), "1.8", "yes"},
		fields{{"graph", graph}, {"sampler", name}, {"samples", len(roots)}, {"kernels_ms", kernels}, {"clock_ms", clock}})
	return nil
}

// sharedTimes are medians of several draws in milliseconds: of the kernels on the slowest GPU, and by the
// wall clock.
func (m *gpuSamples) sharedTimes(x sample.GPUs, gpus []device.GPU, roots []uint32) (kernels, clock float64, err error) {
	var mu sync.Mutex
	var of []float64
	for i := range x {
		gpus[i].SetTrace(func(s device.Span) {
			if s.Op == device.OpLaunch {
				mu.Lock()
				of[i] += (s.End - s.Start).Seconds() * 1e3
				mu.Unlock()
			}
		})
		defer gpus[i].SetTrace(nil)
	}
	var longest, walls []float64
	for epoch := range int(m.Times) + 1 {
		of = make([]float64, len(gpus))
		start := time.Now()
		if err := x.Draw(roots, 0, sample.Key{Seed: 1, Epoch: uint32(epoch)}); err != nil {
			return 0, 0, err
		}
		wall := time.Since(start).Seconds() * 1e3
		for i := range x {
			if err := gpus[i].Sync(); err != nil {
				return 0, 0, err
			}
		}
		if epoch > 0 { // the first one is a warm-up
			most := 0.0
			for _, t := range of {
				most = max(most, t)
			}
			longest, walls = append(longest, most), append(walls, wall)
		}
	}
	return measure.Median(longest), measure.Median(walls), nil
}
