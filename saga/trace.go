package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/ops"
)

// Model is a sequence of layers. The last layer's rows are the logits, unless there is
// a head for another Task.
type Model struct {
	Name   string
	Layers []Layer
	// SelfLoops adds a self loop to every vertex that has none.
	SelfLoops bool
	// Task says what the labels stand on. Default: VertexTask.
	Task Task
	// Readout makes one row a graph of the last layer's rows. Default: ReadoutMean.
	Readout Readout
	// Embedding is the number of columns of rows that are learned, one a vertex, in place of features
	// (parameter "embedding"); the data's are not read. 0: none. Data without features then has the
	// identity for them, V×V, which is never made.
	Embedding int
	// Head gives the logits [G×C] of graphs from what was read out [G×c]; nil: that is
	// the logits. Its parameters have the scope "head".
	Head func(graphs Tensor, p Params) Tensor
	// EdgeHead gives the logits [E×C] of edges; Src and Dst are the last layer's rows.
	// Its parameters have the scope "head".
	EdgeHead func(e Edge, p Params) Tensor
	// LinkHead scores pairs of vertices by the last layer's rows, for a LinkTask. Default: LinkDot.
	LinkHead LinkHead
	// Loss is what training minimises. Default: the cross-entropy of classes.
	Loss Loss
}

// Names of vertex inputs that the engine computes from the graph and the data.
const (
	featuresInput = "features"
	labelsInput   = "labels"
	weightInput   = "weight"             // [V×1]: 1/|train| on training vertices, else 0
	splitsInput   = "splits"             // [V×3]: membership in train, validation, test
	invDegree     = "vertex:invdegree"   // [V×1] 1/max(in-degree, 1)
	rsqrtDegree   = "vertex:rsqrtdegree" // [V×1] in-degree^-½, 0 without in-edges
)

// dims is what a trace must know of the data.
type dims struct {
	features, classes int
	multi             bool // labels are a row of 0 and 1 a vertex
	types, data       int
	weight            bool
	featureGrad       bool
	vertices          int
	embedding         int  // columns of the rows that are learned in place of features; 0: none are
	identity          bool // features are the identity
	sparse            bool // features are sparse rows
	task              Task
	graphs            int  // GraphTask: number of graphs
	train             int  // EdgeTask: number of training edges
	targets           int  // EdgeTask: numbers that each edge has to predict; 0: a class
	levels            int  // of sampled blocks, as many as layers that gather; 0: the full graph
	weighed           bool // by the sampler
	scaled            bool // sums over sampled edges are (NormFull)
	loss              Loss
	linkHead          LinkHead
}

// tracer runs a model's functions once, on symbols.
type tracer struct {
	g         *dataflow.Graph
	d         dims
	train     bool
	params    map[string]*dataflow.Node
	list      []Param
	sites     int
	averages  map[*dataflow.Node]Tensor // in training what the averaged parameters move towards
	level     int                       // of sampled blocks, of the rows in hand
	gathering any                       // ApplyEdge of the layer in hand
	soft      bool                      // which has asked for Edge.Softmax
	data      func() Tensor             // edge data of the next layer, of the edges in hand; nil: that of the graph

	running bool // one of the model's functions
}

// traced is a model as a program.
type traced struct {
	t              *tracer
	hidden, logits Tensor // hidden: the rows that enter the last layer, or the head
	rows           Tensor // hidden rows of vertices: of a GraphTask those that are read out
	features       Tensor
	target         target
	heads          []Tensor // parameters of the LinkHead
	ends           Tensor   // rows of the ends of pairs
}

// LayerError says which layer is wrong: its shapes, or what its functions return or panic
// with.
type LayerError struct {
	Layer int // from 1
	Name  string
	Err   error
}

// Error names the layer and what is wrong in it.
func (e *LayerError) Error() string {
	return fmt.Sprintf("layer %d (%s): %v", e.Layer, e.Name, e.Err)
}

// Unwrap is what is wrong: a *dataflow.ShapeError, or what a function of the layer
// panicked with.
func (e *LayerError) Unwrap() error { return e.Err }

// trace turns m into a program. It is the one place where a panic of a user's function
// becomes an error.
func trace(m Model, d dims, train bool) (tr *traced, err error) {
	if len(m.Layers) == 0 {
		return nil, errors.New("a model needs at least one layer")
	}
	layer, name := 0, "head"
	t := &tracer{g: dataflow.NewTrace(), d: d, train: train, level: d.levels, params: map[string]*dataflow.Node{}, averages: map[*dataflow.Node]Tensor{}}
	defer func() {
		if r := recover(); r != nil {
			failed := t.failed(r)
			if layer < len(m.Layers) {
				name = m.Layers[layer].Name
			}
			tr, err = nil, &LayerError{layer + 1, name, failed}
		}
	}()
	x := t.features()
	tr = &traced{t: t, features: x}
	for layer = range m.Layers {
		if err := m.Layers[layer].fits(); err != nil {
			return nil, &LayerError{layer + 1, m.Layers[layer].Name, err}
		}
		tr.hidden, tr.rows = x, x
		x = t.layer(&m.Layers[layer], layer, x)
		if k := x.Shape().Set.Kind; k != dataflow.Vertex {
			return nil, &LayerError{layer + 1, m.Layers[layer].Name, fmt.Errorf("ApplyVertex must return a row a vertex, not %v", x.Shape())}
		}
	}
	layer = len(m.Layers)
	if err := tr.head(&m, x); err != nil {
		return nil, err
	}
	return tr, nil
}

func (t *tracer) layer(l *Layer, index int, x Tensor) Tensor {
	p := Params{t: t, scope: l.Scope, layer: index}
	if p.scope == "" {
		p.scope = fmt.Sprintf("layer%d", index+1)
	}
	t.g.Origin(fmt.Sprintf("layer %d", index+1))
	defer t.g.Origin("")
	x = t.dropout(x, l.Dropout)
	y := t.rows(l, index, x, p)
	if l.UpdateEdge != nil { // after the layer has seen the data as it was
		t.updateEdge(l, index, x, p)
	}
	return y
}

// rows are the layer's new rows from its rows x.
func (t *tracer) rows(l *Layer, index int, x Tensor, p Params) Tensor {
	self := t.below(l, x)
	v := Vertex{Self: self, InDegree: t.vertex(dataflow.InDegree, 1), OutDegree: t.vertex(dataflow.OutDegree, 1), t: t}
	if l.ApplyEdge != nil {
		t.gathering, t.soft = l.ApplyEdge, false
		e := t.edges(x, self)
		t.g.Origin("")
		acc := l.Gather
		if acc.run == nil {
			acc = Sum
		}
		var score Tensor
		if l.Score != nil {
			score = t.user("Score", l.Score, func() Tensor { return l.Score(e, p) })
		}
		m := t.user("ApplyEdge", l.ApplyEdge, func() Tensor { return l.ApplyEdge(e, p) })
		t.g.Origin(fmt.Sprintf("layer %d gather", index+1))
		v.Accum = acc.run(t, score, m)
	}
	if l.ApplyVertex == nil {
		return v.Accum
	}
	t.g.Origin("")
	return t.user("ApplyVertex", l.ApplyVertex, func() Tensor { return l.ApplyVertex(v, p) })
}

// edges are those whose sources have rows x and whose destinations have rows self.
func (t *tracer) edges(x, self Tensor) Edge {
	e := Edge{Src: dataflow.ScatterSrc(x), Dst: dataflow.ScatterDst(self), Types: max(1, t.d.types), t: t}
	if t.data != nil {
		e.Data = t.data()
	} else {
		e.Data = t.edgeData()
	}
	if t.d.weight || t.d.weighed {
		e.Weight = t.edge(dataflow.WeightInput, 1)
	}
	if t.d.types > 0 {
		e.Type = t.edge(dataflow.TypeInput, 1)
	}
	return e
}

func (t *tracer) vertex(name string, cols int) Tensor {
	return t.g.Leaf(dataflow.InputOp, name, dataflow.Shape{Set: t.vertices(), Cols: cols})
}

func (t *tracer) edge(name string, cols int) Tensor {
	return t.g.Leaf(dataflow.InputOp, name, dataflow.Shape{Set: t.edgeSet(), Cols: cols})
}

func (t *tracer) features() Tensor {
	if t.d.embedding > 0 {
		return t.embed()
	}
	if t.d.featureGrad {
		return t.g.Variable(featuresInput, dataflow.Shape{Set: t.vertices(), Cols: t.d.features})
	}
	return t.vertex(featuresInput, t.d.features)
}

func (t *tracer) step() Tensor {
	return t.g.Leaf(dataflow.InputOp, dataflow.StepInput, dataflow.Shape{Rows: 1, Cols: 4})
}

func (t *tracer) site() int { t.sites++; return t.sites }

func (t *tracer) dropout(x Tensor, p float32) Tensor {
	if !t.train || p == 0 {
		return x
	}
	return ops.Dropout(x, p, t.site(), t.ids(x), nil, t.step())
}
