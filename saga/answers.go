package saga

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/saga/batches"
	"sagann/sample"
)

// Rows of some vertices: the forward pass over blocks of all in-edges, for these vertices alone. A level of a block has the vertices
// whose rows the level below reads, so what no answer depends on is never computed. The blocks are those of sampled training, with
// every in-edge in place of some that are drawn.

// answerBatch is how many vertices are answered at a time at most. They are fewer if memory is bounded, or if they reach more than
// answerRows vertices, whose rows are slow to move.
const (
	answerBatch = 1024
	answerRows  = 1 << 16
)

// Some answers for some vertices of a graph, as often as it is asked. A request looks at the target of every edge once for each layer that
// gathers. After some dozens of requests the in-edges of all vertices are sorted once, in 8 bytes of memory for each edge and vertex,
// and later requests look at what they reach alone; with Config.HostMem that is never done. Its methods are called one at a time, and
// data does not change.
type Some struct {
	model Model
	data  *dataset.Data
	cfg   Config
	times string // batches.UpTo: a vertex sees edges up to its time; "": all edges
	param parameters
	reaches
	last portion // of the last request
}

// parameters are values of parameters by their names.
type parameters func(name string, rows, cols int) ([]float32, error)

// answers is an error if blocks do not answer for vertices of d by m.
func answers(m *Model, d *dataset.Data) error {
	switch {
	case d == nil || d.Edges == nil:
		return errors.New("saga: no data")
	case m.Task != "" && m.Task != VertexTask:
		return fmt.Errorf("saga: rows of some vertices are for labels of vertices, and this model is for a %s task", m.Task)
	case d.Vertices.Kinds != nil:
		return fmt.Errorf("saga: %s has several types of vertices; with them all are predicted", d.Name)
	case d.Shard != nil:
		return errors.New("saga: shards are evaluated and not predicted from")
	case m.gathers() == 0:
		return errors.New("saga: no layer of the model gathers, so that all vertices are predicted without any graph")
	case int64(d.Edges.E()) >= 1<<32:
		return fmt.Errorf("saga: %d edges; rows of some vertices are for graphs with fewer than 2^32", d.Edges.E())
	}
	return nil
}

// newSome is OpenSome with parameters of m. byTime says that a vertex sees edges up to its own time alone.
func newSome(m Model, d *dataset.Data, c Config, byTime bool, param parameters) (*Some, error) {
	if err := d.Edges.Lengths(); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	s := &Some{model: m, data: d, cfg: c.forBlocks(), param: param, reaches: reaches{edges: d.Edges, steps: m.gathers(), never: c.HostMem > 0}}
	if byTime {
		s.times = batches.UpTo
		if err := timed(d); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// timedEdges tells whether edges of d have times, of several relations those of at least one.
func timedEdges(d *dataset.Data) bool {
	if k := d.Vertices.Kinds; k != nil {
		return slices.ContainsFunc(k.Graph.Relations, func(r dataset.Relation) bool { return r.Links.Edges.Time != nil })
	}
	return d.Edges.Time != nil
}

// timed is an error if d has no times of edges, of several relations of none, or of vertices.
func timed(d *dataset.Data) error {
	if !timedEdges(d) || d.Vertices.Time == nil {
		return fmt.Errorf("saga: training drew edges up to the times of vertices, and %s has no times of edges (edge_time) or of vertices (vertex_time)", d.Name)
	}
	return nil
}

// Work estimates the work of Rows for list, and that of a pass over the whole graph: in edges over which messages are computed. It stops
// counting above half of all.
func (s *Some) Work(list []uint32) (some, all int64, err error) {
	all = int64(s.steps) * int64(s.edges.E())
	once, err := s.once(list)
	if err != nil {
		return 0, 0, err
	}
	batches := int64((len(once) + answerBatch - 1) / answerBatch)
	x, err := s.find(once[:min(len(once), answerBatch)], all/2/max(1, batches))
	if err != nil {
		return 0, 0, err
	}
	return x.work * batches, all, nil
}

// once is list in ascending order, without repeats.
func (s *Some) once(list []uint32) ([]uint32, error) {
	for i, v := range list {
		if int64(v) >= int64(s.edges.V) {
			return nil, fmt.Errorf("saga: vertex %d of the list is %d; ids are below %d", i, v, s.edges.V)
		}
	}
	once := slices.Clone(list)
	slices.Sort(once)
	return slices.Compact(once), nil
}

// find finds what vertices depend on, as reaches.of. What the last request found is kept; it is all if its work is not above its bound.
func (s *Some) find(once []uint32, most int64) (*portion, error) {
	if s.last.of != nil && slices.Equal(once, s.last.list) && (s.last.work <= s.last.most || most <= s.last.most) {
		return &s.last, nil
	}
	x, err := s.reaches.of(once, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.data.Name, err)
	}
	s.last = portion{list: once, reached: *x, of: s.data, whole: s.last.whole}
	return &s.last, nil
}

// Rows are the rows of the vertices of list, in its order, and how many numbers each has.
func (s *Some) Rows(list []uint32) (x []float32, cols int, err error) {
	once, err := s.once(list)
	if err != nil {
		return nil, 0, err
	}
	part, err := s.find(once, math.MaxInt64)
	if err != nil {
		return nil, 0, err
	}
	d := *s.data
	if d.Edges, err = s.edges.Part(part.edges); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", d.Name, err)
	}
	d.EdgeLabels, d.EdgeSplit = nil, dataset.Split{}
	d.Targets.Edge, d.Targets.EdgeSets, d.Targets.Links, d.Targets.Given = dataset.Numbers{}, dataset.Numbers{}, nil, nil
	var graph *batches.Graph
	batch, err := s.batch(once, d.Edges)
	if err != nil {
		return nil, 0, err
	}
	a := &answer{items: once, times: s.times}
	if err := a.within(request{model: s.model, data: &d, cfg: s.cfg, output: "logits", part: part}, batch, &graph, s.param); err != nil {
		return nil, 0, err
	}
	out := make([]float32, 0, len(list)*a.cols)
	for _, v := range list {
		at, _ := slices.BinarySearch(once, v)
		out = append(out, a.rows[at*a.cols:(at+1)*a.cols]...)
	}
	return out, a.cols, nil
}

// batch is how many vertices of once are answered at a time, by the edges that they reach. It is halved only where two halves together
// reach few vertices twice.
func (s *Some) batch(once []uint32, e *chunk.Edges) (int, error) {
	n, r := min(answerBatch, len(once)), reaches{edges: e, steps: s.steps, never: true}
	x, err := r.of(once[:n], math.MaxInt64)
	for n > 1 && err == nil && len(x.vertices) > answerRows {
		var half *reached
		if half, err = r.of(once[:(n+1)/2], math.MaxInt64); err != nil || 16*len(half.vertices) > 9*len(x.vertices) {
			break
		}
		n, x = (n+1)/2, half
	}
	return n, err
}

// answer is rows of vertices or, if the request has some, of moments by their numbers. They ascend.
type answer struct {
	items  []uint32
	times  string // as Sampling.Times
	rows   []float32
	cols   int
	places []uint32 // of the rows that were computed, among all
}

// within computes the rows in batches of so many, or of fewer where memory is bounded.
func (a *answer) within(r request, batch int, graph **batches.Graph, param parameters) error {
	for ; ; batch = (batch + 1) / 2 {
		var small *plan.BudgetError
		a.rows, a.places = nil, nil
		if err := a.compute(r, batch, graph, param); batch == 1 || !errors.As(err, &small) {
			return err
		}
	}
}

// compute computes the rows in batches of so many. graph is opened if it is nil.
func (a *answer) compute(r request, batch int, graph **batches.Graph, param parameters) (err error) {
	p, err := newProgram(r)
	if err != nil {
		return err
	}
	p.mode = scoring{batched{p}}
	all := slices.Repeat([]int{math.MaxInt32}, p.model.gathers())
	if p.sampled, err = p.newSampled(Sampling{Sampler: sample.Neighbours(all...), Batch: batch, Times: a.times}, a.items, *graph); err != nil {
		return err
	}
	*graph, p.sampled.asked = p.sampled.draws.Graph(), true
	if err := p.on.findCards(true); err != nil {
		return err
	}
	if p.rooms, err = p.sampled.draws.Presample(); err != nil {
		return err
	}
	if err := p.compileSampled(func(err error) error { return err }); err != nil {
		return err
	}
	open, err := p.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, q := range p.params {
		if !readsParam(p, &q) {
			continue
		}
		x, err := param(q.Name, q.Rows, q.Cols)
		if err == nil {
			err = open.setGlobal(q.Name, x)
		}
		if err != nil {
			return err
		}
	}
	for i := range p.sampled.draws.Count() {
		if open, err = p.scoreBatch(open, batches.Place{Batch: i}, func(open *session, b *batches.Batch) { a.take(p, open, b) }); err != nil {
			return err
		}
	}
	return nil
}

// take keeps the rows of a batch that was computed.
func (a *answer) take(p *Program, open *session, b *batches.Batch) {
	p.run.last = append(p.run.last[:0], b.Seeds...)
	x, cols := open.seedRows(p.train.low.Outputs[p.output])
	if a.rows == nil {
		a.rows, a.cols = make([]float32, len(a.items)*cols), cols
	}
	for i, v := range b.Items() {
		to, _ := slices.BinarySearch(a.items, v)
		copy(a.rows[to*cols:(to+1)*cols], x[i*cols:(i+1)*cols])
		a.places = append(a.places, uint32(to))
	}
}
