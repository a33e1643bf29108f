package batches

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga/rows"
	"sagann/sample"
)

// Draws draws the blocks of batches. What it draws for a place depends on its job and setting alone.
type Draws struct {
	*Job
	Setting
	each    []edges // by relation
	kind    kind
	graph   *Graph
	far     *shardRows // for shards: rows that ranks ask each other for; nil: each rank has the whole graph
	items   []uint32   // what an epoch goes over, by number
	most    []int      // by edge set: the most edges of a row of the block; nil: unknown
	members [][]uint32 // of dataset.GraphLabels: the vertices of each graph
	memo    memo
	spent   spent
}

// spent is time in nanoseconds, over all sources.
type spent struct{ drawing, waiting atomic.Int64 }

// New returns what draws the batches of j by s from graph. If graph is nil it opens that of the data. With shards all ranks
// call it.
func New(j Job, s Setting, graph *Graph) (*Draws, error) {
	var err error
	if graph == nil {
		if graph, err = open(&j); err != nil {
			return nil, err
		}
	}
	d := &Draws{Job: &j, Setting: s, kind: s.kindOf(), graph: graph, items: j.Items}
	if d.items == nil {
		d.items = j.trainItems()
	}
	if graph.shard != nil {
		d.far = &shardRows{shardPart: graph.shard, loops: s.Sampler.KeepLoops, ranks: j.Net}
	}
	if err := d.relations(graph); err != nil {
		return nil, err
	}
	if err := d.findMost(); err != nil {
		return nil, err
	}
	d.kind.begin(d)
	if j.Task == dataset.GraphLabels {
		d.members = membersOf(j.In.Data, j.Graphs)
	}
	return d, nil
}

// program draws from a graph of one relation.
func (d *Draws) program() *sample.Program { return d.each[0].program }

// findMost sets d.most.
func (d *Draws) findMost() (err error) {
	if d.Kinds != nil {
		d.most = d.mostOf()
		return nil
	}
	most := d.program().Most()
	if d.far != nil {
		d.far.serve(d.program())
		if most, err = MostOf(d.Net, most); err != nil {
			return err
		}
	}
	if most != nil {
		d.most = append([]int{0}, most...)
		if d.paired() { // the block of pairs, below the drawn blocks
			d.most = slices.Insert(d.most, 1, 0)
		}
	}
	return nil
}

// Graph is the graph that d draws from. Other programs may draw from it, too.
func (d *Draws) Graph() *Graph { return d.graph }

// Digest is a hash of what the sampler draws.
func (d *Draws) Digest() string { return d.digest() }

// Far tells whether rows come from other ranks, which have the rest of the graph.
func (d *Draws) Far() bool { return d.far != nil }

// Items is the number of items of an epoch.
func (d *Draws) Items() int { return len(d.items) }

// Full is the number of items of a full batch.
func (d *Draws) Full() int { return min(d.Batch, len(d.items)) }

// Total is the weight of all items of an epoch in the loss.
func (d *Draws) Total() float64 { return d.Weight(d.items) }

// Times are the time that goroutines took to draw and fill batches, summed over them, and the time that steps waited for
// their batches, so far.
func (d *Draws) Times() (drawing, waiting time.Duration) {
	return time.Duration(d.spent.drawing.Load()), time.Duration(d.spent.waiting.Load())
}

// waits adds the time since start to what steps waited.
func (d *Draws) waits(start time.Time) { d.spent.waiting.Add(int64(time.Since(start))) }

// memo keeps what is made once for all batches.
type memo struct {
	mu      sync.Mutex
	readers map[reader]func(v int, to []float32) // a function that writes the row of a vertex
	ranks   map[*chunk.Edges][]float32           // by edge: its place in the in-list of its end
}

// reader is an input of the rows of a vertex type or a relation.
type reader struct {
	of   *rows.Inputs
	name string
}

// rowOf returns the function that writes the row of a vertex of input name. Inputs that are computed for all vertices at
// once are computed on the first call and kept.
func (d *Draws) rowOf(x reader) (func(v int, to []float32), error) {
	m := &d.memo
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.readers[x]; f != nil {
		return f, nil
	}
	f, err := x.of.Reader(x.name)
	if err != nil {
		return nil, err
	}
	if m.readers == nil {
		m.readers = map[reader]func(int, []float32){}
	}
	m.readers[x] = f
	return f, nil
}

// edgeRanks gives the place of each edge in the in-list of its destination, in stored order. Dropout of edges is keyed
// by it, and of equal maxima the lowest rank wins.
func (d *Draws) edgeRanks(g *chunk.Edges) []float32 {
	m := &d.memo
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ranks == nil {
		m.ranks = map[*chunk.Edges][]float32{}
	}
	if m.ranks[g] == nil {
		next, ranks := make([]uint32, g.V), make([]float32, g.E())
		for e, v := range g.Dst {
			ranks[e] = float32(next[v])
			next[v]++
		}
		m.ranks[g] = ranks
	}
	return m.ranks[g]
}

// dataCols is the number of numbers of data per edge of relation r, with that of Setting.Scaled.
func (d *Draws) dataCols(r int) int {
	n := d.each[r].In.Edges.DataCols
	if d.Scaled {
		n++
	}
	return n
}

// blocks are the blocks of a batch: those that were sampled, and the block of pairs below them if items are pairs. Counts and Layers are
// in the order of sets (plan.Numbers), by vertex set and edge set.
type blocks struct {
	sample.Blocks
	items  []uint32
	counts []float32 // how often each item counts; nil: once
	total  float64   // weight of all items of the batch's update

	upper sample.Blocks // the sampled blocks, without the block of pairs
	pairs sample.Block  // the pairs, by the vertices where they end
	facts pairFacts
	local map[moment]int32 // if items are pairs: the place of each seed

	types   [][]uint32         // of several types, in place of Vertices: those of each type that the batch has
	places  [][]int32          // by type and vertex, while it is drawn: its place in types + 1; 0: it has none
	moments []map[moment]int32 // with Setting.Past, in place of places: by type the place of a vertex at a time
	untils  [][]float64        // with Setting.Past: the times of types

	numbers []chunk.Edges // over shards: weights, types and data of the edges of each of Layers
	degrees []uint32      // over shards: in-degrees of the vertices drawn for last
	seeds   []uint32
	until   []float64 // with Setting.Past: the time of each seed
}

// count is how often item i counts in the loss.
func (b *blocks) count(i int) float64 {
	if b.counts == nil {
		return 1
	}
	return float64(b.counts[i])
}

// draw draws the blocks of a batch of the epoch that has order o, in the memory of the batch that b was before.
func (d *Draws) draw(b *blocks, o *Order, at Place) error {
	b.items, b.counts = o.Items(at.Batch)
	b.total = o.total(at.Batch)
	behind := o.of.behind(at.Batch)
	switch {
	case d.paired() && d.Kinds != nil:
		b.seeds = b.seeds[:0] // drawKinds numbers the ends of pairs
	case d.paired():
		list := d.pairsOf(b, at.Epoch)
		b.enterSeeds(&list)
	case d.Task == dataset.GraphLabels:
		b.seeds = b.seeds[:0]
		for _, g := range b.items {
			b.seeds = append(b.seeds, d.members[g]...)
		}
	default:
		b.seeds = append(append(b.seeds[:0], b.items...), behind...)
	}
	if d.Kinds != nil {
		return d.drawKinds(b, at)
	}
	key := d.each[0].key(at)
	if err := d.drawUpper(b, key); err != nil {
		return err
	}
	if d.Sampler.Output != sample.Layers {
		b.upper.Deepen(len(b.seeds)-len(behind), d.Depth)
	}
	b.Vertices, b.Counts, b.Layers = b.upper.Vertices, b.Counts[:0], b.Layers[:0]
	if d.paired() {
		b.Counts, b.Layers = append(b.Counts, len(b.pairs.Offsets)-1), append(b.Layers, b.pairs)
	}
	b.Counts, b.Layers = append(b.Counts, b.upper.Counts...), append(b.Layers, b.upper.Layers...)
	return nil
}
