package batches

import (
	"errors"
	"fmt"
	"slices"

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
	Moments *Moments               // with Setting.Past: what Items number, in place of vertices at their own times; nil: these
	Scores  bool                   // batches are scored: labelled edges keep their split where training has their weight in the loss
	Depth   int                    // blocks of a batch: layers that gather
	Seed    uint64                 // of all draws
	Net     *net.Group             // ranks that share the batches; nil: one
	GPU     bool                   // steps run on GPUs
	Forced  bool                   // for tests: batches come ahead, on any device
	Without func(name string) bool // what Config.Without leaves out: match, draw, stream, in-place
	HostMem int64                  // bytes that host memory is bound to; 0: it is not
	Free    int64                  // bytes of host memory that are free; 0: not known
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
	Past     string    // UpTo or Latest: edges are drawn up to the times of seeds; "": at any time
}

// Check returns an error if s does not fit the data of j, or graph, which may be nil.
func (s *Setting) Check(j *Job, graph *sample.Graph) error {
	if err := s.checkTimes(j); err != nil {
		return err
	}
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

// The values of Setting.Past.
const (
	UpTo   = "uniform" // in-edges up to the seed's time, each with equal probability
	Latest = "latest"  // the latest of them
)

// checkTimes returns an error if batches by time do not suit the data or the other settings.
func (s *Setting) checkTimes(j *Job) error {
	links := j.In.Data.Targets.Links
	timed := j.Task == dataset.LinkLabels && links != nil && links.NotYet() != nil
	switch d := j.In.Data; {
	case s.Past == "" && timed:
		return fmt.Errorf("the links of %s have times (dataset.LinksOfPast), and edges after them would be seen: edges are drawn by time", d.Name)
	case s.Past == "":
		return nil
	case s.Past != UpTo && s.Past != Latest:
		return fmt.Errorf("edges are drawn up to a time %q; there are %s and %s", s.Past, UpTo, Latest)
	case j.Task != dataset.VertexLabels && j.Task != dataset.LinkLabels:
		return fmt.Errorf("edges are drawn by the times of vertices or of links, for labels of vertices and links, and not for %s yet", j.Task.Plural())
	case d.Shard != nil:
		return errors.New("edges of shards are not drawn by time yet")
	case j.GPU:
		return errors.New("a GPU does not train on edges drawn by time yet")
	case j.HostMem > 0:
		return errors.New("edges by time are not drawn within a bound of host memory yet")
	case !j.timed():
		return fmt.Errorf("edges are drawn by time, and those of %s have no times (edge_time)", d.Name)
	case j.Task == dataset.LinkLabels && !timed:
		return fmt.Errorf("edges are drawn before the times of links, and the links of %s have none (dataset.LinksOfPast)", d.Name)
	case j.Task == dataset.VertexLabels && d.Vertices.Time == nil && j.Moments == nil:
		return fmt.Errorf("edges are drawn up to the times of vertices, and those of %s have none (vertex_time)", d.Name)
	case s.uneven(j) != "":
		return fmt.Errorf("edges are drawn by time among neighbours, with equal probability and without replacement or the latest, and not by the sampler %s", s.uneven(j))
	case s.Scaled:
		return errors.New("sums over edges drawn by time are not scaled: in-degrees of the whole graph count edges of the future")
	case s.Clusters != nil:
		return errors.New("clusters are not drawn by time")
	}
	return nil
}

// timed tells whether edges have times, of several relations those of at least one.
func (j *Job) timed() bool {
	if j.Kinds == nil {
		return j.In.Data.Edges.Time != nil
	}
	return slices.ContainsFunc(j.Kinds.Relations, func(r Relation) bool { return r.In.Edges.Time != nil })
}

// uneven is the name of a sampler that does not draw every in-edge with equal probability and without replacement, "" if there is none.
func (s *Setting) uneven(j *Job) string {
	list := []*sample.Sampler{&s.Sampler}
	if j.Kinds != nil {
		list = nil
		for i := range j.Kinds.Relations {
			list = append(list, s.drawn(&j.Kinds.Relations[i]))
		}
	}
	for _, d := range list {
		if !Uniform(d) || d.Replace {
			return d.Name
		}
	}
	return ""
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
