package saga

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/internal/units"
	"sagann/saga/batches"
	"sagann/sample"
)

// Sampling says how the batches of sampled training are drawn.
type Sampling struct {
	// Sampler draws the blocks of a batch (sample.Layers), with one step for each layer of the model
	// that gathers: the first step is for the last of these layers, whose output rows are the batch's
	// seeds. Or it draws subgraphs (sample.Together, sample.Apart), on which all layers work. Weights
	// that it gives edges are Edge.Weight in training, and replace Edge.SymNorm.
	Sampler sample.Sampler
	// Relations are samplers of some relations of a graph that has several, by their names or by SOURCE:NAME:TARGET, with as many steps as
	// Sampler. Other relations draw by Sampler; if that is empty, Relations must have all that labels depend on. A step may draw nothing
	// (Size 0).
	Relations map[string]sample.Sampler
	// Batch is how many training vertices, edges, links or graphs a batch has, at least 1. The last
	// batch of an epoch has what is left.
	Batch int
	// Accumulate is the number of batches per update. Their gradients are added; the loss is the mean over
	// all their seeds. Batch r of an update runs on device r modulo the number of devices, and no bit of the
	// result depends on that number. 0: the number of devices.
	Accumulate int
	// Cache says which rows of vertices that do not change, such as features, a GPU keeps in its memory. 0: all,
	// or as many as fit; above 0: this share of them, those that were most frequent in the batches drawn for
	// planning; below 0: none. The other rows are read from host memory while the previous batch is computed.
	// No result depends on it.
	Cache float64
	// Norm says how Sum adds up messages. "": those of the edges drawn, as they are. NormFull: each is
	// multiplied by in-degree/draws, so that the sum is an unbiased estimate of the sum over all in-edges. Self
	// loops that the model adds, and sums weighted by Edge.Softmax, are not scaled. NormFull needs a sampler
	// that draws neighbours with equal probability.
	Norm string
	// Clusters gives, for sample.ClusterGCN, the number of each vertex's cluster, from 0. A batch is Batch clusters,
	// in an order drawn for the epoch, with the edges among them. Losses are of the clusters'
	// training vertices.
	// sample.Partition makes clusters.
	Clusters []uint32
	// Norms, by vertex, choose seeds with replacement: training vertex v is chosen with a probability proportional
	// to Norms[v] plus the mean of Norms over the training vertices. The loss of a seed is weighted by the number
	// of times it was chosen divided by its probability (sample.ByNorm), so that a batch's loss and
	// gradients are on average those of all training vertices, and no weight is more than twice the weight with
	// equal probabilities. Norms are not negative and do not change during training: a batch depends only on
	// seed and batch number. nil: every training vertex is a seed once per epoch, in an order drawn for it. See
	// FeatureNorms.
	Norms []float32
	// Eval is how many in-edges of a vertex each layer draws in evaluation, the last layer's number first; nil:
	// evaluation is exact, over the whole graph. Batches have Batch vertices, sums are scaled as Norm says, and
	// every evaluation draws the same edges. Eval is for labels of vertices and edges, and for links by time. Training frees its device memory
	// during an evaluation, so that Config.Mem holds.
	Eval []int
	// Times, if it is "uniform" or "latest", has a seed, and all that is reached from it, draw only edges up to the seed's time
	// (dataset.Data.Vertices.Time, chunk.Edges.Time): each with equal probability, or the latest. Evaluation sees no later edge
	// either: by default it takes all edges up to the time. Of several relations some may be without times: their edges are always there.
	// It is for labels of vertices and links by time, samplers of neighbours with equal probability, and models that read no degrees of the
	// whole graph and no sums over vertices.
	Times string
	// Rows are the data's edges, with the self loops that the model adds, as sample.NewGraph sorts them, for
	// programs that share them. nil: the program sorts them itself.
	Rows *sample.Graph
}

// NormFull, as Sampling.Norm, scales sums over sampled neighbours to estimate sums over all of them.
const NormFull = "full"

// CompileSampled is Compile for training on sampled blocks: an epoch goes over the training
// vertices in batches, in an order drawn for the epoch, and the parameters are updated after every
// batch, or every Sampling.Accumulate batches (Hamilton, Ying and Leskovec, "Inductive
// Representation Learning on Large Graphs", 2017). Layers are the same as in full-graph
// training. What they see of a block:
//
//   - InDegree, Mean, Max and softmax are over the edges drawn. So is Sum, scaled as Sampling.Norm says.
//   - OutDegree and Edge.SymNorm are those of the whole graph.
//   - Self loops that Model.SelfLoops adds are always there, in addition to the edges drawn.
//   - Dropout drops the same entries as full-graph training does of the same vertex at the same step.
//
// Over several vertex types every relation draws, by Sampler or by a sampler of its own (Sampling.Relations), and the seeds are vertices of the type
// that has the labels, or the ends of links of a relation. What is drawn depends on the relation's name, the vertex and the batch alone. Only
// neighbours are drawn, with equal probability or by weight.
//
// A batch has training vertices, or the edges, links or graphs that the model predicts, and its loss is the
// mean over them. Evaluation is exact unless Sampling.Eval is set: over the whole graph within the same
// Config.Mem, on the first device, or with shards on all devices.
func CompileSampled(m Model, d *dataset.Data, c Config, s Sampling) (*Program, error) {
	p, err := newProgram(request{model: m, data: d, cfg: c})
	if err != nil {
		return nil, err
	}
	if err := p.checkSampling(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if err := p.checkAccumulate(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if s.Times != "" && s.Eval == nil {
		s.Eval = slices.Repeat([]int{math.MaxInt32}, p.model.gathers())
	}
	job, err := p.job(nil, &s)
	if err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	set := s.setting()
	if err := cmp.Or(set.Check(&job, s.Rows), p.checkEval(&s)); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	p.mode = batched{p}
	if p.sampled, err = p.newSampled(s, nil, batches.Over(s.Rows)); err != nil {
		return nil, err
	}
	if err := p.on.findCards(true); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	if p.rooms, err = p.sampled.draws.Presample(); err != nil {
		return nil, err
	}
	err = forAll(p, p.compileSampled(func(err error) error { return together(p, err) }))
	if p.data.Shard != nil {
		if len(s.Eval) == 0 {
			err = p.withExact(err)
		}
		err = p.agreed("plan of a batch", err)
	}
	if err != nil {
		return nil, err
	}
	if p.chosen.scorer, err = p.scorer(&s); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	return p, nil
}

// checkSampling returns an error if s does not fit the model, the data or the configuration.
func (p *definition) checkSampling(s *Sampling) error {
	if err := p.checkRelations(s); err != nil {
		return err
	}
	if err := p.checkSamplers(s); err != nil {
		return err
	}
	switch n := p.model.gathers(); {
	case s.Batch < 1:
		return fmt.Errorf("a batch of %d seeds; at least 1", s.Batch)
	case n == 0:
		return errors.New("no layer of the model gathers, so there is nothing to sample; train without sampling")
	case s.Sampler.Output == sample.Together && s.Sampler.Steps == 0 && s.Clusters == nil:
		return fmt.Errorf("the sampler %s has no clusters; sample.Partition makes some", s.Sampler.Name)
	case s.Norm != "" && s.Norm != NormFull:
		return fmt.Errorf("sums are scaled to %q; only to %q, or not at all", s.Norm, NormFull)
	case n >= dataflow.MaxLevels-1:
		return fmt.Errorf("%d layers that gather; sampled blocks have at most %d", n, dataflow.MaxLevels-2)
	case p.trainable() != nil:
		return p.trainable()
	case p.cfg.featureGrad():
		return errors.New("gradients of features are those of the whole graph; train without sampling")
	case p.cfg.Storage == StorageBF16:
		return errors.New("storage bf16 is for streamed chunks; sampled blocks are resident")
	}
	for _, o := range p.cfg.Outputs {
		if o != "logits" {
			return fmt.Errorf("a sampled step has no output %q; it has \"logits\", one row per seed", o)
		}
	}
	return nil
}

// checkSamplers returns an error if a sampler of s does not suit the model or Sampling.Norm.
func (p *definition) checkSamplers(s *Sampling) error {
	n := p.model.gathers()
	for _, d := range s.samplers() {
		switch {
		case s.Batch < 1 || n == 0:
			return nil // another error says so
		case d.Output == sample.Steps:
			return fmt.Errorf("the sampler %s draws walks; training needs blocks or subgraphs", d.Name)
		case d.Steps != n && d.Output == sample.Layers:
			return fmt.Errorf("the sampler %s has %s and the model has %s that gather: it takes %s (--sample), the last layer's first", d.Name,
				units.Counted(d.Steps, "step", "steps"), units.Counted(n, "layer", "layers"), units.Counted(n, "fan-out", "fan-outs"))
		case s.Norm == NormFull && !batches.Uniform(d):
			return fmt.Errorf("sums over what the sampler %s draws cannot be scaled to all edges: only neighbours drawn with equal probability stand for in-degree over draws each", d.Name)
		}
	}
	return nil
}

// FeatureNorms returns the Euclidean norm of each vertex's row of features, for Sampling.Norms. It is nil if d has no
// features. Features that d makes late (Data.Late) are made for the norms and not kept.
func FeatureNorms(d *dataset.Data) []float32 {
	norms, rows, cols := make([]float32, d.Edges.V), d.Features, d.FeatureCols
	switch sparse := d.Late.Sparse; {
	case rows == nil && sparse != nil:
		for v := range norms {
			_, x := sparse.Row(v)
			norms[v] = length(x)
		}
		return norms
	case rows == nil && d.Late.Make != nil:
		rows = make([]float32, len(norms)*cols)
		d.Late.Make(func(v int) []float32 { return rows[v*cols : (v+1)*cols] })
	case rows == nil:
		return nil
	}
	for v := range norms {
		norms[v] = length(rows[v*cols : (v+1)*cols])
	}
	return norms
}

func length(row []float32) float32 {
	sum := 0.0
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	return float32(math.Sqrt(sum))
}

// checkAccumulate sets the default of s.Accumulate. It returns an error if the model or the devices do not fit it.
func (p *definition) checkAccumulate(s *Sampling) error {
	n := p.cfg.devices()
	if s.Accumulate == 0 {
		s.Accumulate = n
	}
	switch {
	case s.Accumulate < 1:
		return fmt.Errorf("%d batches an update; at least 1", s.Accumulate)
	case n > s.Accumulate:
		return fmt.Errorf("%d devices (%s) and %s an update: a device has at least one", n, p.cfg.Device, units.Counted(s.Accumulate, "batch", "batches"))
	}
	return nil
}
