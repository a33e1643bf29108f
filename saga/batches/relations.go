package batches

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"sagann/chunk"
	"sagann/sample"
)

// Draws from the relations of a graph, of which a graph without types has one.

// edges is what is drawn from the edges of a relation, or of a graph without relations.
type edges struct {
	Relation
	program *sample.Program
	past    *sample.Past // draws edges up to the times of seeds; nil: edges of any time are drawn
	graph   *sample.Graph
	sampler sample.Sampler
	degrees []uint32 // with Setting.Scaled, by vertex: in-edges without the self loops that are always drawn
	seed    uint64   // of its draws
}

// relations is what is drawn from each relation of graph.
func (d *Draws) relations(graph *Graph) error {
	list := []Relation{{In: d.In}}
	if d.Kinds != nil {
		list = d.Kinds.Relations
	}
	for i := range list {
		x := edges{Relation: list[i], sampler: *d.drawn(&list[i]), graph: graph.relation(i), seed: d.Seed}
		if x.Src != x.Dst {
			x.sampler.KeepLoops = false
		}
		if x.Name != "" { // so that one more relation changes no other draw
			h := fnv.New64a()
			fmt.Fprintf(h, "draws of relation %s", x.Name)
			x.seed ^= h.Sum64()
		}
		if d.Scaled && graph.shard == nil {
			x.degrees = degreesOf(x.In.Edges, x.sampler.KeepLoops)
		}
		var err error
		if x.program, err = sample.Compile(x.graph, x.atLeastOne(d.Kinds != nil)); err != nil {
			if x.Name != "" {
				err = fmt.Errorf("relation %s: %w", x.Name, err)
			}
			return err
		}
		if err := x.findPast(d.Past); err != nil {
			return err
		}
		d.each = append(d.each, x)
	}
	return nil
}

// atLeastOne is the sampler of x, whose steps without draws, if there can be any, make one that is not used.
func (x *edges) atLeastOne(none bool) sample.Sampler {
	s := x.sampler
	if size := s.Size; none && size != nil {
		s.Size = func(step int) int {
			n := size(step)
			if n == 0 {
				return 1
			}
			return n
		}
	}
	return s
}

// most is the most edges of a row of each step; nil: the sampler does not bound them.
func (x *edges) most() []int {
	list := x.program.Most()
	for step := range list {
		if x.sampler.Size != nil && x.sampler.Size(step) == 0 {
			list[step]--
		}
	}
	return list
}

// rows draws the edges of a step into vertices, up to their times if edges have times.
func (x *edges) rows(b *sample.Block, vertices []uint32, until []float64, key sample.Key, step int) error {
	switch {
	case x.sampler.Size(step) == 0:
	case x.past != nil:
		return x.past.Rows(b, vertices, until, key, step)
	default:
		return x.program.Rows(b, vertices, key, step)
	}
	b.Offsets, b.Far, b.Edge = append(b.Offsets[:0], 0), b.Far[:0], b.Edge[:0]
	for _, v := range vertices {
		lo, hi := x.graph.Offsets[v], x.graph.Offsets[v+1]
		if at, found := slices.BinarySearch(x.graph.Far[lo:hi], v); found && x.sampler.KeepLoops {
			for i := lo + int64(at); i < hi && x.graph.Far[i] == v; i++ {
				if x.past == nil || math.IsInf(x.graph.Time[i], -1) {
					b.Far, b.Edge = append(b.Far, int32(v)), append(b.Edge, x.graph.Edge[i])
				}
			}
		}
		b.Offsets = append(b.Offsets, int64(len(b.Far)))
	}
	return nil
}

// key is the key of the draws of a batch from x.
func (x *edges) key(at Place) sample.Key {
	return sample.Key{Seed: x.seed, Epoch: uint32(at.Epoch), Batch: uint32(at.Batch)}
}

// mostOf is the most edges of a row of each block, by edge set; nil: a sampler does not bound them.
func (d *Draws) mostOf() []int {
	n := d.Numbers()
	list := make([]int, n.Edge(d.base()+d.Depth, 0))
	for r := range d.each {
		for l, most := range d.each[r].most() {
			list[n.Edge(d.base()+l, r)] = most
		}
	}
	return list
}

// drawKinds draws the blocks of a batch of several types from the seeds of b.
func (d *Draws) drawKinds(b *blocks, at Place) error {
	k, n := d.Kinds, d.Numbers()
	d.beginKinds(b)
	defer b.endKinds()
	for len(b.Layers) < n.Edge(d.base()+d.Depth, 0)-1 {
		b.Layers = append(b.Layers, sample.Block{})
	}
	b.Counts = b.Counts[:0]
	switch {
	case d.paired():
		d.enterKinds(b, at)
	case d.Past != "":
		d.untilOf(b)
	}
	for i, v := range b.seeds {
		b.number(k.Target, v, b.untilAt(i))
	}
	b.level()
	for l := d.base(); l < d.base()+d.Depth; l++ {
		from := b.Counts[len(b.Counts)-len(k.Types):]
		for r := range d.each {
			x, layer := &d.each[r], &b.Layers[n.Edge(l, r)-1]
			var until []float64
			if d.Past != "" {
				until = b.untils[x.Dst][:from[x.Dst]]
			}
			if err := x.rows(layer, b.types[x.Dst][:from[x.Dst]], until, x.key(at), l-d.base()); err != nil {
				return err
			}
		}
		for r := range d.each {
			d.numberFar(b, r, &b.Layers[n.Edge(l, r)-1])
		}
		b.level()
	}
	return nil
}

// beginKinds makes room for the vertices of a batch.
func (d *Draws) beginKinds(b *blocks) {
	k := d.Kinds
	if b.types == nil {
		b.types = make([][]uint32, len(k.Types))
		if d.Past != "" {
			b.untils = make([][]float64, len(k.Types))
			for range k.Types {
				b.moments = append(b.moments, map[moment]int32{})
			}
		} else {
			for _, in := range k.Types {
				b.places = append(b.places, make([]int32, in.Edges.V))
			}
		}
	}
	for t := range b.types {
		b.types[t] = b.types[t][:0]
	}
	for t := range b.untils {
		b.untils[t] = b.untils[t][:0]
	}
}

// endKinds has no vertex have a place: between batches places are all 0.
func (b *blocks) endKinds() {
	for t, list := range b.places {
		for _, v := range b.types[t] {
			list[v] = 0
		}
	}
	for _, m := range b.moments {
		clear(m)
	}
}

// untilAt is the time of seed i, 0 where seeds have none.
func (b *blocks) untilAt(i int) float64 {
	if b.moments == nil {
		return 0
	}
	return b.until[i]
}

// numberFar makes the ids of far ends in the block of relation r places. They are at the times of the vertices that drew them.
func (d *Draws) numberFar(b *blocks, r int, layer *sample.Block) {
	x := &d.each[r]
	for i := range len(layer.Offsets) - 1 {
		until := 0.0
		if b.moments != nil {
			until = b.untils[x.Dst][i]
		}
		far := layer.Far[layer.Offsets[i]:layer.Offsets[i+1]]
		for k, f := range far {
			far[k] = b.number(x.Src, uint32(f), until)
		}
	}
}

// enterKinds makes the block of the pairs of a batch, level 0 of those where they end, and numbers those where they begin. With times they
// are there before the times of their pairs.
func (d *Draws) enterKinds(b *blocks, at Place) {
	x := &d.Kinds.Relations[d.Kinds.Links]
	list := d.pairsOf(b, at.Epoch)
	if x.Src != x.Dst { // dataset.PairV: vertices of the second type are numbered behind those of the first
		for i := range list.Dst {
			list.Dst[i] -= uint32(d.Kinds.Types[x.Src].Edges.V)
		}
	}
	until := func(k int) float64 {
		if b.moments == nil {
			return 0
		}
		return Before(list.Time[k])
	}
	for k, v := range list.Dst {
		b.number(x.Dst, v, until(k))
	}
	b.level()
	b.enter(&list, func(v uint32, k int) int32 { return b.number(x.Dst, v, until(k)) }, func(v uint32, k int) int32 { return b.number(x.Src, v, until(k)) })
	b.Layers[d.pairs()-1] = b.pairs
	b.seeds = b.seeds[:0]
}

// number is the place of vertex v, with Setting.Past at a time, among those of type t that the batch has. It gets the next one if it has none.
func (b *blocks) number(t int, v uint32, until float64) int32 {
	if b.moments != nil {
		n, ok := b.moments[t][moment{v, until}]
		if !ok {
			n = int32(len(b.types[t]))
			b.moments[t][moment{v, until}] = n
			b.types[t], b.untils[t] = append(b.types[t], v), append(b.untils[t], until)
		}
		return n
	}
	at := &b.places[t][v]
	if *at == 0 {
		b.types[t] = append(b.types[t], v)
		*at = int32(len(b.types[t]))
	}
	return *at - 1
}

// level ends a level: it has all vertices that were numbered so far.
func (b *blocks) level() {
	for t := range b.types {
		b.Counts = append(b.Counts, len(b.types[t]))
	}
}

// ofType are the vertices of type t that the batch has.
func (b *blocks) ofType(t int) []uint32 {
	if b.types == nil {
		return b.Vertices
	}
	return b.types[t]
}

// digest is a hash of what is drawn.
func (d *Draws) digest() string {
	if d.Kinds == nil {
		return d.each[0].program.Digest()
	}
	var list []string
	for i := range d.each {
		list = append(list, d.each[i].program.Digest())
	}
	if same := slices.Compact(slices.Clone(list)); len(same) == 1 {
		return same[0]
	}
	h := fnv.New64a()
	for i, x := range list {
		fmt.Fprintln(h, d.each[i].Name, x)
	}
	return fmt.Sprintf("%.16x", h.Sum64())
}

// degreesOf counts the in-edges of each vertex; if without is true, self loops are not counted.
func degreesOf(e *chunk.Edges, without bool) []uint32 {
	n := slices.Clone(e.InDegrees())
	for k, v := range e.Dst {
		if without && e.Src[k] == v {
			n[v]--
		}
	}
	return n
}
