package sample

import "sagann/sample/cuda"

// GPUBytes is the memory of a GPU that blocks take, drawn in batches of so many seeds of a list: the graph and the
// most that a batch can have. Samplers that GPUs do not draw are an ErrNotOnGPU.
func (p *Program) GPUBytes(size, list int) (int64, error) {
	x := &GPU{p: p}
	needs, err := x.plan()
	if err != nil {
		return 0, err
	}
	if x.fanouts == nil || p.score != nil { // of these the GPU gives up on some rows
		return 0, p.errorf("%w: blocks that stay on the GPU are of neighbours, drawn with equal probability, or of vertices that walks visit most", ErrNotOnGPU)
	}
	rows, lists := cuda.Rows{Offsets: p.g.Offsets, Far: p.g.Far, Edge: p.g.Edge, Alias: p.tables.alias}, int64(0)
	if needs.Pairs {
		lists = 8 * int64(len(p.g.Far)) // from which they are made
	}
	return rows.Bytes(needs) + lists + x.fanouts.Bytes(p.g.Vertices(), p.g.Edges(), size, list), nil
}

// Batches says what Next draws: batches of so many seeds of a list, from number key.Batch on. Seeds are
// vertices of the graph and differ.
func (x *GPU) Batches(list []uint32, size int, key Key) error {
	if x.fanouts == nil {
		return x.p.errorf("it draws no blocks on the GPU")
	}
	if err := x.room(size, len(list)); err != nil {
		return x.p.errorf("batches of %d seeds: %w", size, err)
	}
	if err := x.blocks.Seeds(list); err != nil {
		return err
	}
	x.each, x.all = size, len(list)
	return x.Jump(key)
}

// Jump has Next go on with number key.Batch of the batches that Batches has named.
func (x *GPU) Jump(key Key) error {
	return x.blocks.Set(cuda.Batch{Seed: key.Seed, Epoch: key.Epoch, Number: key.Batch, From: key.Batch * uint32(x.each), Size: uint32(x.each), Total: uint32(x.all)})
}

// Next begins to draw the next batch where the last one lay.
func (x *GPU) Next() error { return x.blocks.Next() }

// Read copies its counts to words (cuda.Words of them), which are there when it returns if the device does not have
// them pinned, else when Sync of it has returned.
func (x *GPU) Read(words []uint32) error { return x.blocks.ReadWords(words) }

// Counts are the vertices of each level and the edges of each block, in words that Read has filled.
func (x *GPU) Counts(words []uint32) (vertices, edges []uint32) {
	vertices, edges, _ = x.blocks.CountsOf(words)
	return vertices, edges
}

// Lists are where batches lie on the GPU.
func (x *GPU) Lists() cuda.Lists { return x.blocks.Lists() }
