package sample

import "sagann/sample/cuda"

// GPUBytes is the GPU memory in bytes that blocks take: the graph, and the largest possible batch of
// size seeds, from a list of so many seeds. It returns ErrNotOnGPU for samplers that GPUs do not draw.
func (p *Program) GPUBytes(size, list int) (int64, error) {
	x := &GPU{p: p}
	needs, err := x.plan()
	if err != nil {
		return 0, err
	}
	if x.fanouts == nil || p.score != nil { // by Score the GPU cannot draw some rows: see errHard
		return 0, p.errorf("%w: blocks that stay on the GPU are of neighbours, drawn with equal probability, or of vertices that walks visit most", ErrNotOnGPU)
	}
	rows, lists := cuda.Rows{Offsets: p.g.Offsets, Far: p.g.Far, Edge: p.g.Edge, Alias: p.tables.alias}, int64(0)
	if needs.Pairs {
		lists = 8 * int64(len(p.g.Far)) // the lists that pairs are made from
	}
	return rows.Bytes(needs) + lists + x.fanouts.Bytes(p.g.Vertices(), p.g.Edges(), size, list), nil
}

// Batches sets what Next draws: batches of size seeds of a list, from batch number key.Batch on. Seeds
// must be different vertices of the graph; Batches does not check this.
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

// Jump makes Next go on with batch number key.Batch of the list that Batches has set.
func (x *GPU) Jump(key Key) error {
	return x.blocks.Set(cuda.Batch{Seed: key.Seed, Epoch: key.Epoch, Number: key.Batch, From: key.Batch * uint32(x.each), Size: uint32(x.each), Total: uint32(x.all)})
}

// Next starts to draw the next batch on the GPU. It overwrites the last batch.
func (x *GPU) Next() error { return x.blocks.Next() }

// Read copies the batch's counts to words, which has length cuda.Words. The copy is complete when Read
// returns if words is not pinned memory of the device, else after Sync of the device.
func (x *GPU) Read(words []uint32) error { return x.blocks.ReadWords(words) }

// Counts returns the numbers of vertices of each level and of edges of each block, from words that Read
// has filled.
func (x *GPU) Counts(words []uint32) (vertices, edges []uint32) {
	vertices, edges, _ = x.blocks.CountsOf(words)
	return vertices, edges
}

// Lists says where batches are in GPU memory.
func (x *GPU) Lists() cuda.Lists { return x.blocks.Lists() }
