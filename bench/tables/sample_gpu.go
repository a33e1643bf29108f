package tables

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/sample"
)

// gpuSamples measures samplers on a GPU. Times are those of kernels, by the GPU's clock.
type gpuSamples struct {
	*Sample
	gpu   device.GPU
	rates []readRate
}

// readRate is the random reads a second from a list of so many bytes.
type readRate struct {
	bytes int64
	rate  float64
}

// runGPU prints the tables of a GPU.
func (c *Sample) runGPU(a *app) (err error) {
	if n, err := device.Count(c.Device); err == nil && n > 1 {
		return c.runGPUs(a)
	}
	gpu, err := cli.OpenGPU(c.Device, int64(c.Mem))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	m := &gpuSamples{Sample: c, gpu: gpu}
	info := gpu.Info()
	walks := &sheet{title: fmt.Sprintf("Walks of 100 steps and trees of 25 and 10 draws on %s", info.Name), key: "walks",
		head:  table.Row{"graph", "sampler", "samples", "ms", "G draws/s", "reads a draw", "of random reads", "bar", "NextDoor, one H200", "graph and tables, MB", "made in s"},
		notes: []string{"A draw is a step of a walk or a vertex that a sample adds; the reads of one are those of places that nothing else is near: an entry of an edge, by weight in a tree a table's entry and the far end, and for layer the row of the vertex, too, and for multirw that and the number of the root. Of random reads: as a share of those of 4 bytes from a list of the same order of size. Graph and tables lie on the GPU and count against --mem; making and copying them is no part of the times."}}
	blocks := &sheet{title: fmt.Sprintf("Blocks of batches of %d seeds", c.Batch), key: "blocks",
		head: table.Row{"graph", "fan-outs", "batches", "ms, median", "least", "most", "one by one", "vertices", "edges", "bar"}}
	parts := &sheet{title: "Kernels of a batch, each by itself", key: "kernels", head: table.Row{"graph", "fan-outs", "kernel", "us, median"}}
	renamed := &sheet{title: "Renumbering alone, of 16 of these batches", key: "renumbering",
		head: table.Row{"graph", "fan-outs", "ms"}}
	graphs := &sheet{title: "Graphs", key: "graphs", head: table.Row{"graph", "vertices", "edges", "largest row", "sha256", "made in s"}}
	beyond, together := newBeyond(info.Budget), newTogether()
	reads, err := m.reads()
	if err != nil {
		return err
	}
	for _, name := range c.Shapes {
		v, e, err := powerShape(name)
		if err != nil {
			return err
		}
		start := time.Now()
		g := powerGraph(v, e, c.Weights)
		made := time.Since(start)
		most := 0
		for u := range v {
			most = max(most, g.Degree(uint32(u)))
		}
		sum := graphSum(g)
		graphs.add(table.Row{name, v, g.Edges(), most, sum, fmt.Sprintf("%.1f", made.Seconds())},
			fields{{"graph", name}, {"vertices", v}, {"edges", g.Edges()}, {"largest_row", most}, {"sha256", sum}})
		if m.larger(g) {
			err = m.beyond(beyond, name, g)
		} else if name == "products" || c.Blocks {
			err = m.batches(blocks, renamed, parts, name, g)
		} else if err = m.together(together, name, g); err == nil {
			err = m.steps(walks, name, g)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	o := benchOutput{Markdown: c.Markdown, JSON: c.JSON, Machine: "this one"}
	return o.print(a, reads, graphs, walks, blocks, parts, renamed, together, beyond)
}

// spansOf are the times of the launches of f, in milliseconds.
func (m *gpuSamples) spansOf(f func() error) (list []float64, err error) {
	if err := m.gpu.Sync(); err != nil {
		return nil, err
	}
	m.gpu.SetTrace(func(s device.Span) {
		if s.Op == device.OpLaunch {
			list = append(list, (s.End-s.Start).Seconds()*1e3)
		}
	})
	defer m.gpu.SetTrace(nil)
	if err := f(); err != nil {
		return nil, err
	}
	return list, m.gpu.Sync()
}

// batches measures the blocks of an epoch over the shape's training vertices.
func (m *gpuSamples) batches(s, renamed, parts *sheet, name string, g *sample.Graph) error {
	seeds := sample.Permutation(g.Vertices(), sample.Key{Seed: 3})[:min(196_615, g.Vertices())]
	for _, x := range []struct {
		fanouts []int
		bar     string
	}{{[]int{15, 10, 5}, "0.15, aim 0.10"}, {[]int{25, 10}, "0.065, aim 0.045"}} {
		p, err := sample.Compile(g, sample.Neighbours(x.fanouts...))
		if err != nil {
			return err
		}
		gpu, err := p.OnGPU(m.gpu)
		if err != nil {
			return err
		}
		err = m.epoch(s, parts, name, gpu, seeds, x.fanouts, x.bar)
		if err == nil {
			err = m.onlyNew(s, name, gpu, seeds, x.fanouts)
		}
		if err == nil {
			err = m.renames(renamed, name, p, gpu, seeds, x.fanouts)
		}
		if err = errors.Join(err, gpu.Close()); err != nil {
			return err
		}
	}
	return nil
}

// epoch measures the batches of an epoch in order, as CUDA graphs and as single kernels.
func (m *gpuSamples) epoch(s, parts *sheet, name string, gpu *sample.GPU, seeds []uint32, fanouts []int, bar string) error {
	run := func(epoch uint32) error {
		_, _, err := gpu.Epoch(seeds, int(m.Batch), sample.Key{Seed: 1, Epoch: epoch})
		return err
	}
	if err := run(0); err != nil { // the first run allocates memory and captures graphs
		return err
	}
	list, err := m.spansOf(func() error { return run(1) })
	if err != nil {
		return err
	}
	gpu.OneByOne(true)
	single, err := m.spansOf(func() error { return run(1) })
	if err != nil {
		return err
	}
	if err := m.parts(parts, name, fanouts, func() error { return run(1) }); err != nil {
		return err
	}
	gpu.OneByOne(false)
	vertices, edges, err := gpu.Epoch(seeds[:min(len(seeds), int(m.Batch))], int(m.Batch), sample.Key{Seed: 1})
	if err != nil {
		return err
	}
	s.add(table.Row{name, fmt.Sprint(fanouts), len(list), fmt.Sprintf("%.4f", measure.Median(list)), fmt.Sprintf("%.4f", slices.Min(list)), fmt.Sprintf("%.4f", slices.Max(list)),
		fmt.Sprintf("%.4f", measure.Median(single)), fmt.Sprint(vertices), fmt.Sprint(edges), bar},
		fields{{"graph", name}, {"fanouts", fanouts}, {"batches", len(list)}, {"ms", measure.Median(list)}, {"one_by_one_ms", measure.Median(single)}})
	return nil
}

// onlyNew measures an epoch in which only vertices that are new in a level draw neighbours.
func (m *gpuSamples) onlyNew(s *sheet, name string, gpu *sample.GPU, seeds []uint32, fanouts []int) error {
	if err := gpu.OnlyNew(true); err != nil {
		return err
	}
	run := func(epoch uint32) error {
		_, _, err := gpu.Epoch(seeds, int(m.Batch), sample.Key{Seed: 1, Epoch: epoch})
		return err
	}
	if err := run(0); err != nil {
		return err
	}
	list, err := m.spansOf(func() error { return run(1) })
	if err != nil {
		return err
	}
	s.add(table.Row{name, fmt.Sprint(fanouts, ", only new vertices draw"), len(list), fmt.Sprintf("%.4f", measure.Median(list)), fmt.Sprintf("%.4f", slices.Min(list)), fmt.Sprintf("%.4f", slices.Max(list))},
		fields{{"graph", name}, {"fanouts", fanouts}, {"only_new", true}, {"batches", len(list)}, {"ms", measure.Median(list)}})
	return gpu.OnlyNew(false)
}

// parts measures each kernel of a batch: the median of its times over the batches.
func (m *gpuSamples) parts(s *sheet, name string, fanouts []int, f func() error) error {
	times, order := map[string][]float64{}, []string(nil)
	m.gpu.Detail(func(x device.Span) {
		if times[x.Kernel] == nil {
			order = append(order, x.Kernel)
		}
		times[x.Kernel] = append(times[x.Kernel], (x.End-x.Start).Seconds()*1e6)
	})
	err := f()
	err = errors.Join(err, m.gpu.Sync())
	m.gpu.Detail(nil)
	for _, k := range order {
		if len(times[k]) > 1 {
			s.add(table.Row{name, fmt.Sprint(fanouts), k, fmt.Sprintf("%.1f", measure.Median(times[k]))},
				fields{{"graph", name}, {"fanouts", fanouts}, {"kernel", k}, {"us", measure.Median(times[k])}})
		}
	}
	return err
}

// renames measures the renumbering of some batches. First it checks that the blocks are those of the CPU.
func (m *gpuSamples) renames(s *sheet, name string, p *sample.Program, gpu *sample.GPU, seeds []uint32, fanouts []int) error {
	times := make([]float64, 16)
	for i := range times {
		at := i * int(m.Batch) % len(seeds)
		some, key := seeds[at:min(len(seeds), at+int(m.Batch))], sample.Key{Seed: 1, Batch: uint32(i)}
		var b, cpu sample.Blocks
		if err := gpu.Blocks(&b, some, key); err != nil {
			return err
		}
		if err := p.Blocks(&cpu, some, key); err != nil {
			return err
		}
		if !sameLayers(&b, &cpu) {
			return fmt.Errorf("batch %d of %v differs from the CPU's", i, fanouts)
		}
		r, err := gpu.Renaming(&b)
		if err != nil {
			return err
		}
		times[i], err = m.medianOf(r.Run)
		if err = errors.Join(err, r.Free()); err != nil {
			return err
		}
	}
	s.add(table.Row{name, fmt.Sprint(fanouts), fmt.Sprintf("%.4f", measure.Median(times))},
		fields{{"graph", name}, {"fanouts", fanouts}, {"ms", measure.Median(times)}})
	return nil
}

// sameLayers reports whether blocks are equal.
func sameLayers(a, b *sample.Blocks) bool {
	return slices.Equal(a.Vertices, b.Vertices) && slices.EqualFunc(a.Layers, b.Layers, func(x, y sample.Block) bool {
		return slices.Equal(x.Far, y.Far) && slices.Equal(x.Edge, y.Edge) && slices.Equal(x.Offsets, y.Offsets) && slices.Equal(x.Weight, y.Weight)
	})
}

// medianOf is the median time of several launches.
func (m *gpuSamples) medianOf(f func() error) (float64, error) {
	list, err := m.spansOf(func() error {
		for range 9 {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return measure.Median(list), nil
}
