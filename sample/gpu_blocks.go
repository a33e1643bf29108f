package sample

import (
	"errors"
	"fmt"

	"sagann/sample/cuda"
)

// planBlocks says how blocks are drawn.
func (x *GPU) planBlocks() (needs cuda.Needs, err error) {
	p, s := x.p, &x.p.s
	switch {
	case s.Over != Individual || p.code != nil || p.score != nil || p.edge != nil || s.KeepLoops:
		return needs, p.errorf("%w: of blocks a GPU draws edges of single vertices with equal probability, without Next, Score, EdgeWeight and KeepLoops", ErrNotOnGPU)
	case len(p.sizes) > cuda.MostHops:
		return needs, p.errorf("%w: %d levels; a GPU draws at most %d", ErrNotOnGPU, len(p.sizes), cuda.MostHops)
	}
	for _, k := range p.sizes {
		if k > cuda.MostDraws {
			return needs, p.errorf("%w: a fan-out of %d; a GPU draws at most %d edges of a vertex", ErrNotOnGPU, k, cuda.MostDraws)
		}
	}
	x.fanouts = &cuda.Fanouts{Sizes: p.sizes, Replace: s.Replace}
	return cuda.Needs{Pairs: true}, nil
}

// Blocks is Program.Blocks.
func (x *GPU) Blocks(b *Blocks, seeds []uint32, key Key) error {
	if x.fanouts == nil || len(seeds) == 0 {
		return x.p.Blocks(b, seeds, key) // it says what is wrong, or draws nothing
	}
	if err := x.checkSeeds(seeds); err != nil {
		return err
	}
	if err := x.room(len(seeds)); err != nil {
		return x.p.errorf("batches of %d seeds: %w", len(seeds), err)
	}
	n := uint32(len(seeds))
	if err := x.blocks.Seeds(seeds); err != nil {
		return err
	}
	if err := x.blocks.Set(cuda.Batch{Seed: key.Seed, Epoch: key.Epoch, Number: key.Batch, Size: n, Total: n}); err != nil {
		return err
	}
	if err := x.blocks.Next(); err != nil {
		return err
	}
	return x.read(b)
}

// checkSeeds refuses what Program.Blocks refuses.
func (x *GPU) checkSeeds(seeds []uint32) error {
	seen := make(map[uint32]int, len(seeds))
	for i, v := range seeds {
		if int64(v) >= int64(x.p.g.Vertices()) {
			return fmt.Errorf("seed %d of a graph with %d vertices: seeds are 0 to %d", v, x.p.g.Vertices(), x.p.g.Vertices()-1)
		}
		if j, ok := seen[v]; ok {
			return fmt.Errorf("seed %d stands in the batch twice, at places %d and %d: seeds of a batch must differ", v, j, i)
		}
		seen[v] = i
	}
	return nil
}

// room has memory for batches of so many seeds.
func (x *GPU) room(seeds int) (err error) {
	if x.blocks != nil && seeds <= x.size {
		return nil
	}
	if x.blocks != nil {
		old := x.blocks
		x.blocks = nil
		if err := old.Free(); err != nil {
			return err
		}
	}
	x.size = seeds
	x.blocks, err = x.on.NewBlocks(*x.fanouts, seeds, seeds)
	return err
}

// read copies the last batch into b.
func (x *GPU) read(b *Blocks) error {
	counts, edges, err := x.blocks.Counts()
	if err != nil {
		return err
	}
	b.Counts, b.Layers = b.Counts[:0], b.Layers[:min(len(b.Layers), len(edges))]
	for len(b.Layers) < len(edges) {
		b.Layers = append(b.Layers, Block{})
	}
	for _, n := range counts {
		b.Counts = append(b.Counts, int(n))
	}
	b.Vertices = make([]uint32, counts[len(edges)])
	err = x.blocks.Vertices(b.Vertices)
	begins, fars := make([][]uint32, len(edges)), make([][]uint32, len(edges))
	for hop, m := range edges {
		begins[hop], fars[hop] = make([]uint32, counts[hop]+1), make([]uint32, m)
		b.Layers[hop].Edge, b.Layers[hop].Weight = make([]uint32, m), nil
		err = errors.Join(err, x.blocks.Hop(hop, begins[hop], fars[hop], b.Layers[hop].Edge))
	}
	if err = errors.Join(err, x.on.Sync()); err != nil {
		return err
	}
	for hop := range edges {
		l := &b.Layers[hop]
		l.Offsets, l.Far = make([]int64, len(begins[hop])), make([]int32, len(fars[hop]))
		for i, n := range begins[hop] {
			l.Offsets[i] = int64(n)
		}
		for i, n := range fars[hop] {
			l.Far[i] = int32(n)
		}
	}
	return nil
}
