package tables

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/sample"
)

// stepped is a sampler of walks or trees in the table.
type stepped struct {
	name     string
	sampler  sample.Sampler
	weighted bool
	draws    float64 // draws for each sample; 0: measured from some samples
	reads    float64 // random reads for each draw
	bar      map[string]string
	nextDoor map[string]string
}

func perGraph(ppi, patents, livejournal, orkut string) map[string]string {
	return map[string]string{"ppi": ppi, "patents": patents, "livejournal": livejournal, "orkut": orkut}
}

func (m *gpuSamples) stepped() []stepped {
	ppr := sample.PPR(0.01)
	ppr.Steps = 100
	tree := sample.Sampler{Name: "k-hop", Steps: 2, Size: func(step int) int { return []int{25, 10}[step] }}
	n2v := sample.Node2vec(100, 2, 0.5)
	weighted := tree
	weighted.Next = func(_ sample.Sample, at sample.Pool, r sample.Rand) sample.Int { return r.PickWeighted(at) }
	distinct := tree
	distinct.Unique = sample.InStep
	return []stepped{
		{"k-hop 25,10", tree, false, 275, 1, perGraph("0.2", "11", "12", "10"), perGraph("1.56", "88", "43", "80")},
		{"k-hop 25,10, weighted", weighted, true, 275, 2, nil, nil},
		{"k-hop 25,10, distinct", distinct, false, 0, 1, nil, nil},
		{"uniform walk", sample.DeepWalk(100), false, 100, 1, perGraph("7.5", "13", "21", "12.5"), nil},
		{"deepwalk", sample.DeepWalk(100), true, 100, 1, perGraph("26", "27", "37", "28"), perGraph("52", "55", "74", "56")},
		{"ppr 0.01, cut at 100", ppr, true, 0, 1, perGraph("21", "22", "29", "22"), perGraph("43", "45", "58", "45")},
		{"ppr 0.01, without a bound", sample.PPR(0.01), true, 0, 1, perGraph("1.15 of deepwalk", "1.15 of deepwalk", "1.15 of deepwalk", "1.15 of deepwalk"), nil},
		{"node2vec 2, 0.5", n2v, false, 100, 1, perGraph("19", "22", "36", "26"), nil},
		{"multirw, 100 roots", sample.MultiRW(100, 100), false, 100, 3, perGraph("0.5 of its bytes", "", "", ""), perGraph("13.7", "", "", "")},
		{"layer 1000 to 2000", sample.Layer(1000, 2000), false, 0, 2, perGraph("0.5 of its bytes", "", "", ""), nil},
		{"node2vec 2, 0.5, weighted", n2v, true, 100, 1, perGraph("23.75", "27.5", "45", "32.5"), perGraph("86", "101", "163", "121")},
	}
}

// startsOf are the roots: every vertex, and in small graphs every vertex a hundred times.
func startsOf(g *sample.Graph) []uint32 {
	roots := make([]uint32, g.Vertices())
	if g.Vertices() < 1<<18 {
		roots = make([]uint32, 100*g.Vertices())
	}
	for i := range roots {
		roots[i] = uint32(i % g.Vertices())
	}
	return roots
}

// steps measures walks and trees from every vertex.
func (m *gpuSamples) steps(s *sheet, name string, g *sample.Graph) error {
	roots := startsOf(g)
	for _, x := range m.stepped() {
		if x.weighted && g.Weight == nil {
			continue
		}
		graph := *g
		if !x.weighted {
			graph.Weight = nil
		}
		from, samples := roots, len(roots)
		if x.sampler.Size != nil || x.sampler.Roots > 1 {
			from, samples = roots[:g.Vertices()], g.Vertices()
		}
		if x.sampler.Over == sample.Collective {
			samples = min(samples, 50_000) // every sample takes memory for all its vertices
			from = roots[:samples]
		}
		if x.sampler.Roots > 1 {
			if name != "ppi" {
				continue // too large: the state takes 808 bytes for each sample
			}
			from = make([]uint32, samples*x.sampler.Roots)
			for i := range from {
				from[i] = uint32(measure.Mixed(uint64(i)) % uint64(g.Vertices()))
			}
		}
		d, err := m.drawn(&graph, x.sampler, from)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		perSecond := float64(samples) * cmp.Or(x.draws, d.added) / d.ms * 1e3
		rate, share := fmt.Sprintf("%.1f", perSecond/1e9), percent(100*perSecond*x.reads/m.bound(d.bytes))
		s.add(table.Row{name, x.name, samples, fmt.Sprintf("%.3f", d.ms), rate, x.reads, share, x.bar[name], x.nextDoor[name], d.bytes / 1e6, fmt.Sprintf("%.2f", d.made)},
			fields{{"graph", name}, {"sampler", x.name}, {"samples", samples}, {"added", d.added}, {"ms", d.ms}, {"bytes", d.bytes}, {"made_seconds", d.made}})
	}
	return nil
}

// drawing is the time and memory of drawing samples.
type drawing struct {
	ms    float64 // the median of several draws
	added float64 // mean vertices that a sample adds, of the first samples
	bytes int64   // bytes of the graph and its tables on the GPU
	made  float64 // seconds to make them
}

// bound is the random reads a second from a list of about so many bytes.
func (m *gpuSamples) bound(bytes int64) float64 {
	for _, r := range m.rates {
		if r.bytes >= bytes/2 {
			return r.rate
		}
	}
	return m.rates[len(m.rates)-1].rate
}

// drawn draws samples from all roots.
func (m *gpuSamples) drawn(g *sample.Graph, s sample.Sampler, roots []uint32) (d drawing, err error) {
	start, before := time.Now(), m.gpu.Counters().Used
	p, err := sample.Compile(g, s)
	if err != nil {
		return d, err
	}
	x, err := p.OnGPU(m.gpu)
	if err != nil {
		return d, err
	}
	d.bytes, d.made = m.gpu.Counters().Used-before, time.Since(start).Seconds()
	defer func() { err = errors.Join(err, x.Close()) }()
	var list []float64
	for epoch := range int(m.Times) + 1 { // the first one is a warm-up
		spans, err := m.spansOf(func() error { return x.Draw(roots, 0, sample.Key{Seed: 1, Epoch: uint32(epoch)}) })
		if err != nil {
			return d, err
		}
		sum := 0.0
		for _, t := range spans {
			sum += t
		}
		if epoch > 0 {
			list = append(list, sum)
		}
	}
	d.ms = measure.Median(list)
	const some = 2000
	var drawn sample.Samples
	if err := x.Run(&drawn, roots[:min(len(roots), some*max(1, s.Roots))], 0, sample.Key{Seed: 1, Epoch: 1}); err != nil {
		return d, err
	}
	for _, step := range drawn.Steps[1:] {
		for _, v := range step {
			if v != sample.NoVertex {
				d.added += 1 / float64(drawn.N)
			}
		}
	}
	return d, nil
}
