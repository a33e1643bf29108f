package batches

import (
	"fmt"
	"hash/fnv"
	"slices"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/saga/rows"
	"sagann/sample"
)

// Kinds are the vertex types and relations of a graph that has several.
type Kinds struct {
	Types     []*rows.Inputs
	Relations []Relation
	Target    int // the type whose vertices are the items; of links, that of their sources
	Links     int // of dataset.LinkLabels: the relation of the links
}

// Relation is the edges of one relation, from vertices of type Src to vertices of type Dst. Its draws depend on Name: "" has them be those
// of a graph without relations.
type Relation struct {
	Name     string
	Src, Dst int
	In       *rows.Inputs    // its degrees; In.Edges are its edges as the model sees them
	Sampler  *sample.Sampler // nil: Setting.Sampler
}

// edges is what is drawn from the edges of a relation, or of a graph without relations.
type edges struct {
	Relation
	program *sample.Program
	graph   *sample.Graph
	sampler sample.Sampler
	degrees []uint32 // with Setting.Scaled, by vertex: in-edges without the self loops that are always drawn
	seed    uint64   // of its draws
}

// types is the number of vertex types.
func (j *Job) types() int {
	if j.Kinds == nil {
		return 1
	}
	return len(j.Kinds.Types)
}

// Numbers says how the sets of a batch are numbered.
func (j *Job) Numbers() plan.Numbers {
	if j.Kinds == nil {
		return plan.Numbers{}
	}
	return plan.Numbers{Types: len(j.Kinds.Types), Relations: len(j.Kinds.Relations)}
}

// ends are the numbers of the vertex sets of the sources and destinations of edge set e.
func (j *Job) ends(e int) (src, dst int) {
	if j.Kinds == nil {
		return e + 1, e
	}
	n := j.Numbers()
	level, r := n.Block(e)
	x := &j.Kinds.Relations[r]
	return n.Vertex(level+1, x.Src), n.Vertex(level, x.Dst)
}

// target is the type of the items.
func (j *Job) target() int {
	if j.Kinds == nil {
		return 0
	}
	return j.Kinds.Target
}

// source is the rows that input in comes from, and its name there.
func (j *Job) source(in dataflow.Input) (*rows.Inputs, string) {
	if j.Kinds == nil {
		return j.In, in.Name
	}
	if name, r := dataflow.RelationOf(in.Name); rows.OfDegrees(name) || name == dataflow.BlockOutDegree {
		return j.Kinds.Relations[r].In, name
	}
	return j.Kinds.Types[in.Set.Type], in.Name
}

// checkKinds returns an error if s does not suit a graph of several types.
func (s *Setting) checkKinds(j *Job) error {
	const what = "over several types of vertices or relations neighbours are drawn, by equal probability or by weight: --sample 15,10, --sampler neighbours:15,10 or weighted:15,10"
	switch {
	case s.Clusters != nil:
		return fmt.Errorf("the sampler %s draws clusters of one type of vertices; %s", s.Sampler.Name, what)
	case s.Norms != nil:
		return fmt.Errorf("the sampler %s chooses vertices of one type by norms; %s", s.Sampler.Name, what)
	}
	for i := range j.Kinds.Relations {
		if d := s.drawn(&j.Kinds.Relations[i]); d.Output != sample.Layers || d.Over != sample.Individual || d.Next != nil || d.EdgeWeight != nil || d.Top > 0 {
			return fmt.Errorf("the sampler %s is for one type of vertices and one relation; %s", d.Name, what)
		}
	}
	return nil
}

// drawn is the sampler of relation r.
func (s *Setting) drawn(r *Relation) *sample.Sampler {
	if r.Sampler != nil {
		return r.Sampler
	}
	return &s.Sampler
}

// relations is what is drawn from each relation of graph.
func (d *Draws) relations(graph *Graph) error {
	list := []Relation{{In: d.In}}
	if d.Kinds != nil {
		list = d.Kinds.Relations
	}
	for i := range list {
		x := edges{Relation: list[i], sampler: *d.drawn(&list[i]), graph: graph.relation(i), seed: d.Seed}
		x.sampler.Empty = d.Kinds != nil
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
		if x.program, err = sample.Compile(x.graph, x.sampler); err != nil {
			if x.Name != "" {
				err = fmt.Errorf("relation %s: %w", x.Name, err)
			}
			return err
		}
		d.each = append(d.each, x)
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
		for l, most := range d.each[r].program.Most() {
			list[n.Edge(d.base()+l, r)] = most
		}
	}
	return list
}

// base is the level of the seeds: 1 if a block of pairs lies below them.
func (j *Job) base() int {
	if j.paired() {
		return 1
	}
	return 0
}

// drawKinds draws the blocks of a batch of several types from the seeds of b.
func (d *Draws) drawKinds(b *blocks, at Place) error {
	k, n := d.Kinds, d.Numbers()
	if b.types == nil {
		b.types, b.places = make([][]uint32, len(k.Types)), make([][]int32, len(k.Types))
		for t, in := range k.Types {
			b.places[t] = make([]int32, in.Edges.V)
		}
	}
	defer func() { // places are all 0 between batches
		for t, list := range b.types {
			for _, v := range list {
				b.places[t][v] = 0
			}
		}
	}()
	for t := range b.types {
		b.types[t] = b.types[t][:0]
	}
	for len(b.Layers) < n.Edge(d.base()+d.Depth, 0)-1 {
		b.Layers = append(b.Layers, sample.Block{})
	}
	b.Counts = b.Counts[:0]
	if d.paired() {
		d.enterKinds(b, at)
	}
	for _, v := range b.seeds {
		b.number(k.Target, v)
	}
	b.level()
	for l := d.base(); l < d.base()+d.Depth; l++ {
		from := b.Counts[len(b.Counts)-len(k.Types):]
		for r := range d.each {
			x, layer := &d.each[r], &b.Layers[n.Edge(l, r)-1]
			if err := x.program.Rows(layer, b.types[x.Dst][:from[x.Dst]], x.key(at), l-d.base()); err != nil {
				return err
			}
		}
		for r := range d.each {
			far := b.Layers[n.Edge(l, r)-1].Far
			for i, f := range far {
				far[i] = b.number(d.each[r].Src, uint32(f))
			}
		}
		b.level()
	}
	return nil
}

// enterKinds makes the block of the pairs of a batch, level 0 of those where they end, and numbers those where they begin.
func (d *Draws) enterKinds(b *blocks, at Place) {
	x := &d.Kinds.Relations[d.Kinds.Links]
	list := d.pairsOf(b, at.Epoch)
	for _, v := range list.Dst {
		b.number(x.Dst, v)
	}
	b.level()
	b.enter(&list, func(v uint32) int32 { return b.number(x.Dst, v) }, func(v uint32) int32 { return b.number(x.Src, v) })
	b.Layers[d.pairs()-1] = b.pairs
	b.seeds = b.seeds[:0]
}

// number is the place of vertex v among those of type t that the batch has. It gets the next one if it has none.
func (b *blocks) number(t int, v uint32) int32 {
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

// relation is the rows of relation r.
func (g *Graph) relation(r int) *sample.Graph {
	if g.relations != nil {
		return g.relations[r]
	}
	return g.Rows
}

// all are the rows of all relations.
func (g *Graph) all() []*sample.Graph {
	if g.relations != nil {
		return g.relations
	}
	return []*sample.Graph{g.Rows}
}

// Bytes is the memory that the rows take.
func (g *Graph) Bytes() (n int64) {
	for _, x := range g.all() {
		n += x.Bytes()
	}
	return n
}

// openKinds sorts the rows of every relation.
func openKinds(k *Kinds) (*Graph, error) {
	g := &Graph{relations: make([]*sample.Graph, len(k.Relations))}
	for i := range k.Relations {
		var err error
		if g.relations[i], err = sample.NewGraph(k.Relations[i].In.Edges); err != nil {
			return nil, fmt.Errorf("relation %s: %w", k.Relations[i].Name, err)
		}
	}
	return g, nil
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
