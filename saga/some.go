package saga

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/saga/batches"
	"sagann/sample"
)

// Rows of some vertices: the forward pass over blocks of all in-edges, for these vertices alone. A level of a block has the vertices
// whose rows the level below reads, so what no answer depends on is never computed. The blocks are those of sampled training, with
// every in-edge in place of some that are drawn.

// answerBatch is how many vertices are answered at a time where memory is not bounded more tightly.
const answerBatch = 1024

// PredictSome is Predict for the vertices of list alone, in its order: len(list)×classes logits. They are those of Predict, up to the
// order in which the in-edges of a vertex are summed. What is computed and held depends on the in-edges within as many steps as the
// model has layers that gather; c.Mem bounds it, as fewer vertices are answered at a time. It is an error if m is not for labels of
// vertices, if d has several types of vertices, or if m reads what blocks do not have, where Predict computes everything.
func PredictSome(m Model, d *dataset.Data, c Config, path string, list []uint32) (logits []float32, classes int, err error) {
	return someOf(m, d, c, path, list)
}

// EmbedSome is PredictSome for the rows that enter the last layer: len(list)×hidden.
func EmbedSome(m Model, d *dataset.Data, c Config, path string, list []uint32) (rows []float32, hidden int, err error) {
	if len(m.Layers) < 2 {
		return nil, 0, errors.New("saga: the rows that enter the only layer are the features of the data")
	}
	m.Layers = m.Layers[:len(m.Layers)-1] // what leaves these enters the last; blocks need not reach as far
	return someOf(m, d, c, path, list)
}

func someOf(m Model, d *dataset.Data, c Config, path string, list []uint32) ([]float32, int, error) {
	switch {
	case m.Task != "" && m.Task != VertexTask:
		return nil, 0, fmt.Errorf("saga: rows of some vertices are for labels of vertices, and this model is for a %s task", m.Task)
	case d.Vertices.Kinds != nil:
		return nil, 0, fmt.Errorf("saga: %s has several types of vertices; with them all are predicted", d.Name)
	case d.Shard != nil:
		return nil, 0, errors.New("saga: shards are evaluated and not predicted from")
	case m.gathers() == 0:
		return nil, 0, errors.New("saga: no layer of the model gathers, so that all vertices are predicted without any graph")
	}
	for i, v := range list {
		if int64(v) >= int64(d.Edges.V) {
			return nil, 0, fmt.Errorf("saga: vertex %d of the list is %d; ids are below %d", i, v, d.Edges.V)
		}
	}
	k, err := readParams(m, path)
	if err != nil {
		return nil, 0, err
	}
	if d, err = k.apply(&m, d); err != nil {
		return nil, 0, err
	}
	once := slices.Clone(list)
	slices.Sort(once)
	once = slices.Compact(once)
	var graph *batches.Graph
	c = c.forForward()
	c.Without = append([]string{"stream"}, c.Without...)
	c.Optimizer, c.Outputs = Optimizer{Kind: "sgd"}, nil // sgd has no moments
	for batch := min(answerBatch, len(once)); ; batch = (batch + 1) / 2 {
		var small *plan.BudgetError
		a := &answer{vertices: once}
		err := a.compute(m, d, c, batch, &graph, k.param)
		if errors.As(err, &small) && batch > 1 {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		out := make([]float32, 0, len(list)*a.cols)
		for _, v := range list {
			at, _ := slices.BinarySearch(once, v)
			out = append(out, a.rows[at*a.cols:(at+1)*a.cols]...)
		}
		return out, a.cols, nil
	}
}

// answer is rows of vertices, which ascend.
type answer struct {
	vertices []uint32
	rows     []float32
	cols     int
}

// compute computes the rows in batches of so many vertices. graph is opened if it is nil.
func (a *answer) compute(m Model, d *dataset.Data, c Config, batch int, graph **batches.Graph, param func(name string, rows, cols int) ([]float32, error)) (err error) {
	p, err := newProgram(request{model: m, data: d, cfg: c, output: "logits"})
	if err != nil {
		return err
	}
	p.mode = scoring{batched{p}}
	all := slices.Repeat([]int{math.MaxInt32}, p.model.gathers())
	if p.sampled, err = p.newSampled(Sampling{Sampler: sample.Neighbours(all...), Batch: batch}, a.vertices, *graph); err != nil {
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
		if !q.PerVertex && !slices.ContainsFunc(p.train.low.Spec.Globals, func(g plan.Global) bool { return g.Kind == plan.Param && g.Name == q.Name }) {
			continue // nothing reads it
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
		a.rows, a.cols = make([]float32, len(a.vertices)*cols), cols
	}
	for i, v := range b.Seeds {
		to, _ := slices.BinarySearch(a.vertices, v)
		copy(a.rows[to*cols:(to+1)*cols], x[i*cols:(i+1)*cols])
	}
}

// SomeEdges estimates the work of PredictSome for list, and that of Predict: in edges over which messages are computed. Both are 0 if no
// layer gathers.
func SomeEdges(m Model, d *dataset.Data, list []uint32) (some, all int64) {
	steps := m.gathers()
	if d.Vertices.Kinds != nil || d.Shard != nil || len(list) == 0 {
		return 0, 0
	}
	e, first := d.Edges, list[:min(len(list), answerBatch)]
	reached := make([]bool, e.V)
	for _, v := range first {
		if int(v) < e.V {
			reached[v] = true
		}
	}
	for range steps {
		next := slices.Clone(reached)
		for k, v := range e.Dst {
			if reached[v] {
				next[e.Src[k]] = true
				some++
			}
		}
		reached = next
	}
	batches := int64((len(list) + answerBatch - 1) / answerBatch)
	return some * batches, int64(steps) * int64(e.E())
}
