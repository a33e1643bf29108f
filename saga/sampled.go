package saga

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/sample"
)

// sampled is the state of a program that trains on sampled blocks.
type sampled struct {
	Sampling
	rooms
	draw drawer

	step    // the next update; its field batch counts updates here, not batches
	filling feeding
}

// rooms are the sizes of batches.
type rooms struct {
	expected dataflow.Sizes // mean of the batches that were drawn for planning
	spread   dataflow.Sizes // six standard deviations of their sizes
	most     dataflow.Sizes // the largest batch that the plan has room for
}

// drawer draws blocks.
type drawer struct {
	*sample.Program
	items    []uint32 // what an epoch goes over, by number (sampled_items.go)
	graph    *sample.Graph
	far      *shardRows // for shards: rows that ranks ask each other for; nil: each rank has the whole graph
	depth    int        // blocks of a batch
	most     []int      // by edge set: the most edges of a row of the block; 0: unknown
	dataCols int        // numbers of data per edge, with the scale of NormFull
	degrees  []uint32   // with NormFull, by vertex: in-edges without the self loops that are always drawn
	clusters int        // number of clusters; 0: none
	trains   []bool     // with clusters, by vertex: it is in the training split
	by       *norms     // items are chosen by these; nil: each is taken once per epoch
	members  [][]uint32 // for a GraphTask: the vertices of each graph
}

// step is the place of a batch in a run.
type step struct {
	epoch, batch int
	loss         float64 // sum over the epoch's batches so far: mean loss times the weight of the items
}

// roomStep is the multiple that room is rounded up to: the sizes of strips and tiles of rows divide it.
const roomStep = 256

// newSampled makes the state of sampled training. It sorts the graph into rows unless rows are given.
func (p *Program) newSampled(s Sampling, rows *sample.Graph) (*sampled, error) {
	x := &sampled{Sampling: s, draw: drawer{items: p.items()}}
	x.filling.sources = map[string]func(int, []float32){}
	var err error
	if x.draw.graph = rows; rows == nil && p.data.Shard == nil {
		if x.draw.graph, err = sample.NewGraph(p.in.Edges); err != nil {
			return nil, err
		}
	}
	if s.Sampler.Next == nil && s.Sampler.Over == sample.Individual {
		s.Sampler.KeepLoops = s.Sampler.KeepLoops || p.model.SelfLoops
		x.Sampler = s.Sampler
	}
	if p.data.Shard != nil {
		if err := p.overShards(x); err != nil {
			return nil, err
		}
	}
	x.draw.dataCols, x.draw.depth = p.in.Edges.DataCols, p.model.gathers()
	if s.Norm == NormFull {
		x.draw.dataCols++
		if x.draw.far == nil {
			x.draw.degrees = degreesOf(p.in.Edges, s.Sampler.KeepLoops)
		}
	}
	if x.draw.Program, err = sample.Compile(x.draw.graph, s.Sampler); err != nil {
		return nil, err
	}
	most := x.draw.Most()
	if x.draw.far != nil {
		x.draw.far.serve(x.draw.Program)
		if most, err = x.draw.far.mostOf(most); err != nil {
			return nil, err
		}
	}
	if most != nil {
		x.draw.most = append([]int{0}, most...)
		if p.dims.paired() { // the block of pairs, below the drawn blocks
			x.draw.most = slices.Insert(x.draw.most, 1, 0)
		}
	}
	if s.Clusters != nil {
		x.draw.clusters = int(slices.Max(s.Clusters)) + 1
		x.draw.trains = make([]bool, p.in.Edges.V)
		for _, v := range x.draw.items {
			x.draw.trains[v] = true
		}
	}
	if s.Norms != nil {
		x.draw.by = &norms{normsOf(s.Norms, x.draw.items), p.itemWeights(x.draw.items)}
	}
	if p.dims.task == GraphTask {
		x.draw.members = membersOf(p.data, p.dims.graphs)
	}
	return x, nil
}

// uniform tells whether every in-edge of a vertex is drawn with equal probability.
func (s *Sampling) uniform() bool {
	d := &s.Sampler
	return d.Output == sample.Layers && d.Over == sample.Individual && d.Next == nil && d.Score == nil && d.EdgeWeight == nil && d.Top == 0
}

// weighs tells whether the sampler gives edges weights.
func (s *Sampling) weighs() bool { return s.Sampler.EdgeWeight != nil || s.Sampler.Top > 0 }

// fits returns an error if the sampler makes edge weights that the model does not read, or if the model reads numbers of
// edges that the sampler's edges do not have.
func (s *sampled) fits(model string, want chunk.Want) error {
	switch name := s.Sampler.Name; {
	case s.weighs() && !want.Weight:
		return fmt.Errorf("saga: the sampler %s weighs edges, and the model %s reads no weights, neither Edge.Weight nor Edge.SymNorm", name, model)
	case s.Sampler.Top > 0 && (want.Rank || want.Type || want.Data):
		return fmt.Errorf("saga: the sampler %s joins vertices that no edge joins, and the model %s reads types, data or ranks of edges", name, model)
	}
	return nil
}

// drawn is how many batches an epoch has.
func (s *sampled) drawn() int {
	n := len(s.draw.items)
	if s.Clusters != nil {
		n = s.draw.clusters
	}
	return (n + s.Batch - 1) / s.Batch
}

// epochOrder says which items each batch of an epoch has. One of its fields is set.
type epochOrder struct {
	items    []uint32      // shuffled; batch i has s.Batch of them from i*s.Batch on
	clusters [][]uint32    // with Clusters: the vertices of each batch
	chosen   []chosenItems // with Norms: the items of each batch
}

// order draws the order of an epoch. It depends on seed and epoch alone.
func (s *sampled) order(seed uint64, epoch int) (*epochOrder, error) {
	if s.Clusters != nil {
		list, err := sample.Clusters(s.Clusters, s.Batch, sample.Key{Seed: seed, Epoch: uint32(epoch)})
		return &epochOrder{clusters: list}, err
	}
	if s.Norms != nil {
		list, err := s.choose(seed, epoch)
		return &epochOrder{chosen: list}, err
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "batches of epoch %d", epoch)
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	out := make([]uint32, len(s.draw.items))
	copy(out, s.draw.items)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return &epochOrder{items: out}, nil
}

// seeds are the items of batch i of an epoch's order.
func (s *sampled) seeds(order []uint32, i int) []uint32 {
	return order[i*s.Batch : min(len(order), (i+1)*s.Batch)]
}

// inClusters sets the items and seeds of b, a batch of clusters with these vertices. Its items are the training
// vertices; its seeds are all vertices, training vertices first.
func (s *sampled) inClusters(b *drawn, vertices []uint32) {
	b.items, b.seeds = b.items[:0:0], b.seeds[:0]
	for _, v := range vertices {
		if s.draw.trains[v] {
			b.items = append(b.items, v)
		}
	}
	b.seeds = append(b.seeds, b.items...)
	for _, v := range vertices {
		if !s.draw.trains[v] {
			b.seeds = append(b.seeds, v)
		}
	}
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

// mostVertices is the most vertices that a level can have. With separate subgraphs (sample.Apart) a vertex can be in
// that of every seed, so there is no bound.
func (s *sampled) mostVertices() int {
	if s.Sampler.Output == sample.Apart {
		return math.MaxInt
	}
	return s.draw.graph.Vertices()
}

// mostEdges is the most edges that a block can have.
func (s *sampled) mostEdges() int {
	if s.Sampler.Replace || s.Sampler.Top > 0 || s.Sampler.Over != sample.Individual || s.Sampler.Output == sample.Apart {
		return math.MaxInt
	}
	if s.draw.far != nil {
		return s.draw.far.shard.E
	}
	return s.draw.graph.Edges()
}

func roundRoom(x float64) int { return (int(math.Ceil(x)) + roomStep - 1) / roomStep * roomStep }

// room is the sizes of sets and cells that plans of l provide memory for.
func (s *sampled) room(l *dataflow.Lowered) *plan.Sets {
	z := &plan.Sets{Rows: append([]int{0}, s.most.Vertices...), Edges: append([]int{0}, s.most.Edges...), Cells: make([][2]int64, len(s.most.Edges)+1)}
	for e, dirs := range walks(l) {
		for d, used := range dirs {
			if !used {
				continue
			}
			own := z.Rows[e]
			if plan.Dir(d) == plan.CSR {
				own = z.Rows[e+1]
			}
			z.Cells[e][d] = chunk.CellSize(own, own, int64(z.Edges[e]), l.Want, s.draw.dataCols, 0)
		}
	}
	return z
}

// widen makes room for a batch with these numbers of vertices and edges, and a sixteenth more: a later batch may
// be larger still.
func (s *sampled) widen(vertices, edges []int) {
	grow := func(room *int, n, most int) {
		if n > *room {
			*room = min(most, roundRoom(float64(n)*17/16))
		}
	}
	for l, n := range vertices {
		grow(&s.most.Vertices[l], n, s.mostVertices())
	}
	for l, n := range edges {
		grow(&s.most.Edges[l], n, s.mostEdges())
	}
}

// widenTo makes room for batches of these sizes.
func (s *sampled) widenTo(x dataflow.Sizes) {
	larger := func(a, b []int) (list []int) {
		for i := range a {
			list = append(list, max(a[i], b[i]))
		}
		return list
	}
	s.most = dataflow.Sizes{Vertices: larger(s.most.Vertices, x.Vertices), Edges: larger(s.most.Edges, x.Edges)}
}

// walks tells which cells l reads, by edge set and direction.
func walks(l *dataflow.Lowered) [][2]bool {
	var list [][2]bool
	for _, ph := range l.Spec.Phases {
		for _, st := range ph.Steps {
			if st.Kind == plan.Stream {
				for len(list) <= int(st.Set) {
					list = append(list, [2]bool{})
				}
				list[st.Set][st.Dir] = true
			}
		}
	}
	return list
}
