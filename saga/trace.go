package saga

import (
	"cmp"
	"fmt"
	"strings"

	"sagann/dataflow"
	"sagann/saga/rows"
)

// Model is a sequence of layers. With VertexTask the last layer's rows are the logits.
type Model struct {
	Name   string
	Layers []Layer
	// SelfLoops adds a self loop to every vertex that has none.
	SelfLoops bool
	// OneLoop has, with SelfLoops, only the last of several self loops of a vertex keep its weight; the others get
	// weight 0. So PyTorch Geometric normalises weights.
	OneLoop bool
	// MeanLoops has the self loops that SelfLoops adds carry the mean of the numbers of the vertex's other in-edges, as PyTorch
	// Geometric's attention does. Otherwise their numbers are 0.
	MeanLoops bool
	// Task says what has labels. Default: VertexTask.
	Task Task
	// Readout combines the last layer's rows into one row per graph, for a GraphTask. Default: ReadoutMean.
	Readout Readout
	// Embedding is the number of columns of learned rows, one row per vertex, that take the place of
	// features (parameter "embedding"); features of the data are not read. 0: none. Data without
	// features then has the identity matrix V×V as features, which is never stored.
	Embedding int
	// EmbeddingInit says what these rows are drawn from at first. Default: EmbeddingUnit.
	EmbeddingInit EmbeddingInit
	// Head computes the logits [G×C] of graphs from the rows that were read out [G×c], for a GraphTask.
	// nil: these rows are the logits. Its parameters have the scope "head".
	Head func(graphs Tensor, p Params) Tensor
	// EdgeHead computes the logits [E×C] of edges, for an EdgeTask; Src and Dst are the last layer's
	// rows. Its parameters have the scope "head".
	EdgeHead func(e Edge, p Params) Tensor
	// LinkHead scores pairs of vertices by the last layer's rows, for a LinkTask. Default: LinkDot.
	LinkHead LinkHead
	// Frozen are parameters that training leaves as they are: names (layer1.W) or what names begin with (layer1).
	Frozen []string
	// Average, if it is above 0, has evaluation and prediction use averages of the parameters over the updates: every update
	// gives an average Average times what it was plus 1-Average times the parameter, and it begins as the parameter does. Below 1.
	// Rows that are learned for each vertex are not averaged. The averages are parameters, named AverageOf and the name.
	Average float32
	// Loss is what training minimises. Default: the cross-entropy of classes.
	Loss Loss
}

// labelDims is what a trace must know of labels.
type labelDims struct {
	multi   bool    // a vertex, edge or graph has several labels: a row of 0 and 1
	partial bool    // multi: some labels are not known
	targets int     // EdgeTask: numbers in the label of an edge; 0: a class
	share   float32 // EdgeTask: weight of a training edge in the mean loss
}

// dims is what a trace must know of the data.
type dims struct {
	features, classes int
	labels            labelDims
	types, data       int  // number of edge types, 0: none; columns of edge data
	weight            bool // edges have weights
	featureGrad       bool // the gradient of the features is an output
	vertices          int
	embedding         int // columns of the rows that are learned in place of features; 0: none are
	embeddingInit     EmbeddingInit
	identity          bool // features are the identity
	sparse            bool // features are sparse rows
	task              Task
	graphs            int  // GraphTask: number of graphs
	levels            int  // levels of sampled blocks above the seeds; 0: the full graph
	weighed           bool // the sampler gives edges weights
	scaled            bool // sums over sampled edges are scaled (NormFull)
	loss              Loss
	link              linkDims
	kinds             *kinds // nil: one vertex type and one relation
}

// linkDims is the head of a LinkTask, and how many types links have; 0: none.
type linkDims struct {
	head  LinkHead
	types int
}

// tracer runs a model's functions once, on symbols.
type tracer struct {
	g         *dataflow.Graph
	d         dims
	train     bool
	params    map[string]*dataflow.Node
	list      []Param
	sites     int                       // number of dropouts so far: each draws its own numbers
	drops     map[string]int            // over several types and relations: the same by layer and place
	place     string                    // the type or relation whose function runs
	averages  map[*dataflow.Node]Tensor // in training, by averaged parameter: what it moves towards
	means     map[*dataflow.Node]Tensor // of Model.Average, by parameter: what the model reads in its place
	average   float32                   // Model.Average
	level     int                       // over sampled blocks: the level of the current rows
	gathering any                       // ApplyEdge of the current layer
	soft      bool                      // ApplyEdge of the current layer has called Edge.Softmax
	data      map[int]func() Tensor     // by relation: makes the edge data that the current layer sees; none: that of the graph

	behind [][]Tensor // by layer, the features first, and type: the rows behind every layer before the current one; nil: no rows
	typ    int        // the type of the current vertices
	rel    int        // the relation of the current edges

	lacks   bool // some type of vertices has no messages in the current layer
	running bool // one of the model's functions is running
}

// traced is a model as a program.
type traced struct {
	t              *tracer
	hidden, logits Tensor // hidden: the rows that enter the last layer, or the head
	rows           Tensor // hidden rows of vertices; of a GraphTask those that are read out
	features       Tensor
	target         target
	heads          []Tensor // parameters of the LinkHead
	ends           Tensor   // LinkTask: rows of the vertices at the ends of pairs
	far            Tensor   // LinkTask and EdgeTask between two types: rows of those of the second one; else nil
}

// LayerError says which layer is wrong. Err is a wrong shape, or what one of the layer's functions
// returned or panicked with.
type LayerError struct {
	Layer int // from 1
	Name  string
	Err   error
	Scope string // of the layer, if it has one: what its parameters are called by
}

// Error names the layer and what is wrong in it.
func (e *LayerError) Error() string {
	at := fmt.Sprint(e.Layer)
	if e.Scope != "" {
		at = strings.TrimPrefix(e.Scope, "layer") // "2" of "layer2"
	}
	return fmt.Sprintf("layer %s (%s): %v", at, e.Name, e.Err)
}

// Unwrap is what is wrong: a *dataflow.ShapeError, or what a function of the layer
// panicked with.
func (e *LayerError) Unwrap() error { return e.Err }

// whole traces m over one type of vertices. layer is set to the layer that it traces.
func (t *tracer) whole(m *Model, at *int) (*traced, error) {
	x := t.features()
	tr := &traced{t: t, features: x}
	for *at = range m.Layers {
		if err := m.Layers[*at].fits(); err != nil {
			return nil, layerError(m, *at, err)
		}
		tr.hidden, tr.rows = x, x
		t.behind = append(t.behind, []Tensor{x})
		x = t.layer(&m.Layers[*at], *at, x)
		if k := x.Shape().Set.Kind; k != dataflow.Vertex {
			return nil, layerError(m, *at, fmt.Errorf("ApplyVertex and After must return one row per vertex, not %v", x.Shape()))
		}
	}
	*at = len(m.Layers)
	if err := tr.head(m, x); err != nil {
		return nil, err
	}
	return tr, nil
}

// paramsOf declares the parameters of layer l.
func (t *tracer) paramsOf(l *Layer, index int) Params {
	scope := cmp.Or(l.Scope, fmt.Sprintf("layer%d", index+1))
	return Params{t: t, scope: scope, drawn: scope, shared: scope, layer: index}
}

func (t *tracer) layer(l *Layer, index int, x Tensor) Tensor {
	p := t.paramsOf(l, index)
	t.g.Origin(fmt.Sprintf("layer %d", index+1))
	defer t.g.Origin("")
	x = t.dropout(x, l.Dropout)
	y := t.rows(l, index, x, p)
	if l.UpdateEdge != nil { // only now: the layer itself has seen the data as it was
		t.updateEdge(l, index, x, x, p)
	}
	return y
}

// rows are the layer's new rows, computed from its rows x.
func (t *tracer) rows(l *Layer, index int, x Tensor, p Params) Tensor {
	self := t.below(l, x)
	v := Vertex{Self: self, InDegree: t.vertex(dataflow.InDegree, 1), OutDegree: t.vertex(dataflow.OutDegree, 1), t: t}
	if l.ApplyEdge != nil {
		g := t.messages(l, x, self, p)
		t.g.Origin(fmt.Sprintf("layer %d gather", index+1))
		v.Accum, v.in = g.gather(l.Gather, g.rows), []*messages{g}
	}
	return t.after(l, v, t.applyVertex(l, v, p), p)
}

// messages are what ApplyEdge and Score of l make of the current edges, whose sources have rows x and whose destinations rows self.
func (t *tracer) messages(l *Layer, x, self Tensor, p Params) *messages {
	t.gathering, t.soft = l.ApplyEdge, false
	g := &messages{edge: t.edges(x, self), params: p, unscored: l.Score != nil, rel: t.rel}
	t.g.Origin("")
	if l.Score != nil {
		g.score = t.user("Score", l.Score, func() Tensor { return l.Score(g.edge, p) })
	}
	g.rows = t.user("ApplyEdge", l.ApplyEdge, func() Tensor { return l.ApplyEdge(g.edge, p) })
	g.soft = t.soft
	return g
}

// applyVertex are the new rows of the vertices that l sees as v.
func (t *tracer) applyVertex(l *Layer, v Vertex, p Params) Tensor {
	if l.ApplyVertex == nil {
		return v.Accum
	}
	t.g.Origin("")
	y := t.user("ApplyVertex", l.ApplyVertex, func() Tensor { return l.ApplyVertex(v, p) })
	if len(v.in) > 0 && v.in[0].unscored {
		panic(&dataflow.ShapeError{Op: "Score", Pos: dataflow.FuncPos(l.Score), Err: errScore(l)})
	}
	return y
}

// after are the layer's rows of vertices v for which ApplyVertex gave x.
func (t *tracer) after(l *Layer, v Vertex, x Tensor, p Params) Tensor {
	if l.After == nil || x.IsAbsent() {
		return x
	}
	v.Accum, v.in = nil, nil
	t.g.Origin("")
	return t.user("After", l.After, func() Tensor { return l.After(v, x, p) })
}

func (t *tracer) features() Tensor {
	if t.d.embedding > 0 {
		return t.embed()
	}
	if t.d.featureGrad {
		return t.g.Variable(rows.Features, dataflow.Shape{Set: t.vertices(), Cols: t.d.features})
	}
	return t.vertex(rows.Features, t.d.features)
}
