package saga

import (
	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga/rows"
	"sagann/sample"
)

// Items are what an epoch of sampled training goes over in batches: training vertices, edges with labels, links to
// predict, or graphs. They are numbered as in the data; training links are numbered from 0.
//
// The seeds of a batch are the vertices from which its blocks are drawn. They are its vertices; or the ends of its edges;
// or the ends of its links and of as many pairs that no edge joins; or all vertices of its graphs. Edges and pairs form a
// block of their own below the drawn blocks. Its rows are the seeds where a pair ends. On it, a model's head works as
// it does on the edges of the full graph.

// items lists the numbers of the items: the training split, or all vertices of splits in an evaluation.
func (p *Program) items() []uint32 {
	d := p.data
	if p.output == outputScores {
		return p.allItems()
	}
	if p.dims.taskName() != LinkTask {
		return d.Splits(p.dims.taskName())[0]
	}
	list := make([]uint32, d.Targets.Links.Train.Len())
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// itemWeight is the weight of item x in the mean loss.
func (p *Program) itemWeight(x uint32) float64 {
	w, d := p.model.Loss.ClassWeights, p.data
	switch task := p.dims.taskName(); {
	case task == LinkTask:
		return 2 // the link, and the pair without an edge that is drawn with it
	case w == nil:
		return 1
	case task == EdgeTask:
		return float64(w[d.EdgeLabels[x]])
	case task == GraphTask:
		return float64(w[d.GraphLabels[x]])
	}
	return float64(w[d.Labels[x]])
}

// itemWeights is the sum of the weights of a list of items.
func (p *Program) itemWeights(list []uint32) (sum float64) {
	for _, x := range list {
		sum += p.itemWeight(x)
	}
	return sum
}

// paired tells whether items are pairs of vertices.
func (d *dims) paired() bool { return d.task == EdgeTask || d.task == LinkTask }

// drawn are the blocks of a batch: those that were sampled, and the block of pairs below them if items are pairs.
type drawn struct {
	sample.Blocks
	items  []uint32
	counts []float32 // how often each item counts; nil: once
	total  float64   // weight of all items of the batch's update

	upper sample.Blocks    // the sampled blocks, without the block of pairs
	pairs sample.Block     // the pairs, by the vertices where they end
	share []float32        // of each pair in the mean loss; negative if no edge joins the pair
	local map[uint32]int32 // if items are pairs: the place of each seed

	numbers []chunk.Edges // over shards: weights, types and data of the edges of each of Layers
	degrees []uint32      // over shards: in-degrees of the vertices drawn for last
	seeds   []uint32
}

// rowsFrom returns the function that draws a step of the sampler from shards; nil without shards.
func (b *drawn) rowsFrom(far *shardRows, key sample.Key) func(*sample.Block, []uint32, int) error {
	if far == nil {
		return nil
	}
	return func(to *sample.Block, vertices []uint32, step int) error {
		for len(b.numbers) <= step {
			b.numbers = append(b.numbers, chunk.Edges{})
		}
		return far.layer(to, &b.numbers[step], &b.degrees, vertices, key, step)
	}
}

// draw draws the blocks of batch at.batch of an epoch's order.
func (p *Program) draw(b *drawn, order *epochOrder, at step) error {
	s := p.sampled
	if s.Clusters != nil {
		s.inClusters(b, order.clusters[at.batch])
	} else {
		b.items = s.itemsOf(order, at.batch)
		if s.Norms != nil {
			b.counts = order.chosen[at.batch].counts
		}
		b.seeds = append(b.seeds[:0], b.items...)
	}
	b.total = p.updateWeight(order, at.batch)
	var list dataset.Pairs
	switch p.dims.taskName() {
	case EdgeTask, LinkTask:
		list = p.pairsOf(b, at.epoch)
		b.enter(&list)
	case GraphTask:
		b.seeds = b.seeds[:0]
		for _, g := range b.items {
			b.seeds = append(b.seeds, s.draw.members[g]...)
		}
	}
	key := sample.Key{Seed: p.cfg.Seed, Epoch: uint32(at.epoch), Batch: uint32(at.batch)}
	if err := s.draw.BlocksFrom(&b.upper, b.seeds, key, b.rowsFrom(s.draw.far, key)); err != nil {
		return err
	}
	if s.Sampler.Output != sample.Layers {
		seeds := len(b.seeds)
		if s.Clusters != nil {
			seeds = len(b.items)
		}
		b.upper.Deepen(seeds, s.draw.depth)
	}
	b.Vertices, b.Counts, b.Layers = b.upper.Vertices, b.Counts[:0], b.Layers[:0]
	if p.dims.paired() {
		b.Counts, b.Layers = append(b.Counts, len(b.pairs.Offsets)-1), append(b.Layers, b.pairs)
	}
	b.Counts, b.Layers = append(b.Counts, b.upper.Counts...), append(b.Layers, b.upper.Layers...)
	return nil
}

// pairsOf lists the pairs of the batch. For links it lists the batch's links first and then as many pairs that no edge
// joins. It also sets b.share, in the same order.
func (p *Program) pairsOf(b *drawn, epoch int) (list dataset.Pairs) {
	b.pairs.Edge, b.share = b.pairs.Edge[:0], b.share[:0]
	total := b.total
	add := func(u, v uint32, weight float64) {
		share := 0.0
		if total > 0 {
			share = weight / total
		}
		list.Src, list.Dst, b.share = append(list.Src, u), append(list.Dst, v), append(b.share, float32(share))
	}
	if p.dims.task == EdgeTask {
		for _, e := range b.items {
			add(p.data.Edges.Src[e], p.data.Edges.Dst[e], p.itemWeight(e))
		}
		return list
	}
	l := p.in.link.links
	for _, k := range b.items {
		add(l.Train.Src[k], l.Train.Dst[k], 1)
	}
	for _, k := range b.items {
		u, v := p.negative(epoch, int(k))
		add(u, v, -1)
	}
	return list
}

// enter makes the block of the batch's pairs, and makes their ends the seeds. Vertices where pairs end come first, so
// that they are a level: a prefix of the seeds.
func (b *drawn) enter(list *dataset.Pairs) {
	if b.local == nil {
		b.local = map[uint32]int32{}
	}
	clear(b.local)
	b.seeds = b.seeds[:0]
	number := func(v uint32) int32 {
		n, ok := b.local[v]
		if !ok {
			n = int32(len(b.seeds))
			b.local[v], b.seeds = n, append(b.seeds, v)
		}
		return n
	}
	for _, v := range list.Dst {
		number(v)
	}
	ends := make([]int64, len(b.seeds)+1)
	for _, v := range list.Dst {
		ends[b.local[v]+1]++
	}
	for i := range b.seeds {
		ends[i+1] += ends[i]
	}
	x, n := &b.pairs, list.Len()
	x.Offsets = append(x.Offsets[:0], ends...)
	x.Far, x.Edge = make([]int32, n), x.Edge[:0]
	share, edges := make([]float32, n), make([]uint32, n)
	for i, v := range list.Dst {
		at := ends[b.local[v]]
		ends[b.local[v]]++
		x.Far[at], share[at] = number(list.Src[i]), b.share[i]
		if i < len(b.items) {
			edges[at] = b.items[i]
		}
	}
	b.share = share
	if n == len(b.items) { // labelled edges, which have numbers in the data; pairs of links have none
		x.Edge = edges
	}
}

// mostPairs is the number of pairs of a full batch; 0 if items are no pairs.
func (s *sampled) mostPairs(d *dims) int {
	switch n := min(s.Batch, len(s.draw.items)); d.task {
	case EdgeTask:
		return n
	case LinkTask:
		return 2 * n
	}
	return 0
}

// membersOf lists the vertices of each graph.
func membersOf(d *dataset.Data, graphs int) [][]uint32 {
	list := make([][]uint32, graphs)
	for v, g := range d.GraphOf {
		list[g] = append(list[g], uint32(v))
	}
	return list
}

// setGraphs gives the step the labels, weights and sizes of the batch's graphs, in their order in the batch.
func (s *session) setGraphs(b *batch) error {
	p := s.p
	if p.dims.task != GraphTask {
		return nil
	}
	n := p.trainDims().graphs
	labels, weights, counts := make([]float32, n), make([]float32, n), make([]float32, n)
	total := b.blocks.total
	for i, g := range b.blocks.items {
		labels[i], counts[i] = float32(p.data.GraphLabels[g]), 1/float32(max(1, len(p.sampled.draw.members[g])))
		if total > 0 {
			weights[i] = float32(p.itemWeight(g) / total)
		}
	}
	for name, x := range map[string][]float32{rows.GraphLabels: labels, rows.GraphWeight: weights, rows.GraphInvCount: counts} {
		if id, ok := p.train.low.Globals[name]; ok {
			if err := s.train.SetGlobal(id, x); err != nil {
				return err
			}
		}
	}
	return nil
}
