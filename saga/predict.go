package saga

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/safetensors"
)

// Predict runs m, with the parameters of the checkpoint at path, over all vertices of d within
// c.Mem, streaming chunks as in training, and returns the logits: V×classes in the user's order.
// With an EdgeTask there is one row for every edge of d in stored order, with a GraphTask one for
// every graph, with a LinkTask the vertices' rows z. If training drew edges by time (Sampling.Times), a row is of the edges up to
// its vertex's time, and z of all edges. Logits of edges and graphs lie in device memory
// as a whole, and there may be at most 2²⁴ rows. A checkpoint of early stopping gives the
// parameters of the best epoch. d needs no labels; fields of c that concern training are ignored.
// Columns, relations and learned rows are those of the names and ids that d and the checkpoint have; an error names both
// sides if that cannot be.
func Predict(m Model, d *dataset.Data, c Config, path string) (logits []float32, classes int, err error) {
	return fromCheckpoint(m, d, c, path, "logits")
}

// PredictWith is Predict with parameters that weights gives, by their names, in place of a checkpoint's; it is told which there are.
func PredictWith(m Model, d *dataset.Data, c Config, weights func(params []Param) (map[string][]float32, error)) (logits []float32, classes int, err error) {
	p, err := newProgram(request{model: m, data: d, cfg: c.forForward(), output: "logits"})
	if err == nil {
		_, err = p.goal.trace(p.definition)
	}
	if err != nil {
		return nil, 0, err
	}
	values, err := weights(p.params)
	if err != nil {
		return nil, 0, err
	}
	return forward(m, d, c, "logits", func(name string, rows, cols int) ([]float32, error) {
		if x := values[name]; len(x) == rows*cols {
			return x, nil
		}
		return nil, fmt.Errorf("saga: parameter %s has %d×%d numbers; %d were given", name, rows, cols, len(values[name]))
	})
}

// Embed is Predict for the rows that enter the last layer: V×hidden. With an EdgeTask it returns
// the last layer's rows, with a GraphTask the readout, one row per graph.
func Embed(m Model, d *dataset.Data, c Config, path string) (rows []float32, hidden int, err error) {
	return fromCheckpoint(m, d, c, path, "hidden")
}

// EmbedOf is Embed for the vertices of a type of a graph that has several, of a model for labels of vertices or edges. Rows are there of the
// types whose vertices the last layer reads, and of both ends of edges; the error lists them.
func EmbedOf(m Model, d *dataset.Data, c Config, path, typ string) (rows []float32, hidden int, err error) {
	k, err := readParams(m, path)
	if err != nil {
		return nil, 0, err
	}
	if d, err = k.apply(&m, d); err != nil {
		return nil, 0, err
	}
	if d.Vertices.Kinds == nil || m.Task == LinkTask {
		return nil, 0, fmt.Errorf("saga: rows of vertices of type %.40q: they are those of a graph of several types, by a model for labels of vertices or edges", typ)
	}
	if k.about.ByTime() {
		return nil, 0, fmt.Errorf("saga: rows of vertices of type %.40q: training drew edges up to the times of the vertices that have labels", typ)
	}
	return run(request{model: m, data: d, cfg: c.forForward(), output: "hidden", typ: typ}, k.param)
}

// Predict returns the logits of all vertices (see the function Predict) with the current
// parameters. Training frees its device memory meanwhile, so that Config.Mem holds.
func (p *Program) Predict() (logits []float32, classes int, err error) { return p.infer("logits") }

// Embed is Predict for the rows that enter the last layer: V×hidden.
func (p *Program) Embed() (rows []float32, hidden int, err error) { return p.infer("hidden") }

// Classes is, for every row of logits [rows×classes], the column of the largest, the first among
// equal ones. A NaN counts as largest.
func Classes(logits []float32, classes int) []int32 {
	if classes < 1 {
		return nil
	}
	out := make([]int32, 0, len(logits)/classes)
	for row := range slices.Chunk(logits, classes) {
		k := 0
		for i, x := range row {
			if x > row[k] || x != x && row[k] == row[k] { // the first NaN is the largest, as for ops.Correct
				k = i
			}
		}
		out = append(out, int32(k))
	}
	return out
}

func fromCheckpoint(m Model, d *dataset.Data, c Config, path, what string) ([]float32, int, error) {
	k, err := readParams(m, path)
	if err != nil {
		return nil, 0, err
	}
	if d, err = k.apply(&m, d); err != nil {
		return nil, 0, err
	}
	return forwardBy(k.about.ByTime(), m, d, c, what, k.param)
}

// forwardBy is forward or, by time, the rows of all vertices at their own times. Links have times of their own, and rows of all vertices
// without a time are those after all edges.
func forwardBy(byTime bool, m Model, d *dataset.Data, c Config, what string, param parameters) ([]float32, int, error) {
	if !byTime || m.Task == LinkTask || what == "hidden" && len(m.Layers) == 1 {
		return forward(m, d, c, what, param)
	}
	typed, gathers := d != nil && d.Vertices.Kinds != nil, m.gathers()
	if !typed {
		if err := answers(&m, d); err != nil {
			return nil, 0, err
		}
	}
	if what == "hidden" {
		below := m
		if below.Layers = m.Layers[:len(m.Layers)-1]; below.gathers() == 0 { // no edge is read
			return forward(m, d, c, what, param)
		}
		m = below
	}
	if typed {
		if err := timed(d); err != nil {
			return nil, 0, err
		}
		return allAtTimes(request{model: m, data: d, cfg: c.forBlocks(), output: "logits", names: gathers}, upTo(d.Edges.V), param)
	}
	s, err := newSome(m, d, c, true, param)
	if err != nil {
		return nil, 0, err
	}
	return s.Rows(upTo(d.Edges.V))
}

// readParams reads the checkpoint of m at path.
func readParams(m Model, path string) (*Stored, error) {
	k, err := ReadStored(path)
	if err == nil && k.about.Model != m.Name {
		err = fmt.Errorf("%s: a checkpoint of model %q; this is %q", path, k.about.Model, m.Name)
	}
	if err == nil {
		err = k.Suits(&m)
	}
	return k, err
}

// ByTime tells whether training drew edges up to the times of vertices or links (Sampling.Times).
func (c *Checkpoint) ByTime() bool {
	return slices.ContainsFunc(c.conditions, func(x condition) bool { return strings.Contains(x.Value, edgesUpTo) })
}

// infer runs a program for the forward pass between two steps.
func (p *Program) infer(what string) (x []float32, cols int, err error) {
	err = p.aside(func(held []safetensors.Tensor) error {
		if p.cfg.HostMem > 0 { // the other program builds a grid of its own: free this one
			p.grids.built = nil
		}
		c := p.cfg
		c.Outcome.Packing = p.Outcome().Packing // as in training, which fits into the same budget
		x, cols, err = forwardBy(p.sampled.byTime(), p.model, p.data, c, what, func(name string, _, _ int) ([]float32, error) {
			for _, t := range held {
				if t.Name == name {
					return t.Data.([]float32), nil
				}
			}
			return nil, fmt.Errorf("saga: no parameter %q", name)
		})
		return err
	})
	return x, cols, err
}

// forward compiles and runs the forward pass of m on d, and returns output what. param returns
// parameters by name.
func forward(m Model, d *dataset.Data, c Config, what string, param parameters) (x []float32, cols int, err error) {
	return run(request{model: m, data: d, cfg: c.forForward(), output: what}, param)
}

// run is forward for a request.
func run(r request, param parameters) (x []float32, cols int, err error) {
	m, what := r.model, r.output
	if what == "hidden" && len(m.Layers) == 1 && (m.Task == "" || m.Task == VertexTask) {
		return features(r)
	}
	p, err := compile(r)
	if err != nil {
		return nil, 0, err
	}
	set := func(s *session) error {
		for _, q := range p.params {
			if !p.isLearned(p.train, q.Name) {
				continue
			}
			x, err := param(q.Name, q.Rows, q.Cols)
			if err == nil {
				err = s.setLearned(p.train, q.Name, x)
			}
			if err != nil {
				return err
			}
		}
		for id, g := range p.train.low.Spec.Globals {
			if g.Kind != plan.Param {
				continue
			}
			w, err := param(g.Name, g.Rows, g.Cols)
			if err == nil {
				err = s.train.SetGlobal(id, w)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	err = p.alone(p.train, set, func(s *session) error {
		if id, ok := p.train.low.Globals[what]; ok { // rows of graphs or edges
			g := p.train.low.Spec.Globals[id]
			x, cols = make([]float32, g.Rows*g.Cols), g.Cols
			return s.train.Global(id, x)
		}
		x, cols = s.endRows(p.train, s.train, what)
		return nil
	})
	return x, cols, err
}

// features is Embed for a model of one layer: the rows that enter it are the features of the data.
func features(r request) ([]float32, int, error) {
	p, err := newProgram(r)
	if err != nil {
		return nil, 0, err
	}
	d, learned := r.data, p.dims.identity || p.dims.embedding > 0
	if k := p.dims.kinds; k != nil {
		learned = k.types[k.target].identity || k.types[k.target].learned
	}
	if r.typ != "" {
		k := d.Vertices.Kinds
		t, err := k.Graph.Type(r.typ)
		if err != nil {
			return nil, 0, err
		}
		if t != k.Type {
			rows := *k.Graph.Types[t].Rows
			d, learned = &rows, rows.FeatureCols == 0
		}
	}
	if learned {
		return nil, 0, errors.New("saga: a model of one layer without features of the data has no rows before it but what it learns; Program.Param reads those")
	}
	if _, err = p.goal.trace(p.definition); err != nil {
		return nil, 0, err
	}
	d.HoldFeatures()
	return slices.Clone(d.Features), d.FeatureCols, nil
}

// ScoreLinks scores pairs of vertices of d with the checkpoint of a LinkTask at path. A score is the
// logarithm of the odds that there is an edge. d has the edges that pass messages. If training drew edges by time, a pair with a time
// sees those before it, and pairs without times (Pairs.Time nil) see all. It is an error if
// m is for another task, if a pair names a vertex that d does not have, if pairs have times that the run knows nothing of, or where Predict
// has one. Of several types pairs are of the relation that d
// has links of (dataset.Hetero.Along).
func ScoreLinks(m Model, d *dataset.Data, c Config, path string, pairs *dataset.Pairs) ([]float64, error) {
	s, pairs, err := scorerOf(m, d, c, path, pairs)
	if err != nil {
		return nil, err
	}
	return s.scores(pairs), nil
}

// fitPairs is an error if pairs are not of d, or do not have the types that links of it have.
func fitPairs(pairs *dataset.Pairs, d *dataset.Data) error {
	if err := pairs.Check(dataset.PairV(d)); err != nil {
		return fmt.Errorf("saga: %w", err)
	}
	types := typesOf(d, pairs)
	if (pairs.Type != nil) != (types > 0) || len(pairs.Type) > 0 && (len(pairs.Type) != pairs.Len() || int(slices.Max(pairs.Type)) >= types) {
		return fmt.Errorf("saga: %d pairs with %d types of edges; links of %s have %d types (0: none)", pairs.Len(), len(pairs.Type), d.Name, types)
	}
	return nil
}

// typesOf is how many types links of d have or, where d has none, pairs; 0: none.
func typesOf(d *dataset.Data, pairs *dataset.Pairs) int {
	switch l := d.Targets.Links; {
	case l != nil:
		return l.Types
	case pairs.Type != nil:
		return d.Edges.Types
	}
	return 0
}

// scorerOf is the head of the checkpoint of a LinkTask at path, over the rows that it gives the vertices of d, or, of pairs with times, the
// ends of pairs, which it then numbers by these rows.
func scorerOf(m Model, d *dataset.Data, c Config, path string, pairs *dataset.Pairs) (*scorer, *dataset.Pairs, error) {
	if m.Task != LinkTask {
		return nil, nil, fmt.Errorf("saga: pairs are scored by models of the task %s", LinkTask)
	}
	k, err := readParams(m, path)
	if err != nil {
		return nil, nil, err
	}
	if pairs.Time != nil && !k.about.ByTime() {
		return nil, nil, fmt.Errorf("saga: %s was trained on edges of all times, and pairs with times are asked for; leave their times out", path)
	}
	if err := fitPairs(pairs, d); err != nil {
		return nil, nil, err
	}
	var z []float32
	var cols int
	if pairs.Time != nil {
		z, cols, pairs, err = atTimes(m, d, c, k, pairs)
	} else {
		z, cols, err = Predict(m, d, c, path)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := headOf(m.LinkHead, z, cols, typesOf(d, pairs), k.param)
	return s, pairs, err
}
