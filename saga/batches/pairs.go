package batches

import (
	"sagann/dataset"
	"sagann/ops"
)

// Edges and pairs form a block of their own below the drawn blocks. Its rows are the seeds where a pair ends. On it, a
// model's head works as it does on the edges of the full graph.

// NoEdge is pair k of an epoch of those that no edge joins: as many are drawn as there are training links, new ones in
// every epoch. It depends on seed, epoch and k alone.
func NoEdge(l *dataset.Links, seed uint64, epoch, k int) (u, v uint32) {
	random := func(try int) uint64 {
		return ops.Random(uint32(seed), uint32(seed>>32), uint32(epoch), uint32(k), uint32(uint64(k)>>32)^uint32(try)<<16)
	}
	if n := l.NotYet(); n != nil {
		return n.Draw(&l.Train, k, random)
	}
	return l.NotKnown().Draw(random(0))
}

// pairFacts are what pairs of a batch have, in their order.
type pairFacts struct {
	share []float32 // in the mean loss; negative if no edge joins the pair
	kinds []uint32  // their types; nil: they have none
}

// pairs is the edge set of the block of pairs.
func (j *Job) pairs() int {
	if j.Kinds == nil {
		return 1
	}
	return j.Numbers().Edge(0, j.Kinds.Links)
}

// pairsOf lists the pairs of a batch. For links it lists the batch's links first and then as many pairs that no edge
// joins; where links have times or types, these have that of their link. It also sets b.facts.share, in the same order.
func (j *Job) pairsOf(b *blocks, epoch int) (list dataset.Pairs) {
	b.pairs.Edge, b.facts.share = b.pairs.Edge[:0], b.facts.share[:0]
	total := b.total
	add := func(u, v uint32, weight float64) {
		share := 0.0
		if total > 0 {
			share = weight / total
		}
		list.Src, list.Dst, b.facts.share = append(list.Src, u), append(list.Dst, v), append(b.facts.share, float32(share))
	}
	d := j.In.Data
	if j.Task == dataset.EdgeLabels {
		edges, behind := dataset.LabelledEdges(d), dataset.PairEnds(d)[1].First
		for _, e := range b.items {
			add(edges.Src[e], edges.Dst[e]+behind, j.weightOf(e))
		}
		return list
	}
	l := d.Targets.Links
	for _, k := range b.items {
		add(l.Train.Src[k], l.Train.Dst[k], 1)
	}
	for _, k := range b.items {
		u, v := NoEdge(l, j.Seed, epoch, int(k))
		add(u, v, -1)
	}
	for range 2 {
		for _, k := range b.items {
			if l.Train.Time != nil {
				list.Time = append(list.Time, l.Train.Time[k])
			}
			if l.Train.Type != nil {
				list.Type = append(list.Type, l.Train.Type[k])
			}
		}
	}
	return list
}

// enterSeeds makes the block of the batch's pairs, and makes their ends the seeds. Vertices where pairs end come first, so
// that they are a level: a prefix of the seeds. With times a vertex is a seed for each time at which it is an end, and b.until is what the
// seeds see.
func (b *blocks) enterSeeds(list *dataset.Pairs) {
	if b.local == nil {
		b.local = map[moment]int32{}
	}
	clear(b.local)
	b.seeds, b.until = b.seeds[:0], b.until[:0]
	number := func(v uint32, k int) int32 {
		x := moment{vertex: v}
		if list.Time != nil {
			x.time = Before(list.Time[k])
		}
		n, ok := b.local[x]
		if !ok {
			n = int32(len(b.seeds))
			b.local[x], b.seeds, b.until = n, append(b.seeds, v), append(b.until, x.time)
		}
		return n
	}
	b.enter(list, number, number)
}

// enter makes the block of the batch's pairs. dst and src number the vertices where they end and begin, of pair k; those where they end are
// the first ones.
func (b *blocks) enter(list *dataset.Pairs, dst, src func(v uint32, k int) int32) {
	rows := int32(0)
	for k, v := range list.Dst {
		rows = max(rows, dst(v, k)+1)
	}
	ends := make([]int64, rows+1)
	for k, v := range list.Dst {
		ends[dst(v, k)+1]++
	}
	for i := range rows {
		ends[i+1] += ends[i]
	}
	x, n := &b.pairs, list.Len()
	x.Offsets = append(x.Offsets[:0], ends...)
	x.Far, x.Edge = make([]int32, n), x.Edge[:0]
	share, edges := make([]float32, n), make([]uint32, n)
	if b.facts.kinds = nil; list.Type != nil {
		b.facts.kinds = make([]uint32, n)
	}
	for i, v := range list.Dst {
		n := dst(v, i)
		at := ends[n]
		ends[n]++
		x.Far[at], share[at] = src(list.Src[i], i), b.facts.share[i]
		if list.Type != nil {
			b.facts.kinds[at] = list.Type[i]
		}
		if i < len(b.items) {
			edges[at] = b.items[i]
		}
	}
	b.facts.share = share
	if n == len(b.items) { // labelled edges, which have numbers in the data; pairs of links have none
		x.Edge = edges
	}
}
