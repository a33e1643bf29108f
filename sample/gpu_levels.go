package sample

import (
	"errors"

	"sagann/sample/cuda"
)

// planLevels says how blocks are drawn whose levels draw together.
func (x *GPU) planLevels() (needs cuda.Needs, err error) {
	p, s := x.p, &x.p.s
	l := &cuda.Levels{Sizes: p.sizes, RowNormal: s.RowNormal, Kind: cuda.Columns}
	switch {
	case p.code != nil && (!p.code.picks() || s.RowNormal):
		return needs, p.errorf("%w: by Next a GPU draws blocks of vertices together with every edge equally probable, and without RowNormal", ErrNotOnGPU)
	case p.code != nil:
		l.Kind = cuda.Pool
	case s.Over == Everywhere:
		l.Kind = cuda.Everywhere
	}
	if p.edge != nil && p.code == nil {
		for _, i := range p.edge.list {
			if i.op >= opDegree && i.op <= opHas {
				return needs, p.errorf("%w: a GPU computes the EdgeWeight of blocks that are drawn together without rows of the graph", ErrNotOnGPU)
			}
		}
		l.EdgeWeight = p.renderEdge(p.edge)
	}
	x.levels = l
	return cuda.Needs{Far: true}, nil
}

// planAmong says that a batch is its seeds and the edges among them.
func (x *GPU) planAmong() (cuda.Needs, error) {
	x.levels = &cuda.Levels{Kind: cuda.Among}
	return cuda.Needs{Far: true}, nil
}

// crowdOf has memory for so many batches of so many seeds.
func (x *GPU) crowdOf(batches, size int) (err error) {
	if x.crowd != nil {
		if x.crowd.Fits(size, batches) {
			return nil
		}
		old := x.crowd
		x.crowd = nil
		if err := old.Free(); err != nil {
			return err
		}
	}
	p, weight := x.p, []float32(nil)
	for i := range p.edge.length() {
		if p.edge.list[i].op == opEdgeWeight {
			weight = p.g.Weight
		}
	}
	sums := p.rowSums
	if p.s.Over == Everywhere {
		sums = p.everyone
	}
	x.crowd, err = x.on.NewCrowd(*x.levels, cuda.Scores{Edge: p.scores, Unit: p.unit, Sums: sums}, p.g.Edge, weight, size, batches)
	if err != nil {
		return p.errorf("batches of %d seeds: %w", size, err)
	}
	return nil
}

// length is the number of instructions; of no function it is 0.
func (c *code) length() int {
	if c == nil {
		return 0
	}
	return len(c.list)
}

// crowded draws batches into blocks, batch i with the key's Batch + i.
func (x *GPU) crowded(to []*Blocks, batches [][]uint32, key Key) error {
	if err := x.crowdDraw(batches, key); err != nil {
		return err
	}
	for i, b := range to {
		vertices, edges, full, err := x.crowd.Counts(i)
		if err != nil {
			return err
		}
		if full { // parallel edges, or many edges among seeds
			k := key
			k.Batch += uint32(i)
			if err := x.p.Blocks(b, batches[i], k); err != nil {
				return err
			}
			continue
		}
		if err := x.readCrowd(b, i, vertices, edges); err != nil {
			return err
		}
	}
	return nil
}

func (x *GPU) crowdDraw(batches [][]uint32, key Key) error {
	most := 1
	for _, b := range batches {
		if err := x.checkSeeds(b); err != nil {
			return err
		}
		most = max(most, len(b))
	}
	if err := x.crowdOf(len(batches), most); err != nil {
		return err
	}
	return x.crowd.Draw(batches, cuda.Batch{Seed: key.Seed, Epoch: key.Epoch, Number: key.Batch})
}

// readCrowd copies a batch.
func (x *GPU) readCrowd(b *Blocks, batch int, vertices, edges []uint32) error {
	begins, fars, weights := b.prepare(vertices, edges)
	err := x.crowd.Vertices(batch, b.Vertices)
	for step := range edges {
		if x.levels.EdgeWeight != "" && edges[step] > 0 {
			weights[step] = make([]float32, edges[step])
			b.Layers[step].Weight = weights[step]
		}
		err = errors.Join(err, x.crowd.Step(batch, step, begins[step], fars[step], b.Layers[step].Edge, weights[step]))
	}
	if err = errors.Join(err, x.on.Sync()); err != nil {
		return err
	}
	b.finish(begins, fars)
	return nil
}

// BlocksOf draws batches, batch i with the key's Batch + i. Those whose levels draw together are drawn at the same time.
func (x *GPU) BlocksOf(batches [][]uint32, key Key) ([]*Blocks, error) {
	var to []*Blocks
	for i, seeds := range batches {
		to = append(to, &Blocks{})
		k := key
		k.Batch += uint32(i)
		if x.levels == nil {
			if err := x.Blocks(to[i], seeds, k); err != nil {
				return nil, err
			}
		}
	}
	if x.levels == nil || len(batches) == 0 {
		return to, nil
	}
	return to, x.crowded(to, batches, key)
}

// DrawOf draws as BlocksOf does and leaves the blocks on the GPU: it is for measuring. It is of samplers whose levels draw together.
func (x *GPU) DrawOf(batches [][]uint32, key Key) error {
	if x.levels == nil || len(batches) == 0 {
		return x.p.errorf("%d batches, whose levels do not draw together", len(batches))
	}
	if err := x.crowdDraw(batches, key); err != nil {
		return err
	}
	return x.on.Sync()
}
