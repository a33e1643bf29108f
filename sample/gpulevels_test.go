package sample

import (
	"errors"
	"slices"
	"testing"

	"sagann/device/nvrtc"
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
	graphs := []*Graph{mustGraph(t, randomEdges(70, 900, 7)), mustGraph(t, randomEdges(300, 700, 5)), mustGraph(t, randomEdges(500, 60_000, 5))}
	eachOnGPU(t, gpu, graphs, crowded(), func(t *testing.T, p *Program, x *GPU) {
		for _, m := range []int{70, 20, 1} {
			seeds, size, key := Permutation(p.g.Vertices(), Key{Seed: 4})[:m], p.g.Vertices()/10, Key{Seed: 1 << 40, Epoch: 2, Batch: 3}
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
					t.Errorf("batch %d of %d: %v", b, len(got), err)
				}
			}
		}
		if _, err := nvrtc.PTX(x.together().Source(64), 75); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
			t.Errorf("%v\n%s", err, x.together().Source(64))
		}
	})
}
