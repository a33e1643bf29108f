package tables

import (
	"errors"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/device"
	"sagann/sample"
)

func newTogether() *sheet {
	return &sheet{title: "Blocks drawn many batches at a time", key: "together",
		head: table.Row{"graph", "sampler", "batches", "seeds of each", "vertices", "edges", "ms", "kernels", "M batches/s", "KB each must touch", "bound, ms", "of the bound", "bar", "of its bytes in cache"},
		notes: []string{"Vertices and edges are means over the first batches, which equal the CPU's. What a batch must touch is counted in sectors of 32 bytes, as a walk's reads are: where each row lies, far ends of the rows of its levels (mvs: of the edges that it takes, with their numbers), " +
			"the number of each edge that stays, and with scores a place for each draw and, where a level is drawn by its edges, one for each row and edge that stays. Rows of a level are read at each step anew, as edges may come from what is drawn there; fastgcn's draws are known before, and each row is read once. " +
			"It writes 8 bytes of an edge (12 with a weight), 4 of a vertex and of each row of a step. " +
			"The bound is the larger of two: what is read for the first time, at the rates of a list as large as the graph, and all that is read and written, at those of 32 MB; the first sector of a run takes what a random read does, and each after it what a further sector does. " +
			"The last column divides the bytes alone by the latter rate, as if all of any graph lay in the cache. Times are of the kernels; seeds are copied before."}}
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
		draws   int // by score
	}{
		{"layer 64, five times", sample.LayerBlocks(five...), seeds, 0},
		{"fastgcn 64, five times", sample.FastGCN(five...), seeds, 5 * 64},
		{"ladies 64, five times", sample.LADIES(five...), seeds, 5 * 64},
		{"clustergcn, 20 clusters of 50", sample.ClusterGCN(), clusters, 0},
		{"mvs 64", sample.MVS(64), seeds, 0},
	} {
		if err := m.togetherOne(s, name, x.name, &graph, x.sampler, x.seeds, x.draws); err != nil {
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

func (m *gpuSamples) togetherOne(s *sheet, graph, name string, g *sample.Graph, sampler sample.Sampler, seeds [][]uint32, draws int) (err error) {
	const some = 50
	p, err := sample.Compile(g, sampler)
	if err != nil {
		return err
	}
	before := m.gpu.Counters().Used
	x, err := p.OnGPU(m.gpu)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	size := m.gpu.Counters().Used - before
	key := sample.Key{Seed: 1}
	drawn, err := x.BlocksOf(seeds[:some], key)
	if err != nil {
		return err
	}
	if n := x.Redrawn(); n > 0 {
		return fmt.Errorf("%d of %d batches have no room on the GPU: times would be those of a part", n, some)
	}
	vertices, edges, bytes, touched := 0.0, 0.0, 0.0, touch{}
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
		bytes += mustTouch(g, sampler, b) / some
		touched.add(touchOf(g, sampler, b, draws), 1.0/some)
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
	ms := median(list)
	bound, cached := touched.ms(m.ratesOf(size), m.rates[0])*float64(len(seeds)), bytes*float64(len(seeds))/(32*m.rates[0].rate)*1e3
	s.add(table.Row{graph, name, len(seeds), len(seeds[0]), fmt.Sprintf("%.0f", vertices), fmt.Sprintf("%.0f", edges), fmt.Sprintf("%.3f", ms), kernels, fmt.Sprintf("%.2f", float64(len(seeds))/ms/1e3),
		fmt.Sprintf("%.0f", touched.bytes()/1e3), fmt.Sprintf("%.3f", bound), percent(100 * bound / ms), "50 %", percent(100 * cached / ms)},
		fields{{"graph", graph}, {"sampler", name}, {"batches", len(seeds)}, {"ms", ms}, {"kernels", kernels}, {"bytes_touched", touched.bytes()},
			{"bound_ms", bound}, {"bytes_in_cache_ms", cached}})
	return nil
}

// mustTouch is the bytes that a batch must read or write, not counting the rest of their sectors.
func mustTouch(g *sample.Graph, s sample.Sampler, b *sample.Blocks) float64 {
	rowsAlone := s.Over == sample.Individual && s.Output == sample.Layers
	bytes := 4*len(b.Vertices) + 8*b.Counts[len(b.Layers)-1]
	for step, l := range b.Layers {
		bytes += 4*b.Counts[step] + 12*len(l.Far) + 4*len(l.Weight)
		switch {
		case rowsAlone:
			bytes += 4 * len(l.Far) // with the edge's number
			continue
		case s.Over == sample.Collective && s.Score != nil:
			bytes += 8 * len(l.Far)
		}
		new := 0
		if s.Over == sample.Everywhere && step > 0 {
			new = b.Counts[step-1]
		}
		for _, v := range b.Vertices[new:b.Counts[step]] {
			bytes += 4 * g.Degree(v)
		}
	}
	return float64(bytes)
}
