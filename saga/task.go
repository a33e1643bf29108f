package saga

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga/rows"
)

// Task says what has labels and predictions: vertices, edges, graphs, or pairs of vertices.
type Task = dataset.LabelKind

// The tasks; LinkTask is a fourth.
const (
	VertexTask = dataset.VertexLabels
	EdgeTask   = dataset.EdgeLabels
	GraphTask  = dataset.GraphLabels
)

// Readout combines the rows of a graph's vertices into one row. A graph without vertices gets zeros.
type Readout string

// The readouts.
const (
	ReadoutSum  Readout = "sum"
	ReadoutMean Readout = "mean"
	ReadoutMax  Readout = "max"
)

// The label and the split of an edge are columns of the edge data, after the user's columns: the
// class (-1: none) or the targets, then the split, 1 to 3 (0: none).

// target gives labels, weights and splits, with one row for each row of the logits. Each call
// makes new nodes.
type target struct {
	labels func() Tensor // [·×1]: class; [·×C]: several labels as 0 and 1, or regression targets
	weight func() Tensor // [·×1]: 1/|train| in the training split, else 0
	splits func() Tensor // [·×3]: membership
}

// layerError is what is wrong in layer number i from 0 of m, or behind the last one.
func layerError(m *Model, i int, err error) *LayerError {
	e := &LayerError{Layer: i + 1, Name: "head", Err: err}
	if i < len(m.Layers) {
		e.Name, e.Scope = m.Layers[i].Name, m.Layers[i].Scope
	}
	return e
}

// head sets the logits, the target and, where a head follows the layers, the hidden rows of tr. x is
// the last layer's rows.
func (tr *traced) head(m *Model, x Tensor) error {
	t := tr.t
	t.g.Origin("")
	p := Params{t: t, scope: "head", drawn: "head", layer: len(m.Layers)}
	last := len(m.Layers) - 1
	fail := func(format string, a ...any) error { return layerError(m, last, fmt.Errorf(format, a...)) }
	set, what := dataflow.Vertex, "the last layer"
	switch t.d.task {
	case "", VertexTask:
		if m.Head != nil || m.EdgeHead != nil {
			return fmt.Errorf("a model for labels of vertices has no head: its last layer gives the logits")
		}
		tr.logits, tr.target = x, t.vertexTarget()
	case EdgeTask:
		if m.EdgeHead == nil || m.Head != nil {
			return fmt.Errorf("a model for labels of edges needs an EdgeHead, and no Head")
		}
		set, what, last = dataflow.Edge, "the edge head", last+1
		tr.rows, tr.hidden = x, x
		self := x
		if tr.far != nil {
			self = tr.far
		}
		if k := t.d.kinds; k != nil {
			t.along(k.linked())
		}
		if t.d.levels > 0 {
			t.level--
			self, t.d.weighed = dataflow.Prefix(self), false
		}
		tr.logits = t.user("EdgeHead", m.EdgeHead, func() Tensor { return m.EdgeHead(t.edges(x, self), p) })
		if t.d.levels > 0 {
			t.drawnPairs(tr.logits)
		}
		tr.target = t.edgeTarget()
	case GraphTask:
		if m.EdgeHead != nil {
			return fmt.Errorf("a model for labels of graphs has no EdgeHead")
		}
		var err error
		tr.rows = x
		if tr.hidden, err = t.readout(m.Readout, x); err != nil {
			return err
		}
		set, what = dataflow.Global, "the readout"
		tr.logits, tr.target = tr.hidden, t.graphTarget()
		if m.Head != nil {
			what, last = "the head", last+1
			tr.logits = t.user("Head", m.Head, func() Tensor { return m.Head(tr.hidden, p) })
		}
	case LinkTask:
		if err := tr.linkHead(m, x, p); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown task %q; there are %s, %s, %s, %s", t.d.task, VertexTask, EdgeTask, GraphTask, LinkTask)
	}
	switch s := tr.logits.Shape(); {
	case s.Set.Kind != set || set == dataflow.Global && s.Rows != t.d.graphs:
		return fail("%s must give a row for each of the %s, not %v", what, t.d.taskName().Plural(), s)
	case t.d.classes > 0 && s.Cols != t.d.classes:
		return fail("%s gives rows %d wide; the data has %d classes", what, s.Cols, t.d.classes)
	}
	return nil
}

func (d *dims) taskName() Task {
	if d.task == "" {
		return VertexTask
	}
	return d.task
}

// paired tells whether what has labels is pairs of vertices.
func (d *dims) paired() bool { return d.task == EdgeTask || d.task == LinkTask }

// readout combines x [V×c] by graph: [G×c].
func (t *tracer) readout(r Readout, x Tensor) (Tensor, error) {
	t.g.Origin("readout")
	defer t.g.Origin("")
	key := t.vertex(rows.GraphOf, 1)
	switch r {
	case ReadoutSum:
		return ops.SumRowsBy(x, key, t.d.graphs), nil
	case "", ReadoutMean:
		return ops.RowScale(ops.SumRowsBy(x, key, t.d.graphs), t.matrix(rows.GraphInvCount, 1)), nil
	case ReadoutMax:
		return ops.MaxRowsBy(x, key, t.d.graphs), nil
	}
	return nil, fmt.Errorf("unknown readout %q; there are %s, %s, %s", r, ReadoutSum, ReadoutMean, ReadoutMax)
}

// matrix is a Global input with one row per graph.
func (t *tracer) matrix(name string, cols int) Tensor {
	return t.g.Leaf(dataflow.InputOp, name, dataflow.Shape{Rows: t.d.graphs, Cols: cols})
}

func (t *tracer) vertexTarget() target {
	cols := 1
	if t.d.labels.multi || t.d.loss.numbers() {
		cols = t.d.classes
	}
	return target{
		labels: func() Tensor { return t.vertex(rows.Labels, cols) },
		weight: func() Tensor { return t.vertex(rows.Weight, 1) },
		splits: func() Tensor { return t.vertex(rows.Splits, 3) },
	}
}

func (t *tracer) graphTarget() target {
	cols := 1
	if t.d.labels.multi || t.d.loss.numbers() {
		cols = t.d.classes
	}
	return target{
		labels: func() Tensor { return t.matrix(rows.GraphLabels, cols) },
		weight: func() Tensor { return t.matrix(rows.GraphWeight, 1) },
		splits: func() Tensor { return t.matrix(rows.GraphSplits, 3) },
	}
}

func (t *tracer) edgeTarget() target {
	cols := labelCols(t.d.labels.targets) - 1
	in := func(split float32) Tensor {
		return ops.Eq(ops.Slice(t.edgeRow(), t.d.data+cols, 1), t.g.Const(split))
	}
	return target{
		labels: func() Tensor { return ops.Slice(t.edgeRow(), t.d.data, cols) },
		weight: func() Tensor {
			if t.d.levels > 0 { // in a batch the column of the split has the weight
				return ops.Slice(t.edgeRow(), t.d.data+cols, 1)
			}
			if w := t.d.loss.ClassWeights; w != nil {
				return ops.Mul(in(1), ops.PickRows(t.g.Leaf(dataflow.InputOp, rows.ClassWeights, dataflow.Shape{Rows: len(w), Cols: 1}), ops.Slice(t.edgeRow(), t.d.data, 1)))
			}
			return ops.Scale(in(1), t.d.labels.share)
		},
		splits: func() Tensor { return ops.Concat(in(1), in(2), in(3)) },
	}
}

// updateEdge sets the data of the current edges that the next layers see to what l.UpdateEdge returns. The layer's rows of the sources are x, of
// the destinations y.
func (t *tracer) updateEdge(l *Layer, index int, x, y Tensor, p Params) {
	update := func(src, dst Tensor) Tensor {
		t.g.Origin(fmt.Sprintf("layer %d", index+1))
		e := t.edges(src, dst)
		t.g.Origin("")
		data := t.user("UpdateEdge", l.UpdateEdge, func() Tensor { return l.UpdateEdge(e, p) })
		if data.Shape().Set.Kind != dataflow.Edge {
			panic(&dataflow.ShapeError{Op: "UpdateEdge", Pos: dataflow.FuncPos(l.UpdateEdge), In: []dataflow.Shape{data.Shape()},
				Err: fmt.Errorf("must return one row per edge")})
		}
		return data
	}
	if t.d.levels > 0 {
		t.updateBlocks(x, y, update)
		return
	}
	data := update(x, y)
	t.data[t.rel] = func() Tensor { return data }
}

// withLabels is e with the label and the split of each edge in columns of its data. e may have
// more edges than d: self loops at its end. targets is the number of numbers in a label, of which t has the rows; 0: a class.
func withLabels(e *chunk.Edges, d *dataset.Data, t dataset.Numbers, targets int) *chunk.Edges {
	r, cols := *e, e.DataCols+labelCols(targets)
	r.DataCols, r.Data = cols, make([]float32, e.E()*cols)
	for k := range e.E() {
		row := r.Data[k*cols : (k+1)*cols]
		copy(row, e.Data[k*e.DataCols:(k+1)*e.DataCols])
		switch {
		case targets > 0 && k < t.Len():
			rows.SetTargets(row[e.DataCols:cols-1], t, k)
		case targets == 0 && k < len(d.EdgeLabels):
			row[e.DataCols] = float32(d.EdgeLabels[k])
		case targets == 0:
			row[e.DataCols] = -1
		}
	}
	for i, split := range d.Splits(EdgeTask) {
		for _, k := range split {
			r.Data[int(k)*cols+cols-1] = float32(i + 1)
		}
	}
	return &r
}

// label puts the labels, which are rows of wide where they are several numbers, and the split of the edges of the linked relation into
// columns of their data.
func (k *kinds) label(p *definition, wide dataset.Numbers) {
	p.targetCols(wide)
	in := k.relations[k.linked()].in
	in.Edges = withLabels(in.Edges, p.data, wide, p.dims.labels.targets)
	p.dims.labels.share = p.in.Mean(p.data.EdgeSplit.Train)
}

// targetCols notes of how many numbers a label of an edge is; predictions need none.
func (p *definition) targetCols(wide dataset.Numbers) {
	if p.output == "" {
		p.dims.labels.targets = wide.Cols
	}
}

// byNumber is the edge rows x as a Global [E×c] in the order of the data's edges, without added self
// loops. It writes the edges' numbers into the column of the label.
func (p *definition) byNumber(tr *traced, x Tensor) (Tensor, error) {
	n, e := dataset.LabelledEdges(p.data).E(), p.in.Edges
	if k := p.in.kinds; k != nil {
		e = k.relations[k.linked()].in.Edges
	}
	if n < 1 || n > maxRows {
		return nil, fmt.Errorf("saga: %s has %d edges; from 1 to %d can be told apart", p.data.Name, n, maxRows)
	}
	for k := range e.E() {
		number := float32(-1)
		if k < n {
			number = float32(k)
		}
		e.Data[(k+1)*e.DataCols-labelCols(0)] = number
	}
	return ops.SumRowsBy(x, tr.target.labels(), n), nil
}

// maxRows is how many consecutive integers a float32 represents exactly.
const maxRows = 1 << 24

// graphCount is the number of graphs of d.
func graphCount(d *dataset.Data) (int, error) {
	if d.GraphOf == nil {
		return 0, fmt.Errorf("saga: %s does not say which graph a vertex belongs to", d.Name)
	}
	n := uint64(d.GraphRows())
	for _, g := range d.GraphOf {
		n = max(n, uint64(g)+1)
	}
	if n > maxRows {
		return 0, fmt.Errorf("saga: %s has %d graphs; at most %d can be told apart", d.Name, n, maxRows)
	}
	return int(n), nil
}
