package saga

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/internal/safetensors"
)

// A checkpoint keeps what the numbers of its data mean, so that it is applied to other data by names: the schema of
// the data in the metadata and, where rows belong to vertices, the ids of the vertices as tensors.

// Tensors with the ids of vertices: numbers, or texts one after the other with their lengths.
const (
	idNumbers = "vertex:ids"
	idTexts   = "vertex:names"
	idLengths = "vertex:name lengths"
)

// Keys of the metadata: the schema, and the names of the parameters that have a row for each vertex.
const (
	schemaMeta  = "schema"
	learnedMeta = "learned rows"
	graphsMeta  = "graphs" // checksum of edges and of the graph of each vertex, if graphs have learned rows of vertices; of several types, of their ids
)

// Record is the schema of the data of p, without numbers of edges that the model does not read.
func Record(p *Program) *dataset.Schema {
	s, w := p.data.Record(), p.chosen.want.Any()
	if p.train != nil {
		low := p.train.low.Want.Any()
		w.Weight, w.Type, w.Data = w.Weight || low.Weight, w.Type || low.Type, w.Data || low.Data
	}
	s.Edges.Weighted = s.Edges.Weighted && w.Weight
	if !w.Type {
		s.Edges.Types, s.Edges.Relations = 0, nil
	}
	if !w.Data {
		s.Edges.Cols, s.Edges.Columns = 0, nil
	}
	if k := p.data.Vertices.Kinds; k != nil {
		whole := k.With(p.data).Record()
		s.Needs, s.Types, s.Relations, s.Target = whole.Needs, whole.Types, whole.Relations, k.Graph.Types[k.Type].Name
	}
	return s
}

// meaning puts the schema into the metadata of a checkpoint and returns the tensors with ids.
func meaning(p *Program, meta map[string]string) ([]safetensors.Tensor, error) {
	s := Record(p)
	meta[schemaMeta] = s.Text()
	var learned []string
	for _, q := range p.params {
		if q.PerVertex {
			learned = append(learned, q.Name)
		}
	}
	if learned != nil {
		text, err := json.Marshal(learned)
		if err != nil {
			return nil, err
		}
		meta[learnedMeta] = string(text)
	}
	if learned == nil && !s.Features.OfVertices {
		return nil, nil
	}
	if p.model.Task == GraphTask {
		meta[graphsMeta] = p.data.GraphSum()
	}
	if k := p.data.Vertices.Kinds; k != nil {
		meta[graphsMeta] = k.With(p.data).IDSum()
	}
	switch ids := p.data.Vertices; {
	case ids.Names != nil:
		lengths, size := make([]uint32, len(ids.Names)), 0
		for v, name := range ids.Names {
			lengths[v], size = uint32(len(name)), size+len(name)
		}
		texts := make([]byte, 0, size)
		for _, name := range ids.Names {
			texts = append(texts, name...)
		}
		return []safetensors.Tensor{{Name: idLengths, Shape: []int{len(lengths)}, Data: lengths}, {Name: idTexts, Shape: []int{size}, Data: texts}}, nil
	case ids.IDs != nil:
		return []safetensors.Tensor{{Name: idNumbers, Shape: []int{len(ids.IDs)}, Data: ids.IDs}}, nil
	}
	return nil, nil
}

// isID tells whether a tensor of a checkpoint has ids of vertices.
func isID(name string) bool { return slices.Contains([]string{idNumbers, idTexts, idLengths}, name) }

// loadID reads a tensor with ids.
func loadID(f *safetensors.File, name string) (t safetensors.Tensor, err error) {
	t.Name = name
	switch name {
	case idNumbers:
		t.Data, t.Shape, err = safetensors.Load[uint64](f, name)
	case idTexts:
		t.Data, t.Shape, err = safetensors.Load[uint8](f, name)
	case idLengths:
		t.Data, t.Shape, err = safetensors.Load[uint32](f, name)
	}
	return t, err
}

// namingOf are the ids of the vertices in a checkpoint with the schema s.
func namingOf(ids map[string]safetensors.Tensor, s *dataset.Schema) (n dataset.Naming, err error) {
	if t, ok := ids[idNumbers]; ok {
		n.IDs = t.Data.([]uint64)
	} else if t, ok := ids[idLengths]; ok {
		texts, ok := ids[idTexts].Data.([]uint8)
		for _, size := range t.Data.([]uint32) {
			if !ok || int64(size) > int64(len(texts)) {
				return n, errors.New("the names of vertices do not have the lengths that stand beside them")
			}
			n.Names, texts = append(n.Names, string(texts[:size])), texts[size:]
		}
	} else {
		n.First = s.IDs.First
	}
	if m := max(len(n.IDs), len(n.Names)); m > 0 && m != s.Vertices || s.IDs.Own != (m > 0) {
		return n, fmt.Errorf("%d ids for %d vertices", m, s.Vertices)
	}
	return n, nil
}

// Stored is a checkpoint with its values, which were compared with their checksum, and the data that it is applied to.
type Stored struct {
	path    string
	about   *Checkpoint
	list    map[string]safetensors.Tensor
	best    best
	ids     map[string]safetensors.Tensor
	learned []string             // parameters with a row for each vertex
	places  []uint32             // of the vertices of the data among those of the checkpoint; nil: the same
	graphs  string               // checksum of the graphs whose vertices have learned rows
	rows    int                  // vertices of the data; 0: not compared
	fresh   map[string][]float32 // by parameter: learned rows of all vertices of the data as they are drawn, if some were added
}

// About is what the checkpoint says of itself.
func (k *Stored) About() *Checkpoint { return k.about }

// Suits is an error if the checkpoint is of a version that computed something else with the weights of m.
func (k *Stored) Suits(m *Model) error {
	if err := k.about.suits(m); err != nil {
		return fmt.Errorf("%s: %w", k.path, err)
	}
	return nil
}

// suits is an error if c is of a version that computed something else with the weights of m: the activation, norm and residual of layers
// that run once for each of several relations, before the results were summed.
func (c *Checkpoint) suits(m *Model) error {
	if c.version != checkpointVersion || c.Schema == nil || len(c.Schema.Relations) < 2 {
		return nil
	}
	for _, l := range m.Layers {
		if l.PerRelation && l.After != nil {
			return fmt.Errorf("a checkpoint of a version that applied activation, norm and residual of %s in each relation, before the results were summed; now they are applied to the sum, with which these weights were not trained: train again", c.Model)
		}
	}
	return nil
}

// Params are the parameters by name: with early stopping those of the best epoch. Averages (Model.Average) are among them, as
// AverageOf and the name of the parameter.
func (k *Stored) Params() (list []dataset.Tensor) {
	for _, name := range slices.Sorted(maps.Keys(k.list)) {
		if isMoment(name) {
			continue
		}
		t := k.list[name]
		x := t.Data.([]float32)
		if best, ok := k.best.params[name]; ok {
			x = best
		}
		list = append(list, dataset.Tensor{Name: name, Shape: t.Shape, Values: x})
	}
	return list
}

// Learned finds the vertices of d among those that learned rows of the checkpoint belong to: for each its row, or -1 if it is new. nil
// is the same vertices in the same order. Ids tell vertices apart. Rows of vertices of graphs without ids, and those of several
// types, belong to their own data: others are an error.
func (k *Stored) Learned(d *dataset.Data) ([]int, error) {
	s, by := k.about.Schema, k.by(d)
	if s == nil {
		return nil, nil // of a version that kept no schema
	}
	kinds := d.Vertices.Kinds
	if k.graphs != "" && (kinds != nil || !s.IDs.Own) {
		same := false
		if kinds != nil {
			same = kinds.With(d).HasIDSum(k.graphs)
		} else {
			same = k.graphs == d.GraphSum()
		}
		if !same {
			return nil, fmt.Errorf("%s has learned rows of the vertices of its own data, and those of %s are others", by.Run, by.Data)
		}
		return nil, nil
	}
	of, err := namingOf(k.ids, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.path, err)
	}
	return of.Find(d, s.Vertices, by)
}

// by names the sides that are compared.
func (k *Stored) by(d *dataset.Data) dataset.Sides {
	if d.Name == "" {
		return dataset.Sides{Run: k.path, Data: "the data"}
	}
	return dataset.Sides{Run: k.path, Data: d.Name}
}

// apply returns d with the numbers that the checkpoint gives it, and finds the learned rows of its vertices. A checkpoint of a
// version that kept no schema leaves d as it is.
func (k *Stored) apply(m *Model, d *dataset.Data) (*dataset.Data, error) {
	s := k.about.Schema
	if d == nil || s == nil || d.Edges == nil || d.Shard != nil {
		return d, nil
	}
	by := k.by(d)
	if s.Types != nil || d.Vertices.Kinds != nil {
		d, _, err := s.FitTarget(d, by)
		if err == nil && (k.learned != nil || s.Features.OfVertices) && !d.Vertices.Kinds.With(d).HasIDSum(k.graphs) {
			err = fmt.Errorf("%s has learned rows of the vertices of types without features, and the vertices of %s are others", by.Run, by.Data)
		}
		return d, err
	}
	d, _, err := s.Fit(d, by)
	if err != nil || k.learned == nil && !s.Features.OfVertices {
		return d, err
	}
	if m.Task == GraphTask && !s.IDs.Own && k.graphs != d.GraphSum() {
		return nil, fmt.Errorf("%s has rows of the %d vertices of its own graphs, and other graphs, such as those of %s, have none; --features degree, or features of the data, suit graphs", by.Run, s.Vertices, by.Data)
	}
	of, err := namingOf(k.ids, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.path, err)
	}
	if k.places, err = d.Places(of, s.Vertices, by); err != nil {
		return nil, err
	}
	k.rows = d.Edges.V
	if slices.Contains(k.places, dataset.NoPlace) {
		if s.Features.OfVertices {
			return nil, fmt.Errorf("features of %s are a column for each vertex that it was trained on, and those that were added to %s have none", by.Run, by.Data)
		}
		if err := k.drawFresh(m, d); err != nil {
			return nil, err
		}
	}
	if s.Features.OfVertices && d.Schema.Features.OfVertices {
		return d.OneHotOf(k.places, s.Vertices), nil
	}
	return d, nil
}

// drawFresh draws the learned rows of the vertices of d as at the start of the run.
func (k *Stored) drawFresh(m *Model, d *dataset.Data) error {
	p, err := newProgram(request{model: *m, data: d, cfg: Config{}.forForward(), output: "logits"})
	if err == nil {
		_, err = p.goal.trace(p.definition)
	}
	if err != nil {
		return err
	}
	k.fresh = map[string][]float32{}
	for i := range p.params {
		if q := &p.params[i]; q.PerVertex {
			k.fresh[q.Name] = q.initial(k.about.Seed)
		}
	}
	return nil
}

// param returns a parameter by name, with early stopping that of the best epoch; it is an error if it has another
// shape. Of learned rows it returns those of the data.
func (k *Stored) param(name string, rows, cols int) ([]float32, error) {
	t, ok := k.list[name]
	if !ok {
		return nil, fmt.Errorf("%s: parameter %q is missing", k.path, name)
	}
	x := t.Data.([]float32)
	if k.best.params != nil {
		x = k.best.params[name]
	}
	if slices.Contains(k.learned, name) && k.rows == rows && k.rows > 0 && t.Shape[1] == cols {
		if k.places == nil {
			return x[:rows*cols], nil
		}
		out := make([]float32, 0, rows*cols)
		for at, v := range k.places {
			from := x
			if v == dataset.NoPlace {
				from, v = k.fresh[name], uint32(at)
			}
			out = append(out, from[int(v)*cols:int(v+1)*cols]...)
		}
		return out, nil
	}
	if !slices.Equal(t.Shape, []int{rows, cols}) {
		return nil, fmt.Errorf("%s: parameter %q has shape %v; with this data the model has %d×%d", k.path, name, t.Shape, rows, cols)
	}
	return x, nil
}

// parseMeaning reads the schema in the metadata of a checkpoint, nil in those of versions without.
func parseMeaning(m map[string]string) (*dataset.Schema, error) {
	text, ok := m[schemaMeta]
	if !ok {
		return nil, nil
	}
	s, err := dataset.ParseSchema(text)
	if err != nil {
		return nil, fmt.Errorf("metadata %s: %w", schemaMeta, err)
	}
	return s, nil
}

// learnedOf lists the parameters with a row for each vertex; of several types (vertices is -1) with a row for each of one type.
func learnedOf(m map[string]string, list map[string]safetensors.Tensor, vertices int) (names []string, err error) {
	if text := m[learnedMeta]; text != "" {
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&names); err != nil {
			return nil, fmt.Errorf("metadata %s: %w", learnedMeta, err)
		}
	}
	for _, name := range names {
		if t, ok := list[name]; !ok || len(t.Shape) != 2 || vertices >= 0 && t.Shape[0] != vertices {
			return nil, fmt.Errorf("tensor %q has no row for each of %d vertices", name, vertices)
		}
	}
	return names, nil
}
