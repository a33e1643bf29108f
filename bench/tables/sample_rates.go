package tables

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"sagann/bench/measure"
	"sagann/chunk"
	"sagann/internal/cli"
	"sagann/sample"
)

// meter measures samplers on the CPU in pieces, and random reads before each piece. The fastest piece of each
// counts.
type meter struct {
	*Sample
	in, out *sample.Graph
	reads   float64 // random reads a second
}

// rates is how many samples, and units (edges or steps), a sampler draws in a second, and the random
// reads that a unit needs; 0: not known. For samplers that try again, first is the reads of a step whose first
// try is accepted.
type rates struct{ samples, units, reads, first float64 }

// measure runs a sampler over in-edges, or walks along out-edges.
func (m *meter) measure(name string) (r rates, err error) {
	spec, err := sample.Parse(name, int(m.Length))
	if err != nil {
		return r, cli.Usage(err)
	}
	g := m.in
	if spec.Sampler.Output == sample.Steps {
		g = m.out
	}
	p, err := sample.Compile(g, spec.Sampler)
	if err != nil {
		return r, err
	}
	for epoch := range int(m.Times) {
		key := sample.Key{Seed: 1, Epoch: uint32(epoch)}
		if spec.Sampler.Output == sample.Steps {
			err = m.walks(&r, p, name, key)
		} else {
			err = m.blocks(&r, p, spec, key)
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// timed is the time of f: CPU seconds divided by the number of threads.
func (m *meter) timed(f func() error) (float64, error) {
	threads := float64(runtime.GOMAXPROCS(0))
	m.reads = max(m.reads, randomReads(m.in.Far))
	start := measure.CPUSeconds()
	err := f()
	return (measure.CPUSeconds() - start) / threads, err
}

// walks draws walks and counts their steps.
func (m *meter) walks(r *rates, p *sample.Program, name string, key sample.Key) error {
	var s sample.Samples
	n, all := 1<<11*runtime.GOMAXPROCS(0), 0.0
	const pieces = 16
	for piece := range pieces {
		roots := p.Roots(n, uint64(piece*n), key)
		t, err := m.timed(func() error { return p.Run(&s, roots, uint64(piece*n), key) })
		if err != nil {
			return err
		}
		steps := 0.0
		for _, step := range s.Steps[1:] {
			for _, v := range step {
				if v != sample.NoVertex {
					steps++
				}
			}
		}
		all += steps
		r.samples, r.units = max(r.samples, float64(n)/t), max(r.units, steps/t)
	}
	r.reads, r.first = readsOf(name, float64(pieces*n), all, m.out), 0
	if kind, rest, _ := strings.Cut(name, ":"); kind == "node2vec" && r.reads > 0 {
		r.first = r.reads
		r.reads = 1 + triesOf(rest, &s, m.out)*(r.first-1) // where the row lies is read once
	}
	return nil
}

// readsOf is how many random reads a step of a walk needs on a graph without weights: one for the offset of its
// vertex's row and one for the neighbour. ppr reads the offset once more in the step that ends a walk. node2vec
// also searches the row of the previous vertex if that decides the first try: if the number drawn lies between 1
// and 1/q. The result counts at least these steps. 0: not known.
func readsOf(name string, walks, steps float64, g *sample.Graph) float64 {
	kind, rest, _ := strings.Cut(name, ":")
	switch {
	case g.Weight != nil:
	case kind == "deepwalk":
		return 2
	case kind == "ppr":
		return 2 + walks/max(steps, 1)
	case kind == "node2vec":
		if p, q, err := backAndOut(rest); err == nil {
			return 2 + math.Abs(1-1/q)/max(1/p, 1, 1/q)*linesOf(g)
		}
	}
	return 0
}

// backAndOut are the settings of node2vec.
func backAndOut(text string) (p, q float64, err error) {
	_, err = fmt.Sscanf(text, "p=%g,q=%g", &p, &q)
	return p, q, err
}

// triesOf is how many neighbours node2vec proposes in a step, on average over the steps of walks: the inverse of
// the probability that a proposal is accepted.
func triesOf(settings string, s *sample.Samples, g *sample.Graph) float64 {
	p, q, err := backAndOut(settings)
	if err != nil {
		return 1
	}
	const steps = 10000
	most, r, tries, n := max(1/p, 1, 1/q), rand.New(rand.NewPCG(1, 2)), 0.0, 0
	for range steps {
		k, i := 1+r.IntN(len(s.Steps)-1), r.IntN(s.N)
		before, v := s.Steps[k-1][i], s.Steps[k][i]
		if v == sample.NoVertex || g.Degree(v) == 0 {
			continue
		}
		near := g.Far[g.Offsets[before]:g.Offsets[before+1]]
		taken := 0.0
		for _, x := range g.Far[g.Offsets[v]:g.Offsets[v+1]] {
			if _, found := slices.BinarySearch(near, x); x == before {
				taken += 1 / p
			} else if found {
				taken++
			} else {
				taken += 1 / q
			}
		}
		tries, n = tries+most*float64(g.Degree(v))/taken, n+1
	}
	return tries / max(float64(n), 1)
}

// linesOf is how many cache lines of 64 bytes a binary search reads on average in the row of a vertex, when it
// looks for a vertex two steps away. Walks visit vertices in proportion to their degree.
func linesOf(g *sample.Graph) float64 {
	const searches, line = 10000, 64 / 4
	r, lines := rand.New(rand.NewPCG(1, 1)), 0
	for range searches {
		v := g.Far[r.IntN(g.Edges())]
		u, n := v, int64(g.Degree(v))
		for range 2 {
			if d := g.Degree(u); d > 0 {
				u = g.Far[g.Offsets[u]+r.Int64N(int64(d))]
			}
		}
		at, seen := g.Offsets[v], map[int64]bool{}
		for n > 1 {
			half := n / 2
			seen[(at+half)/line] = true
			if g.Far[at+half] <= u {
				at += half
			}
			n -= half
		}
		seen[at/line] = true
		lines += len(seen)
	}
	return float64(lines) / searches
}

// blocks draws batches, several at a time, and counts their edges and rows.
func (m *meter) blocks(r *rates, p *sample.Program, spec sample.Spec, key sample.Key) error {
	size, batches, vertices := int(m.Batch), 4*runtime.GOMAXPROCS(0), m.in.Vertices()
	if spec.Batch > 0 && spec.Sampler.Name == "saint" {
		size = spec.Batch
	}
	size = min(size, vertices)
	order := sample.Permutation(vertices, key)
	errs, sums := make([]error, batches), make([][2]float64, batches)
	t, _ := m.timed(func() error {
		chunk.Each(batches, func(i int) {
			var b sample.Blocks
			k := key
			k.Batch = uint32(i)
			lo := i * size % (vertices - size + 1)
			errs[i] = p.Blocks(&b, order[lo:lo+size], k)
			for _, l := range b.Layers {
				sums[i][0], sums[i][1] = sums[i][0]+float64(len(l.Far)), sums[i][1]+float64(len(l.Offsets)-1)
			}
		})
		return nil
	})
	edges, rows := 0.0, 0.0
	for i := range sums {
		if errs[i] != nil {
			return errs[i]
		}
		edges, rows = edges+sums[i][0], rows+sums[i][1]
	}
	r.samples, r.units = max(r.samples, float64(size*batches)/t), max(r.units, edges/t)
	if spec.Sampler.Name == "neighbours" {
		r.reads = 3 + rows/max(edges, 1)
	}
	return nil
}

// randomReads is how many numbers of a list all processors read in a second, at places
// that are hashes of a counter.
func randomReads(list []uint32) float64 {
	const each = 1 << 20
	threads := runtime.GOMAXPROCS(0)
	sums := make([]uint32, threads)
	start := measure.CPUSeconds()
	chunk.Each(threads, func(t int) {
		sum := uint32(0)
		for i := uint64(0); i < each; i++ {
			at, _ := bits.Mul64((i+uint64(t)<<32)*0x9E3779B97F4A7C15, uint64(len(list)))
			sum += list[at]
		}
		sums[t] = sum
	})
	seconds := (measure.CPUSeconds() - start) / float64(threads)
	for _, x := range sums[1:] {
		sums[0] += x // so that the compiler does not remove the reads
	}
	runtime.KeepAlive(sums)
	return float64(each*threads) / seconds
}
