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

// sampled is what a program that trains on sampled blocks has beside its plans.
type sampled struct {
	Sampling
	rooms
	draw drawer

	step    // of the next update, of which batch is the number
	filling feeding
}

// rooms are the sizes of batches.
type rooms struct {
	expected dataflow.Sizes // mean of the batches that were drawn to plan
	spread   dataflow.Sizes // six standard deviations of them
	most     dataflow.Sizes // what there is room for
}

// drawer draws blocks.
type drawer struct {
	*sample.Program
	items    []uint32 // what epochs go over, by number
	graph    *sample.Graph
	far      *shardRows // what ranks ask each other for; nil: each has the whole graph
	depth    int        // blocks of a batch
	most     []int      // by edge set: edges that a row of a block has at most; 0: unknown
	dataCols int        // of the graph's edges
	degrees  []uint32   // where sums are scaled: in-edges, without the self loops that are always there
	clusters int        // how many there are
	trains   []bool     // with clusters: by vertex
	by       *norms     // by which items are chosen; nil: each once an epoch
	members  [][]uint32 // of a GraphTask: the vertices of each graph
}

// step is the place of a batch in a run.
type step struct {
	epoch, batch int
	loss         float64 // of the batches of the epoch before it, times their seeds
}

// roomStep rounds room up, as strips and tiles of rows are of this size or divide it.
const roomStep = 256

// newSampled sorts the graph into rows, unless they are given.
func (p *Program) newSampled(s Sampling, rows *sample.Graph) (*sampled, error) {
	x := &sampled{Sampling: s, draw: drawer{items: p.items()}}
	x.filling.sources = map[string]func(int, []float32){}
	var err error
	if x.draw.graph = rows; rows == nil && p.data.Shard == nil {
		if x.draw.graph, err = sample.NewGraph(p.in.edges); err != nil {
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
	x.draw.dataCols, x.draw.depth = p.in.edges.DataCols, p.model.gathers()
	if s.Norm == NormFull {
		x.draw.dataCols++
		if x.draw.far == nil {
			x.draw.degrees = degreesOf(p.in.edges, s.Sampler.KeepLoops)
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
		if p.dims.paired() { // a block below the drawn ones
			x.draw.most = slices.Insert(x.draw.most, 1, 0)
		}
	}
	if s.Clusters != nil {
		x.draw.clusters = int(slices.Max(s.Clusters)) + 1
		x.draw.trains = make([]bool, p.in.edges.V)
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

// uniform tells whether every edge of a vertex is drawn with equal probability.
func (s *Sampling) uniform() bool {
	d := &s.Sampler
	return d.Output == sample.Layers && d.Over == sample.Individual && d.Next == nil && d.Score == nil && d.EdgeWeight == nil && d.Top == 0
}

// weighs tells whether the sampler gives edges weights.
func (s *Sampling) weighs() bool { return s.Sampler.EdgeWeight != nil || s.Sampler.Top > 0 }

// fits says what of the sampler a model does not read, or reads and does not get.
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

// epochOrder is what the batches of an epoch take: items in an order, or of clusters the vertices by batch.
type epochOrder struct {
	items    []uint32
	clusters [][]uint32
	chosen   []chosenItems // of norms
}

// order is the items as the batches of an epoch take them.
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

// inClusters gives b the vertices of a batch of clusters, those of the training split, its items, first.
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

// degreesOf counts in-edges, those that are self loops or not.
func degreesOf(e *chunk.Edges, without bool) []uint32 {
	n := slices.Clone(e.InDegrees())
	for k, v := range e.Dst {
		if without && e.Src[k] == v {
			n[v]--
		}
	}
	return n
}

// mostVertices is how many a level has at most. Apart a vertex may come once a seed.
func (s *sampled) mostVertices() int {
	if s.Sampler.Output == sample.Apart {
		return math.MaxInt
	}
	return s.draw.graph.Vertices()
}

// mostEdges is how many a block has at most.
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

// room is what plans of l have room for.
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

// widen gives room for a batch of so many rows and edges, with a sixteenth more: sizes that
// have been left once will be again.
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

// walks says, by edge set and direction, which cells l reads.
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
