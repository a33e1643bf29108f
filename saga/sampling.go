package saga

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/tune"
	"sagann/dataset"
	"sagann/sample"
)

// Sampling says how the batches of sampled training are drawn.
type Sampling struct {
	// Sampler draws the blocks of a batch (sample.Layers), with a step for each layer of the
	// model that gathers: the first for the last of them, whose rows are the batch's seeds.
	// Or it draws subgraphs (sample.Together, sample.Apart), which all layers work on. Weights
	// that it gives edges are Edge.Weight in training, and stand in place of Edge.SymNorm.
	Sampler sample.Sampler
	// Batch is how many training vertices, edges, links or graphs a batch has, at least 1. The last
	// batch of an epoch has what is left.
	Batch int
	// Accumulate is how many batches an update has: their gradients are added, and its loss is the mean over all
	// their seeds. Batch r of an update runs on device r modulo their number, and no bit depends on that number. 0: as many as there
	// are devices.
	Accumulate int
	// Cache says where a GPU has the rows of vertices that do not change, such as features. 0: on the device, or as many
	// of them as there is memory for; above 0: this share of them, those that came most often in the batches that are drawn to plan;
	// below 0: none. The others are read from host memory while the batch before is at work. No number depends on it.
	Cache float64
	// Norm says what Sum adds up: by default the messages of the edges drawn as they are. With NormFull each counts in-degree
	// over draws times, so that the sum estimates that over all edges without bias; self loops that the model adds, and
	// sums of shares by Edge.Softmax, stay as they are. Only for neighbours drawn with equal probability.
	Norm string
	// Clusters is the number of each vertex's cluster, from 0, for sample.ClusterGCN: a batch is Batch clusters, in an
	// order drawn for the epoch, and their edges; its seeds are their training vertices. sample.Partition makes them.
	Clusters []uint32
	// Norms has seeds chosen with replacement, vertex v in proportion to Norms[v] and their mean over the training vertices, so that none counts
	// for more than twice what it does where all are equal; nil: each once an epoch, in an order drawn for it. A loss counts by times chosen over that
	// probability (sample.ByNorm), and so a batch's loss and gradients are on average those of all training vertices. Norms are numbers of 0 or more,
	// as many as there are vertices, which stay as they are: so a batch is known by the seed and its number alone. See FeatureNorms.
	Norms []float32
	// Eval is how many in-edges of a vertex each layer draws in evaluation, the last layer's first; nil: evaluation is exact, over the
	// whole graph. Batches are of Batch vertices, sums are scaled as Norm says, and every evaluation draws the same edges. It is for
	// labels of vertices. Device memory is given to evaluation and back each time, so that Config.Mem holds.
	Eval []int
	// Rows are the data's edges as sample.NewGraph sorts them, for programs that share them: with the self loops that the model adds. nil: they are
	// sorted anew.
	Rows *sample.Graph
}

// NormFull scales sums over sampled neighbours to all of them.
const NormFull = "full"

// String is the sampler, its sizes and the batch, as the digest has them.
func (s *Sampling) String() string {
	d := &s.Sampler
	var sizes []string
	for step := range max(0, d.Steps) {
		n := 1
		if d.Size != nil {
			n = d.Size(step)
		}
		sizes = append(sizes, fmt.Sprint(n))
	}
	text := strings.TrimSpace(d.Name + " " + strings.Join(sizes, ","))
	if d.Replace {
		text += " with replacement"
	}
	if d.Top > 0 {
		text += fmt.Sprintf(", the %d most visited by walks of %d", d.Top, d.Length)
	}
	if s.Norm != "" {
		text += ", sums scaled to " + s.Norm + " rows"
	}
	if s.Eval != nil {
		text += ", evaluated on " + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Eval), " ", ","), "[]")
	}
	if s.Clusters != nil {
		h := fnv.New32a()
		for _, c := range s.Clusters {
			h.Write([]byte{byte(c), byte(c >> 8), byte(c >> 16), byte(c >> 24)})
		}
		text += fmt.Sprintf(", batches of %d of %d clusters (%08x)", s.Batch, slices.Max(s.Clusters)+1, h.Sum32())
	} else {
		text += fmt.Sprintf(", batches of %d", s.Batch)
	}
	if s.Norms != nil {
		h := fnv.New32a()
		for _, x := range s.Norms {
			n := math.Float32bits(x)
			h.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
		}
		text += fmt.Sprintf(" by norms (%08x)", h.Sum32())
	}
	if s.Accumulate > 1 {
		text += fmt.Sprintf(", %d an update", s.Accumulate)
	}
	return text
}

// CompileSampled is Compile for training on sampled blocks: an epoch goes over the training
// vertices in batches, in an order drawn for the epoch, and each batch updates the parameters
// once (Hamilton, Ying and Leskovec, "Inductive Representation Learning on Large Graphs",
// 2017). Layers are those of full-graph training. What they see of a block:
//
//   - InDegree, Mean, Max and softmax are over the edges drawn. Sum is not scaled.
//   - OutDegree and Edge.SymNorm are those of the whole graph.
//   - Self loops that Model.SelfLoops adds are always there, beside the edges drawn.
//   - Dropout falls as in full-graph training on the same vertex at the same step.
//
// A batch has training vertices, or edges, links or graphs of a model for these; its loss is the mean over
// them, and evaluation is exact, over the whole graph within the same Config.Mem, on the first device or, over shards, on all devices, unless Sampling.Eval
// says otherwise.
func CompileSampled(m Model, d *dataset.Data, c Config, s Sampling) (*Program, error) {
	p, err := newProgram(request{model: m, data: d, cfg: c})
	if err != nil {
		return nil, err
	}
	if err := p.checkSampling(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if err := p.checkRows(s.Rows); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if err := p.checkNorms(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if err := p.checkAccumulate(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if err := p.checkShards(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if p.on.free, err = p.free(); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if p.sampled, err = p.newSampled(s, s.Rows); err != nil {
		return nil, err
	}
	if err := p.presample(); err != nil {
		return nil, err
	}
	err = p.compileSampled()
	if p.data.Shard != nil {
		err = p.agreed(p.withExact(err))
	}
	if err != nil {
		return nil, err
	}
	if p.chosen.scorer, err = p.scorer(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	return p, nil
}

// checkSampling says what of s does not fit the model, the data or the configuration.
func (p *Program) checkSampling(s *Sampling) error {
	steps := s.Sampler.Steps
	switch n := p.model.gathers(); {
	case s.Batch < 1:
		return fmt.Errorf("a batch of %d seeds; at least 1", s.Batch)
	case n == 0:
		return errors.New("no layer of the model gathers, so there is nothing to sample; train without sampling")
	case s.Sampler.Output == sample.Steps:
		return fmt.Errorf("the sampler %s draws walks; training needs blocks or subgraphs", s.Sampler.Name)
	case steps != n && s.Sampler.Output == sample.Layers:
		return fmt.Errorf("the sampler %s has %d steps and the model has %d layers that gather: it takes %d fan-outs (--sample), the last layer's first", s.Sampler.Name, steps, n, n)
	case s.Sampler.Output == sample.Together && s.Sampler.Steps == 0 && s.Clusters == nil:
		return fmt.Errorf("the sampler %s has no clusters; sample.Partition makes some", s.Sampler.Name)
	case s.Clusters != nil && (s.Sampler.Output != sample.Together || s.Sampler.Steps != 0):
		return fmt.Errorf("clusters are for sample.ClusterGCN, and the sampler is %s", s.Sampler.Name)
	case s.Clusters != nil && len(s.Clusters) != p.in.edges.V:
		return fmt.Errorf("clusters of %d vertices, and %s has %d", len(s.Clusters), p.data.Name, p.in.edges.V)
	case s.Clusters != nil && p.dims.taskName() != VertexTask:
		return fmt.Errorf("batches of clusters are for labels of vertices, not of %s; --sample takes those", things[p.dims.taskName()])
	case s.Norm != "" && s.Norm != NormFull:
		return fmt.Errorf("sums are scaled to %q; only to %q, or not at all", s.Norm, NormFull)
	case s.Norm == NormFull && !s.uniform():
		return fmt.Errorf("sums over what the sampler %s draws cannot be scaled to all edges: only neighbours drawn with equal probability stand for in-degree over draws each", s.Sampler.Name)
	case n >= dataflow.MaxLevels-1:
		return fmt.Errorf("%d layers that gather; sampled blocks have at most %d", n, dataflow.MaxLevels-2)
	case p.trainable() != nil:
		return p.trainable()
	case p.model.Loss.numbers() && p.dims.taskName() != VertexTask:
		return fmt.Errorf("batches have no targets of %s yet; train without sampling", things[p.dims.taskName()])
	case p.cfg.featureGrad():
		return errors.New("gradients of features are those of the whole graph; train without sampling")
	case p.cfg.Storage == StorageBF16:
		return errors.New("storage bf16 is for streamed chunks; sampled blocks are resident")
	}
	for _, o := range p.cfg.Outputs {
		if o != "logits" {
			return fmt.Errorf("a sampled step has no output %q; it has \"logits\", a row a seed", o)
		}
	}
	return nil
}

// checkRows says where rows that were sorted before are not those of the edges.
func (p *Program) checkRows(g *sample.Graph) error {
	if e := p.in.edges; g != nil && (p.data.Shard != nil || g.Vertices() != e.V || g.Edges() != e.E()) {
		return fmt.Errorf("rows of %d vertices and %d edges, and %s has %d and %d, self loops that the model adds among them", g.Vertices(), g.Edges(), p.data.Name, e.V, e.E())
	}
	return nil
}

// compileSampled lowers training over blocks and evaluation over the graph, and plans both.
func (p *Program) compileSampled() error {
	o, err := p.optimize(1)
	if err != nil {
		return err
	}
	how := dataflow.Lowering{Save: p.cfg.Save}
	if how.Save == SaveAuto || how.Save == saveSome {
		how.Save = dataflow.SaveSome
	}
	x, err := p.lower(o, how)
	if err != nil {
		return err
	}
	if err := p.sampled.fits(p.model.Name, x.train.Want); err != nil {
		return err
	}
	if p.sampled.draw.far != nil && x.train.Want.Rank {
		return errRanksOfEdges
	}
	p.chosen = chosen{Key: tune.Key{Save: how.Save, Slices: 1}, once: make([]int, len(x.once)), want: x.want, memory: x.memory}
	if p.train = (&unit{low: x.train}); x.eval != nil && len(p.sampled.Eval) == 0 && p.data.Shard == nil {
		p.eval = &unit{low: x.eval}
	}
	if p.sampled.draw.far != nil {
		if err := p.shareDegrees(); err != nil {
			return err
		}
	}
	if err := p.planSampled(); err != nil {
		return err
	}
	if err := p.precompute(x.once); err != nil {
		return p.leastHost(err, x.once)
	}
	if p.eval != nil {
		p.orderFor(p.eval.plan.Cells.P)
	}
	return p.placeFinal(x.once)
}

// planSampled plans training for the room that p.sampled gives it, and evaluation beside it.
// Where there is not enough memory batches do not come ahead.
func (p *Program) planSampled() error {
	o := p.planOptions()
	if o.Schedule == plan.Auto { // nothing is searched
		o.Schedule = plan.Sag
	}
	programs := []*dataflow.Lowered{p.train.low}
	if p.eval != nil {
		programs = append(programs, p.eval.low)
	}
	m, err := p.divide(p.train.low.Spec, p.chosen.want, programs...) // batches may have become larger
	if err != nil {
		return err
	}
	p.chosen.memory = m
	var small *plan.BudgetError
	for _, x := range p.aheads() {
		p.sampled.filling.ahead = x
		if o.Budget = m.plans(); m.bound > 0 {
			o.Budget = max(1, m.plans()-x.bytes)
		}
		z := p.sampled.room(p.train.low)
		z.Ahead = p.aheadOf(p.train.low, x, z)
		if p.train.plan, err = planner.Blocks(p.train.low.Spec, z, o); err == nil && p.eval != nil {
			p.eval.plan, err = planner.Beside(p.eval.low.Spec, p.cells, o, p.train.plan)
		}
		if !errors.As(err, &small) {
			p.sampled.filling.host = p.hostDraws()
			return err
		}
	}
	small.Budget = p.mem()
	if wrong := p.withKernels(small, p.train.low.Spec, p.chosen.want, programs); wrong != nil {
		return wrong
	}
	return err
}
