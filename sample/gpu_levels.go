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

// crowdOf has memory for the batches of a list.
func (x *GPU) crowdOf(list, size int) (err error) {
	if x.crowd != nil {
		if x.crowd.Fits(size, list) {
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
	x.crowd, err = x.on.NewCrowd(*x.levels, cuda.Scores{Edge: p.scores, Unit: p.unit, Everyone: p.everyone}, p.g.Edge, weight, size, (list+size-1)/size)
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

// crowd draws the batches of a list of seeds, batch i with the key's Batch + i, into the blocks.
func (x *GPU) crowded(to []*Blocks, seeds []uint32, size int, key Key) error {
	if err := x.crowdDraw(seeds, size, key); err != nil {
		return err
	}
	for i, b := range to {
		vertices, edges, full, err := x.crowd.Counts(i)
		if err != nil {
			return err
		}
		if full { // parallel edges
			k := key
			k.Batch += uint32(i)
			if err := x.p.Blocks(b, seeds[i*size:min(len(seeds), (i+1)*size)], k); err != nil {
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

func (x *GPU) crowdDraw(seeds []uint32, size int, key Key) error {
	if err := x.crowdOf(len(seeds), size); err != nil {
		return err
	}
	return x.crowd.Draw(seeds, cuda.Batch{Seed: key.Seed, Epoch: key.Epoch, Number: key.Batch})
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

// crowdEpoch is Epoch of blocks whose levels draw together.
func (x *GPU) crowdEpoch(list []uint32, size int, key Key) (vertices, edges []uint32, err error) {
	if err := x.crowdDraw(list, size, key); err != nil {
		return nil, nil, err
	}
	vertices, edges, _, err = x.crowd.Counts((len(list) - 1) / size)
	return vertices, edges, err
}

// BlocksOf draws the batches of a list of seeds, size seeds each and the last one fewer, batch i with the key's Batch + i. Batches whose
// levels draw together are drawn at the same time.
func (x *GPU) BlocksOf(list []uint32, size int, key Key) ([]*Blocks, error) {
	if size < 1 || len(list) == 0 {
		return nil, x.p.errorf("batches of %d of %d seeds: at least 1 of 1", size, len(list))
	}
	var to []*Blocks
	for i := 0; i < len(list); i += size {
		b, k := &Blocks{}, key
		k.Batch += uint32(i / size)
		to = append(to, b)
		some := list[i:min(len(list), i+size)]
		if err := x.checkSeeds(some); err != nil {
			return nil, err
		}
		if x.levels != nil {
			continue
		}
		if err := x.Blocks(b, some, k); err != nil {
			return nil, err
		}
	}
	if x.levels == nil {
		return to, nil
	}
	return to, x.crowded(to, list, size, key)
}
