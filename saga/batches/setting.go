package batches

import (
	"fmt"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/net"
	"sagann/saga/rows"
	"sagann/sample"
)

// Job is what batches are made for: data, and what is learned of them.
type Job struct {
	In      *rows.Inputs
	Kinds   *Kinds // nil: one vertex type and one relation; else In is the rows of Kinds.Target
	Task    dataset.LabelKind
	Graphs  int                    // of dataset.GraphLabels: the number of graphs
	Items   []uint32               // what an epoch goes over; nil: the training split
	Depth   int                    // blocks of a batch: layers that gather
	Seed    uint64                 // of all draws
	Net     *net.Group             // ranks that share the batches; nil: one
	GPU     bool                   // steps run on GPUs
	Forced  bool                   // for tests: batches come ahead, on any device
	Without func(name string) bool // what Config.Without leaves out: match, draw, stream, in-place
	HostMem int64                  // bytes that host memory is bound to; 0: it is not
	Scratch string                 // folder for files
}

// Setting says how the batches of a job are drawn.
type Setting struct {
	Sampler  sample.Sampler
	Batch    int       // items of a batch
	Parts    int       // batches of an update
	Scaled   bool      // the last number of an edge's data is how many in-edges of its destination it stands for
	Cache    float64   // as saga.Sampling.Cache
	Clusters []uint32  // by vertex: its cluster, if batches are of clusters
	Norms    []float32 // by vertex: items are chosen by these; nil: each is taken once per epoch
}

// Check returns an error if s does not fit the data of j, or graph, which may be nil.
func (s *Setting) Check(j *Job, graph *sample.Graph) error {
	if j.Kinds != nil {
		return s.checkKinds(j)
	}
	d, e := j.In.Data, j.In.Edges
	if graph != nil && (d.Shard != nil || graph.Vertices() != e.V || graph.Edges() != e.E()) {
		return fmt.Errorf("rows of %d vertices and %d edges, and %s has %d and %d, self loops that the model adds among them", graph.Vertices(), graph.Edges(), d.Name, e.V, e.E())
	}
	if err := s.kindOf().check(s, j); err != nil {
		return err
	}
	if d.Shard != nil && !Uniform(&s.Sampler) {
		return fmt.Errorf("shards are sampled by neighbours of equal probability, not by %s", s.Sampler.Name)
	}
	return nil
}

// Text says how batches are made of items, as in digests.
func (s *Setting) Text() string { return s.kindOf().text(s.Batch) }

// Uniform tells whether every in-edge of a vertex is drawn with equal probability.
func Uniform(d *sample.Sampler) bool {
	return d.Output == sample.Layers && d.Over == sample.Individual && d.Next == nil && d.Score == nil && d.EdgeWeight == nil && d.Top == 0
}

// Weighs tells whether the sampler gives edges weights.
func Weighs(d *sample.Sampler) bool { return d.EdgeWeight != nil || d.Top > 0 }

// learned tells whether the rows of an input change from step to step: those of a learned parameter, or of a moment of one.
func (j *Job) learned(name string) bool {
	made := j.In.Made(name)
	for t := range j.types() {
		made = made || j.Kinds != nil && j.Kinds.Types[t].Made(name)
	}
	return made && name != rows.Sparse
}

// stays tells whether the rows of an input are the same in every batch.
func (j *Job) stays(name string) bool {
	switch name {
	case rows.Weight, rows.GraphOf, dataflow.InDegree, rows.InvDegree, dataflow.BlockOutDegree, rows.Sparse:
		return false
	}
	return !j.learned(name)
}
