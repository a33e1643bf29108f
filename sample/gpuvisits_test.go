package sample

import (
	"errors"
	"testing"
)

// visiting are samplers of the most visited vertices that GPUs draw.
func visiting() []Sampler {
	stops := PinSAGE(1, 6, 4, 2)
	stops.Next = PPR(0.3).Next
	return []Sampler{PinSAGE(2, 5, 3, 4), stops, PinSAGE(1, 70, 3, 9), PinSAGE(2, 1, 2, 7)}
}

// TestGPUVisits: a GPU, or an emulated one, draws the rows of visits that the CPU draws, on graphs with and without weights, vertices without edges and
// rows without weight, whatever batches come before.
func TestGPUVisits(t *testing.T) {
	gpu := openGPU(t, 2<<20, 1<<30)
	some := randomEdges(300, 900, 5)
	for k := range some.Weight {
		if some.Dst[k]%7 == 0 {
			some.Weight[k] = 0
		}
	}
	plain := *randomEdges(90, 700, 7)
	plain.Weight = nil
	for _, g := range []*Graph{mustGraph(t, some), mustGraph(t, &plain)} {
		for _, s := range visiting() {
			p, err := Compile(g, s)
			if err != nil {
				t.Fatal(err)
			}
			x, err := p.OnGPU(gpu)
			if err != nil {
				t.Fatal(err)
			}
			for batch, n := range []int{1, 40, 7, 90} {
				var want, got Blocks
				key, seeds := Key{Seed: 1 << 40, Epoch: 2, Batch: uint32(batch)}, Permutation(g.Vertices(), Key{Batch: uint32(n)})[:n]
				if err := errors.Join(p.Blocks(&want, seeds, key), x.Blocks(&got, seeds, key)); err != nil {
					t.Fatal(err)
				}
				for i := range want.Layers { // without edges it may have none or an empty list
					if len(want.Layers[i].Weight) == 0 {
						want.Layers[i].Weight, got.Layers[i].Weight = nil, nil
					}
				}
				if err := sameBlocks(&got, &want); err != nil {
					t.Errorf("%d walks of %d, batch %d: %v", s.Size(0), s.Length, batch, err)
				}
			}
			if most, err := p.GPUBytes(90, 90); err != nil || gpu.Counters().Used > most {
				t.Errorf("%d walks of %d: %d bytes are used, %d were planned, %v", s.Size(0), s.Length, gpu.Counters().Used, most, err)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	second := PinSAGE(1, 5, 3, 2)
	second.Next = Node2vec(3, 2, 0.5).Next
	for _, s := range []Sampler{second, PinSAGE(1, 200, 3, 2)} {
		p, err := Compile(mustGraph(t, some), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.OnGPU(gpu); !errors.Is(err, ErrNotOnGPU) {
			t.Errorf("%d walks: %v", s.Size(0), err)
		}
	}
}
