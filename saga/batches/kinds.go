package batches

import (
	"fmt"

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

// base is the level of the seeds: 1 if a block of pairs lies below them.
func (j *Job) base() int {
	if j.paired() {
		return 1
	}
	return 0
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
