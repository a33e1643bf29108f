package sample

import (
	"errors"
	"fmt"

	"sagann/chunk"
	"sagann/sample/cuda"
)

// planBlocks plans blocks: see plan.
func (x *GPU) planBlocks() (needs cuda.Needs, err error) {
	p, s := x.p, &x.p.s
	switch {
	case s.Over != Individual:
		return x.planLevels()
	case len(p.sizes) > cuda.MostHops:
		return needs, p.errorf("%w: %d levels; a GPU draws at most %d", ErrNotOnGPU, len(p.sizes), cuda.MostHops)
	case s.Top > 0:
		return x.planVisits()
	case p.code != nil || p.edge != nil:
		return needs, p.errorf("%w: of blocks a GPU draws edges of single vertices, without Next and EdgeWeight", ErrNotOnGPU)
	case p.score != nil && (s.KeepLoops || s.Method == Race):
		return needs, p.errorf("%w: by Score a GPU draws without KeepLoops, and not by the method Race", ErrNotOnGPU)
	}
	for _, k := range p.sizes {
		if k > cuda.MostDraws {
			return needs, p.errorf("%w: a fan-out of %d; a GPU draws at most %d edges of a vertex", ErrNotOnGPU, k, cuda.MostDraws)
		}
	}
	x.fanouts = &cuda.Fanouts{Sizes: p.sizes, Replace: s.Replace}
	if s.KeepLoops {
		if x.fanouts.Loops = p.g.mostLoops(); x.fanouts.Loops > cuda.MostLoops {
			return needs, p.errorf("%w: a vertex has %d edges to itself; with KeepLoops a GPU takes at most %d", ErrNotOnGPU, x.fanouts.Loops, cuda.MostLoops)
		}
	}
	if p.score != nil {
		x.fanouts.Method = map[Method]cuda.Method{Alias: cuda.ByAlias, Inverse: cuda.ByInverse, Rejection: cuda.ByRejection}[s.Method]
	}
	if p.score == nil && !s.Replace && !s.KeepLoops {
		x.alone = &cuda.Levels{Kind: cuda.RowsAlone, Sizes: p.sizes, EdgesOfRow: p.edgesOfRow}
	}
	return cuda.Needs{Pairs: true, Weight: p.score != nil}, nil
}

// Blocks is Program.Blocks.
func (x *GPU) Blocks(b *Blocks, seeds []uint32, key Key) error {
	if x.fanouts != nil && x.fanouts.OnlyNew {
		return x.p.errorf("only new vertices draw: that is for Epoch")
	}
	if x.fanouts == nil && x.levels == nil || len(seeds) == 0 {
		return x.p.Blocks(b, seeds, key) // which returns an error, or empty blocks
	}
	if err := x.checkSeeds(seeds); err != nil {
		return err
	}
	if x.levels != nil {
		return x.crowded([]*Blocks{b}, [][]uint32{seeds}, key)
	}
	if err := x.start(seeds, len(seeds), key); err != nil {
		return err
	}
	if err := x.blocks.Next(); err != nil {
		return err
	}
	err := x.read(b)
	if errors.Is(err, errHard) {
		x.redrawn++
		return x.p.Blocks(b, seeds, key)
	}
	return err
}

// errHard says that a batch has a row that a GPU cannot draw, as its draws repeat edges too often.
var errHard = errors.New("a row has so few edges with most of its score that a GPU does not draw it")

// drawable counts the edges of each row with a score above 0.
func (p *Program) drawable() []uint32 {
	list := make([]uint32, p.g.Vertices())
	chunk.Ranges(len(list), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			for _, x := range p.scores[p.g.Offsets[v]:p.g.Offsets[v+1]] {
				if x > 0 {
					list[v]++
				}
			}
		}
	})
	return list
}

// checkSeeds checks seeds as Program.Blocks does.
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

// start sets the next batch to the first size seeds of the list, drawn by the key.
func (x *GPU) start(list []uint32, size int, key Key) error {
	if err := x.room(size, len(list)); err != nil {
		return x.p.errorf("batches of %d seeds: %w", size, err)
	}
	if err := x.blocks.Seeds(list); err != nil {
		return err
	}
	return x.blocks.Set(cuda.Batch{Seed: key.Seed, Epoch: key.Epoch, Number: key.Batch, Size: uint32(size), Total: uint32(len(list))})
}

// room takes memory for batches of size seeds, out of a list of so many, unless there is enough.
func (x *GPU) room(size, list int) (err error) {
	if x.blocks != nil && size <= x.size && list <= x.list {
		return nil
	}
	if x.blocks != nil {
		old := x.blocks
		x.blocks = nil
		if err := old.Free(); err != nil {
			return err
		}
	}
	x.size, x.list = size, list
	if x.blocks, err = x.on.NewBlocks(*x.fanouts, size, list); err == nil {
		x.blocks.OneByOne = x.oneByOne
	}
	return err
}

// OneByOne sets whether later batches submit their kernels one by one, so that a trace shows each. By
// default they are submitted as one CUDA graph.
func (x *GPU) OneByOne(on bool) {
	if x.oneByOne = on; x.blocks != nil {
		x.blocks.OneByOne = on
	}
}

// OnlyNew sets whether, in later batches, only the vertices that the last step added draw, as in PyG's
// NeighborLoader. It is for measuring with Epoch; Blocks is an error while it is set.
func (x *GPU) OnlyNew(on bool) error {
	if x.fanouts == nil || x.fanouts.OnlyNew == on {
		return nil
	}
	x.fanouts.OnlyNew = on
	old := x.blocks
	if x.blocks = nil; old == nil {
		return nil
	}
	return old.Free()
}

// Epoch draws the batches of a list of seeds, size seeds each; the last one may have fewer. Batch i is
// drawn by the key with Batch + i, and overwrites the batch before it on the GPU. The GPU advances
// seeds and keys itself; the host only submits kernels. Epoch waits for the last batch and returns its
// numbers of vertices of each level and edges of each block.
func (x *GPU) Epoch(list []uint32, size int, key Key) (vertices, edges []uint32, err error) {
	switch {
	case x.fanouts == nil:
		return nil, nil, x.p.errorf("it draws no blocks of single vertices' edges on the GPU")
	case size < 1 || len(list) == 0:
		return nil, nil, x.p.errorf("batches of %d of %d seeds: at least 1 of 1", size, len(list))
	}
	if err := x.checkSeeds(list); err != nil {
		return nil, nil, err
	}
	if err := x.start(list, size, key); err != nil {
		return nil, nil, err
	}
	for range (len(list) + size - 1) / size {
		if err := x.blocks.Next(); err != nil {
			return nil, nil, err
		}
	}
	vertices, edges, wrong, err := x.blocks.Counts()
	if wrong && err == nil {
		err = x.p.errorf("%w", errHard)
	}
	return vertices, edges, err
}

// read copies the last batch into b.
func (x *GPU) read(b *Blocks) error {
	counts, edges, wrong, err := x.blocks.Counts()
	if err != nil {
		return err
	}
	if wrong {
		return errHard
	}
	begins, fars, _ := b.prepare(counts, edges)
	err = x.blocks.Vertices(b.Vertices)
	for hop := range edges {
		l := &b.Layers[hop]
		if x.fanouts.Visits != nil { // these edges have weights and no numbers
			l.Edge, l.Weight = nil, make([]float32, edges[hop])
			err = errors.Join(err, x.blocks.Weights(hop, l.Weight))
		}
		err = errors.Join(err, x.blocks.Hop(hop, begins[hop], fars[hop], l.Edge))
	}
	if err = errors.Join(err, x.on.Sync()); err != nil {
		return err
	}
	b.finish(begins, fars)
	return nil
}

// prepare makes room in b for blocks with counts vertices of each level and edges of each step. It
// returns lists, by step, for the data that the GPU has in other types: row offsets, far ends, weights.
func (b *Blocks) prepare(counts, edges []uint32) (begins, fars [][]uint32, weights [][]float32) {
	b.Counts, b.Layers = b.Counts[:0], b.Layers[:min(len(b.Layers), len(edges))]
	for len(b.Layers) < len(edges) {
		b.Layers = append(b.Layers, Block{})
	}
	for _, n := range counts {
		b.Counts = append(b.Counts, int(n))
	}
	b.Vertices = make([]uint32, counts[len(edges)])
	begins, fars, weights = make([][]uint32, len(edges)), make([][]uint32, len(edges)), make([][]float32, len(edges))
	for hop, m := range edges {
		begins[hop], fars[hop] = make([]uint32, counts[hop]+1), make([]uint32, m)
		b.Layers[hop].Edge, b.Layers[hop].Weight = make([]uint32, m), nil
	}
	return begins, fars, weights
}

// finish sets Offsets and Far from the lists of prepare.
func (b *Blocks) finish(begins, fars [][]uint32) {
	for hop := range begins {
		l := &b.Layers[hop]
		l.Offsets, l.Far = make([]int64, len(begins[hop])), make([]int32, len(fars[hop]))
		for i, n := range begins[hop] {
			l.Offsets[i] = int64(n)
		}
		for i, n := range fars[hop] {
			l.Far[i] = int32(n)
		}
	}
}

// Renaming prepares to repeat only the renumbering of a batch, for measuring. b must be blocks that this
// GPU has drawn. Each Run of the result renumbers once. Free the result before Close.
func (x *GPU) Renaming(b *Blocks) (*cuda.Rename, error) {
	if x.blocks == nil || len(b.Layers) != len(x.p.sizes) {
		return nil, x.p.errorf("a renumbering of blocks that were not drawn")
	}
	lists := make([][]uint32, len(b.Layers))
	for hop, l := range b.Layers {
		lists[hop] = make([]uint32, len(l.Far))
		for i, n := range l.Far {
			lists[hop][i] = b.Vertices[n]
		}
	}
	n := uint32(b.Counts[0])
	if err := x.blocks.Set(cuda.Batch{Size: n, Total: n}); err != nil {
		return nil, err
	}
	return x.blocks.NewRename(b.Vertices[:n], lists)
}
