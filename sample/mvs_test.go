package sample

import (
	"math"
	"strings"
	"testing"

	"sagann/dataset"
)

// Neighbours of a batch are drawn with equal probability, without replacement.
func TestMVSNeighbours(t *testing.T) {
	e := star(1, 4, 2, 3, 7)
	(&trial{"star", MVS(2), WeightedNeighbours(2), e, rowsOf(0), successive(ones(5), 2, false)}).run(t)
}

// TestMVSLevels: over two levels the sums of sums, scaled by degree over fan-out, of vertices that ByNorm chose with its weights are on
// average the mean over all vertices, within four standard errors. Without the weights, or unscaled, they are outside.
func TestMVSLevels(t *testing.T) {
	g := mustGraph(t, dataset.Karate().Edges)
	p, err := Compile(g, MVS(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	v := g.Vertices()
	norms, full := make([]float32, v), 0.0
	value := func(u uint32) float64 { return 1 + float64(u%5) }
	for u := range v {
		norms[u] = float32(1 + u%4)
		far, _ := g.row(uint32(u))
		for _, f := range far {
			next, _ := g.row(f)
			for _, x := range next {
				full += value(x) / float64(v)
			}
		}
	}
	deviation := func(weighs, scales bool) float64 {
		var b Blocks
		n, sum, square := float64(rounds()), 0.0, 0.0
		for i := range rounds() {
			key := Key{Seed: 7, Epoch: uint32(i)}
			seeds, weights, err := ByNorm(norms, 6, key)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Blocks(&b, seeds, key); err != nil {
				t.Fatal(err)
			}
			rows := make([]float64, len(b.Vertices))
			for j, u := range b.Vertices {
				rows[j] = value(u)
			}
			for l := len(b.Layers) - 1; l >= 0; l-- {
				to := make([]float64, b.Counts[l])
				for r := range to {
					lo, hi := b.Layers[l].Offsets[r], b.Layers[l].Offsets[r+1]
					for _, f := range b.Layers[l].Far[lo:hi] {
						to[r] += rows[f]
					}
					if scales && hi > lo {
						to[r] *= float64(g.Degree(b.Vertices[r])) / float64(hi-lo)
					}
				}
				rows = to
			}
			x := 0.0
			for j, w := range weights {
				if !weighs {
					w = 1 / float32(len(seeds))
				}
				x += float64(w) * rows[j]
			}
			sum, square = sum+x, square+x*x
		}
		mean := sum / n
		return math.Abs(mean-full) / math.Sqrt((square/n-mean*mean)/n)
	}
	if d := deviation(true, true); d > 4 {
		t.Errorf("%.1f standard errors", d)
	}
	if d := deviation(false, true); d < 4 {
		t.Errorf("without weights: %.1f standard errors", d)
	}
	if d := deviation(true, false); d < 4 {
		t.Errorf("unscaled: %.1f standard errors", d)
	}
}

// TestByNormRefuses: norms that give no probabilities are errors, which name the first of them.
func TestByNormRefuses(t *testing.T) {
	for _, x := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, _, err := ByNorm([]float32{1, float32(x), 2}, 4, Key{})
		if err == nil || !strings.Contains(err.Error(), "norm 1 is") {
			t.Errorf("a norm of %v: %v", x, err)
		}
	}
}
