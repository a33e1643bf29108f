package sample

import (
	"errors"
	"slices"
	"testing"

	"sagann/device/nvrtc"
	"sagann/internal/draw"
)

// crowded are samplers of blocks of which many are drawn at a time.
func crowded() []Sampler {
	weighed := LADIES(5, 4)
	weighed.RowNormal = false
	weighed.Score = func(e Edge) Real { return e.Weight() }
	weighed.EdgeWeight = func(e Edge) Real {
		own := If(Equal(e.Source(), e.Target()), Whole(2), Whole(1))
		return Mul(ToReal(own), Div(Mul(e.Weight(), e.Times()), Mul(e.Draws(), e.Probability())))
	}
	return []Sampler{LayerBlocks(7, 5), ClusterGCN(), FastGCN(9, 40), LADIES(6, 6, 6), weighed, Neighbours(3, 6), MVS(40)}
}

// TestGPULevels: a GPU, or an emulated one, draws the batches that the CPU draws, many at a time.
func TestGPULevels(t *testing.T) {
	gpu := openGPU(t, 8<<20, 1<<30)
	for n, g := range []*Graph{mustGraph(t, randomEdges(70, 900, 7)), mustGraph(t, randomEdges(300, 700, 5)), mustGraph(t, randomEdges(500, 60_000, 5))} {
		for i, s := range crowded() {
			if gpu.Info().Processors == 1 && (i+n)%2 == 1 && !draw.Soak() {
				continue // emulated: a C++ compiler runs for each
			}
			p, err := Compile(g, s)
			if err != nil {
				t.Fatal(err)
			}
			x, err := p.OnGPU(gpu)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []int{70, 20, 1} {
				seeds, size, key := Permutation(g.Vertices(), Key{Seed: 4})[:m], g.Vertices()/10, Key{Seed: 1 << 40, Epoch: 2, Batch: 3}
				batches := slices.Collect(slices.Chunk(seeds, size))
				got, err := x.BlocksOf(batches, key)
				if err != nil {
					t.Fatal(err)
				}
				for b, blocks := range got {
					k := key
					k.Batch += uint32(b)
					var want Blocks
					if err := p.Blocks(&want, batches[b], k); err != nil {
						t.Fatal(err)
					}
					if err := sameBlocks(blocks, &want); err != nil {
						t.Errorf("%s %d on graph %d, batch %d of %d: %v", s.Name, i, n, b, len(got), err)
					}
				}
			}
			_, err = nvrtc.PTX(x.together().Source(64), 75)
			if err != nil && !errors.Is(err, nvrtc.ErrMissing) {
				t.Errorf("%s: %v\n%s", s.Name, err, x.together().Source(64))
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
