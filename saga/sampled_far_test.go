package saga_test

import (
	"math"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// Rows that stay on a GPU are those that come most often, not those of the largest degree, and what then comes over the link is
// what was expected, within a tenth.
func TestHotRows(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Kind: dataset.Communities, Vertices: 30000, Edges: 600000, Features: 12, Classes: 4, Seed: 3, Copies: 1, Skew: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.RandomSplit(d, 0.2, 0.2, 1); err != nil {
		t.Fatal(err)
	}
	c := sampledConfig()
	c.Device, c.Without = "cuda", []string{"invariant"}
	for _, cache := range []float64{-1, 0.2} {
		const batch = 200
		p, err := saga.CompileSampled(sampledModel(t, "sage", d), d, c, saga.Sampling{Sampler: sample.Neighbours(10, 10), Batch: batch, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		n, kept := int(max(0, cache)*30000), saga.Kept(p)
		degrees := d.Edges.OutDegrees()
		byDegree := make([]uint32, 30000)
		for v := range byDegree {
			byDegree[v] = uint32(v)
		}
		slices.SortFunc(byDegree, func(a, b uint32) int { return int(degrees[b]) - int(degrees[a]) })
		come := func(hot []uint32) (rows float64) {
			stays := make([]bool, 30000)
			for _, v := range hot {
				stays[v] = true
			}
			g, err := sample.NewGraph(d.Edges)
			if err != nil {
				t.Fatal(err)
			}
			q, err := sample.Compile(g, sample.Neighbours(10, 10))
			if err != nil {
				t.Fatal(err)
			}
			var b sample.Blocks
			last := make([]int, 30000)
			order := sample.Permutation(len(d.Train), sample.Key{Seed: 77})
			for k := 1; k <= len(d.Train)/batch; k++ {
				seeds := make([]uint32, batch)
				for i := range seeds {
					seeds[i] = d.Train[order[(k-1)*batch+i]]
				}
				if err := q.Blocks(&b, seeds, sample.Key{Seed: 99, Batch: uint32(k)}); err != nil {
					t.Fatal(err)
				}
				for _, v := range b.Vertices {
					if k > kept && last[v] < k-kept && !stays[v] {
						rows++
					}
					last[v] = k
				}
			}
			return rows / float64(len(d.Train)/batch-kept)
		}
		hot := p.HotRows(n)
		sorted := slices.Compact(slices.Sorted(slices.Values(hot)))
		if len(hot) != n || len(sorted) != n {
			t.Fatalf("%d hot rows, %d different ones, of %d", len(hot), len(sorted), n)
		}
		got, degree := come(hot), come(byDegree[:n])
		t.Logf("cache %v: %.0f rows a batch, by degree %.0f, expected %.0f", cache, got, degree, p.LinkBytes()/48)
		if n > 0 && got > 0.97*degree {
			t.Errorf("%.0f rows a batch, with rows of the largest degrees %.0f", got, degree)
		}
		if want := p.LinkBytes() / 48; math.Abs(got-want) > 0.1*want {
			t.Errorf("cache %v: %.0f rows a batch, expected were %.0f", cache, got, want)
		}
	}
}
