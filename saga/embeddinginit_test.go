package saga_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sagann/saga"
)

// TestEmbeddingInit: learned rows begin with the moments of their distribution, the same ones in chunks and on every seed's own, and
// the digest tells the distributions apart.
func TestEmbeddingInit(t *testing.T) {
	d := bare(t)
	digests := map[string]saga.EmbeddingInit{}
	for init, variance := range map[saga.EmbeddingInit]float64{"": 1. / 64, saga.EmbeddingUnit: 1. / 64, saga.EmbeddingNormal: 1} {
		m := modelFor(t, "gcn", d, 64, 0)
		m.EmbeddingInit = init
		var first []float32
		for _, chunks := range []int{1, 3} {
			p, err := saga.Compile(m, d, saga.Config{Epochs: 1, Seed: 5, Chunks: chunks})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := p.Param("embedding")
			if err != nil {
				t.Fatal(err)
			}
			if chunks == 1 {
				first = rows
				digests[p.Digest()] = init
				if plain := init != saga.EmbeddingNormal; strings.Contains(p.Facts(), "\nembedding ") == plain {
					t.Errorf("%q: the digest names the start of rows: %t", init, plain)
				}
			} else if !slices.Equal(rows, first) {
				t.Errorf("%q: other rows in %d chunks", init, chunks)
			}
			p.Close()
		}
		var sum, squares float64
		for _, x := range first {
			sum, squares = sum+float64(x), squares+float64(x)*float64(x)
		}
		n := float64(len(first))
		if mean := sum / n; math.Abs(mean) > 4*math.Sqrt(variance/n) || math.Abs(squares/n/variance-1) > 0.1 {
			t.Errorf("%q: mean %v, mean square %v, of %v numbers; variance %v is meant", init, mean, squares/n, n, variance)
		}
	}
	if len(digests) != 2 {
		t.Errorf("%d digests, not 2: %v", len(digests), digests)
	}
	for embedding, init := range map[int]saga.EmbeddingInit{0: saga.EmbeddingNormal, 8: "xavier"} {
		m := modelFor(t, "gcn", d, embedding, 0)
		m.EmbeddingInit = init
		if p, err := saga.Compile(m, d, saga.Config{Epochs: 1}); err == nil {
			p.Close()
			t.Errorf("%d columns that begin as %q are taken", embedding, init)
		}
	}
}
