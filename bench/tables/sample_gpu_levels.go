package tables

import (
	"errors"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/device"
	"sagann/sample"
)

func newTogether() *sheet {
	return &sheet{title: "Blocks drawn many batches at a time", key: "together",
		head:  table.Row{"graph", "sampler", "batches", "seeds of each", "vertices", "edges", "ms", "kernels", "M batches/s"},
		notes: []string{"Vertices and edges are means over the first batches, which equal the CPU's. Times are of the kernels; seeds are copied before."}}
}

// together measures samplers with which a thread block draws a whole batch.
func (m *gpuSamples) together(s *sheet, name string, g *sample.Graph) error {
	graph := *g
	graph.Weight = nil
	five := []int{64, 64, 64, 64, 64}
	const batches = 10_000
	order, size := sample.Permutation(g.Vertices(), sample.Key{Seed: 3}), 64
	whole := len(order) / size
	if whole == 0 {
		return nil // the graph is smaller than a batch
	}
	seeds := make([][]uint32, batches)
	for i := range seeds {
		seeds[i] = order[i%whole*size : (i%whole+1)*size]
	}
	clusters, err := clustersOf(g.Vertices(), batches/2)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name    string
		sampler sample.Sampler
		seeds   [][]uint32
	}{
		{"layer 64, five times", sample.LayerBlocks(five...), seeds},
		{"fastgcn 64, five times", sample.FastGCN(five...), seeds},
		{"ladies 64, five times", sample.LADIES(five...), seeds},
		{"clustergcn, 20 clusters of 50", sample.ClusterGCN(), clusters},
		{"mvs 64", sample.MVS(64), seeds},
	} {
		if err := m.togetherOne(s, name, x.name, &graph, x.sampler, x.seeds); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}

// clustersOf are batches of 20 random clusters of 50 vertices.
func clustersOf(vertices, batches int) (list [][]uint32, err error) {
	cluster := make([]uint32, vertices)
	for v := range cluster {
		cluster[v] = uint32(v / 50)
	}
	for epoch := uint32(0); len(list) < batches; epoch++ {
		some, err := sample.Clusters(cluster, 20, sample.Key{Seed: 3, Epoch: epoch})
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list[:batches], nil
}

func (m *gpuSamples) togetherOne(s *sheet, graph, name string, g *sample.Graph, sampler sample.Sampler, seeds [][]uint32) (err error) {
	const some = 50
	p, err := sample.Compile(g, sampler)
	if err != nil {
		return err
	}
	x, err := p.OnGPU(m.gpu)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	key := sample.Key{Seed: 1}
	drawn, err := x.BlocksOf(seeds[:some], key)
	if err != nil {
		return err
	}
	if n := x.Redrawn(); n > 0 {
		return fmt.Errorf("%d of %d batches have no room on the GPU: times would be those of a part", n, some)
	}
	vertices, edges := 0.0, 0.0
	for i, b := range drawn {
		k := key
		k.Batch = uint32(i)
		var cpu sample.Blocks
		if err := p.Blocks(&cpu, seeds[i], k); err != nil {
			return err
		}
		if !sameLayers(b, &cpu) {
			return fmt.Errorf("batch %d differs from the CPU's", i)
		}
		vertices += float64(len(b.Vertices)) / some
		for _, l := range b.Layers {
			edges += float64(len(l.Far)) / some
		}
	}
	run := func(epoch uint32) error { return x.DrawOf(seeds, sample.Key{Seed: 1, Epoch: epoch}) }
	kernels := 0
	m.gpu.Detail(func(device.Span) { kernels++ })
	err = run(0) // the first run allocates memory
	err = errors.Join(err, m.gpu.Sync())
	m.gpu.Detail(nil)
	if err != nil {
		return err
	}
	var list []float64
	for epoch := range m.Times {
		spans, err := m.spansOf(func() error { return run(uint32(epoch) + 1) })
		if err != nil {
			return err
		}
		sum := 0.0
		for _, t := range spans {
			sum += t
		}
		list = append(list, sum)
	}
	ms := measure.Median(list)
	s.add(table.Row{graph, name, len(seeds), len(seeds[0]), fmt.Sprintf("%.0f", vertices), fmt.Sprintf("%.0f", edges), fmt.Sprintf("%.3f", ms), kernels, fmt.Sprintf("%.2f", float64(len(seeds))/ms/1e3)},
		fields{{"graph", graph}, {"sampler", name}, {"batches", len(seeds)}, {"ms", ms}, {"kernels", kernels}})
	return nil
}
