package tables

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/sample"
)

func newTogether() *sheet {
	return &sheet{title: "Blocks whose levels draw together, many batches at a time", key: "together",
		head: table.Row{"graph", "sampler", "batches", "seeds of each", "vertices", "edges", "ms", "M batches/s", "KB each must touch", "bound, ms", "of the bound", "bar"},
		notes: []string{"Vertices and edges are means over the first batches, which equal the CPU's. A batch must touch 4 bytes of every edge into its levels, step by step (8 where edges have scores), 8 of every row's place, " +
			"8 of every edge that stays and 8 or 12 for what is written; mvs reads what it draws only; the bound is these at the rate of random sectors from 32 MB."}}
}

// together measures samplers of which a block of threads draws a batch.
func (m *gpuSamples) together(s *sheet, name string, g *sample.Graph) error {
	graph := *g
	graph.Weight = nil
	five := []int{64, 64, 64, 64, 64}
	batches := map[bool]int{true: 10_000, false: 1000}[g.Vertices() < 1<<18]
	order, size := sample.Permutation(g.Vertices(), sample.Key{Seed: 3}), 64
	whole := len(order) / size
	if whole == 0 {
		return nil // smaller than a batch
	}
	seeds := make([][]uint32, batches)
	for i := range seeds {
		seeds[i] = order[i%whole*size : (i%whole+1)*size]
	}
	clusters, err := clustersOf(g.Vertices(), batches/5)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name    string
		sampler sample.Sampler
		seeds   [][]uint32
		scores  bool
	}{
		{"layer 64, five times", sample.LayerBlocks(five...), seeds, false},
		{"fastgcn 64, five times", sample.FastGCN(five...), seeds, false},
		{"ladies 64, five times", sample.LADIES(five...), seeds, true},
		{"clustergcn, 20 clusters of 50", sample.ClusterGCN(), clusters, false},
		{"mvs 64, a captured graph each", sample.MVS(64), seeds[:min(whole, 2000)], false},
	} {
		if err := m.togetherOne(s, name, x.name, &graph, x.sampler, x.seeds, x.scores); err != nil {
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

func (m *gpuSamples) togetherOne(s *sheet, graph, name string, g *sample.Graph, sampler sample.Sampler, seeds [][]uint32, scores bool) (err error) {
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
	vertices, edges, bytes := 0.0, 0.0, 0.0
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
		bytes += 4 * float64(len(b.Vertices)) / some
		for step, l := range b.Layers {
			read := 0
			for _, v := range b.Vertices[:b.Counts[step]] {
				read += g.Degree(v)
			}
			each := 4.0
			if scores {
				each = 8
			}
			if sampler.Over == sample.Individual && sampler.Output == sample.Layers {
				read, each = len(l.Far), 8 // what is drawn, with its number
			}
			edges += float64(len(l.Far)) / some
			bytes += (each*float64(read) + 8*float64(b.Counts[step]) + float64(16*len(l.Far)+4*len(l.Weight))) / some
		}
	}
	run := func(epoch uint32) error {
		key := sample.Key{Seed: 1, Epoch: epoch}
		if sampler.Over != sample.Individual || sampler.Output != sample.Layers {
			return x.DrawOf(seeds, key)
		}
		_, _, err := x.Epoch(slices.Concat(seeds...), len(seeds[0]), key)
		return err
	}
	if err := run(0); err != nil { // takes memory, and captures what is captured
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
	bound := bytes * float64(len(seeds)) / (32 * m.rates[0].rate) * 1e3
	s.add(table.Row{graph, name, len(seeds), len(seeds[0]), fmt.Sprintf("%.0f", vertices), fmt.Sprintf("%.0f", edges), fmt.Sprintf("%.3f", ms), fmt.Sprintf("%.2f", float64(len(seeds))/ms/1e3),
		fmt.Sprintf("%.0f", bytes/1e3), fmt.Sprintf("%.3f", bound), percent(100 * bound / ms), "50 %"},
		fields{{"graph", graph}, {"sampler", name}, {"batches", len(seeds)}, {"ms", ms}, {"bytes", bytes}, {"bound_ms", bound}})
	return nil
}
