package sample

import "sagann/sample/cuda"

// planLevels plans blocks whose levels draw as a whole (Collective, Everywhere): see plan.
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
			if i.op >= opDegree && i.op <= opHas || i.op >= opTime && i.op <= opEdgeNumber {
				return needs, p.errorf("%w: a GPU computes the EdgeWeight of blocks that are drawn together without rows of the graph, times and numbers of edges", ErrNotOnGPU)
			}
		}
		l.EdgeWeight = p.renderEdge(p.edge)
	}
	x.levels = l
	return cuda.Needs{Far: true}, nil
}

// planAmong plans subgraphs of the seeds and the edges among them: see plan.
func (x *GPU) planAmong() (cuda.Needs, error) {
	x.levels = &cuda.Levels{Kind: cuda.Among}
	return cuda.Needs{Far: true}, nil
}

// crowdOf takes memory for batches batches of size seeds, unless there is enough.
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
	p, edge, weight := x.p, x.p.g.Edge, []float32(nil)
	for i := range p.edge.length() {
		if p.edge.list[i].op == opEdgeWeight {
			weight = p.g.Weight
		}
	}
	if x.together().Kind == cuda.RowsAlone {
		edge = nil // the graph's pairs have the edge numbers
	}
	x.crowd, err = x.on.NewCrowd(*x.together(), cuda.Scores{Before: p.scoresBefore(), Sums: p.everyone}, edge, weight, size, batches)
	if err != nil {
		return p.errorf("batches of %d seeds: %w", size, err)
	}
	return nil
}

// scoresBefore are the prefix sums of the scores of all edges: E+1 numbers, the first 0. It is nil
// unless the sampler is Collective by Score.
func (p *Program) scoresBefore() []uint64 {
	if p.rowSums == nil {
		return nil
	}
	list := make([]uint64, 1, len(p.scores)+1)
	for at, x := range p.scores {
		list = append(list, list[at]+p.fixed(x))
	}
	return list
}

// edgesOfRow is the mean of min(degree, most) over vertices. With byEdge each vertex has its degree as
// weight: this is the mean over the targets of edges.
func (p *Program) edgesOfRow(most int, byEdge bool) float64 {
	sum, of := 0.0, 0.0
	for v := range p.g.Vertices() {
		d, weight := float64(p.g.Degree(uint32(v))), 1.0
		if byEdge {
			weight = d
		}
		sum, of = sum+weight*min(d, float64(most)), of+weight
	}
	return sum / max(of, 1)
}

// together is the plan that draws many batches at the same time; nil if there is none.
func (x *GPU) together() *cuda.Levels {
	if x.levels != nil {
		return x.levels
	}
	return x.alone
}

// drawsTogether tells whether the GPU draws the batches at the same time. It does so if x.levels is set,
// and for small batches over Individual, each of which alone would leave most of the GPU idle.
func (x *GPU) drawsTogether(batches [][]uint32) bool {
	if x.levels != nil || x.alone == nil {
		return x.levels != nil
	}
	most := 0
	for _, b := range batches {
		most = max(most, len(b))
	}
	for _, k := range x.alone.Sizes {
		if most *= 1 + k; most > cuda.MostLevel {
			return false
		}
	}
	return true
}

// length is the number of instructions, 0 for nil.
func (c *code) length() int {
	if c == nil {
		return 0
	}
	return len(c.list)
}

// crowded draws batch i into to[i], by the key with Batch + i, all batches at the same time.
func (x *GPU) crowded(to []*Blocks, batches [][]uint32, key Key) error {
	if err := x.crowdDraw(batches, key); err != nil {
		return err
	}
	var list *cuda.Crowded
	from, n := 0, x.crowd.ReadAtATime()
	for i, b := range to {
		if i%n == 0 {
			var err error
			if list, err = x.crowd.Read(i, min(n, len(to)-i)); err != nil {
				return err
			}
			from = i
		}
		if _, _, full := list.Counts(i - from); full { // no room: parallel edges, or many edges among seeds
			x.redrawn++
			k := key
			k.Batch += uint32(i)
			if err := x.p.Blocks(b, batches[i], k); err != nil {
				return err
			}
			continue
		}
		x.readCrowd(b, list, i-from)
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

// readCrowd copies a batch of list to b.
func (x *GPU) readCrowd(b *Blocks, list *cuda.Crowded, batch int) {
	vertices, edges, _ := list.Counts(batch)
	begins, fars, weights := b.prepare(vertices, edges)
	list.Vertices(batch, b.Vertices)
	for step := range edges {
		if x.together().EdgeWeight != "" && edges[step] > 0 {
			weights[step] = make([]float32, edges[step])
			b.Layers[step].Weight = weights[step]
		}
		list.Step(batch, step, begins[step], fars[step], b.Layers[step].Edge, weights[step])
	}
	b.finish(begins, fars)
}

// BlocksOf draws batches of seeds, batch i by the key with Batch + i. It draws them at the same time if
// the batches are small or their levels draw as a whole, else one by one.
func (x *GPU) BlocksOf(batches [][]uint32, key Key) ([]*Blocks, error) {
	var to []*Blocks
	together := x.drawsTogether(batches)
	for i, seeds := range batches {
		to = append(to, &Blocks{})
		k := key
		k.Batch += uint32(i)
		if !together {
			if err := x.Blocks(to[i], seeds, k); err != nil {
				return nil, err
			}
		}
	}
	if !together || len(batches) == 0 {
		return to, nil
	}
	return to, x.crowded(to, batches, key)
}

// DrawOf draws as BlocksOf and leaves the blocks on the GPU, for measuring. It is an error for batches
// that BlocksOf would draw one by one.
func (x *GPU) DrawOf(batches [][]uint32, key Key) error {
	if len(batches) == 0 || !x.drawsTogether(batches) {
		return x.p.errorf("%d batches, which are not drawn at the same time", len(batches))
	}
	if err := x.crowdDraw(batches, key); err != nil {
		return err
	}
	return x.on.Sync()
}
