package saga

import (
	"errors"

	"sagann/dataflow"
	"sagann/ops"
	"sagann/saga/rows"
)

// Tensor is a value of a traced program: rows of vertices or of edges, or a matrix.
type Tensor = *dataflow.Node

// Layer is one SAGA-NN layer (paper, section 2).
type Layer struct {
	Name string
	// Scope is the prefix of the layer's parameters ("SCOPE.W"). Layers of the same scope share
	// parameters. Default: "layer" and the layer's number from 1.
	Scope string
	// Dropout is the probability with which entries of the layer's input are dropped in training.
	Dropout float32
	// ApplyEdge computes the messages of edges [E×m]. nil: the layer reads no edges. With several relations ApplyEdge and Score run
	// once for each, and ApplyVertex once for each type of vertices; names of parameters then have the relation or the type in them.
	ApplyEdge func(e Edge, p Params) Tensor
	// Score computes the attention scores [E×heads] of SoftmaxSum, in Gather or in Vertex.Gather.
	// If ApplyEdge and Score use a weight of the same name, it is the same weight.
	Score func(e Edge, p Params) Tensor
	// Gather combines the messages of a vertex's in-edges. Default: Sum. Only SoftmaxSum reads Score.
	// Vertex.Gather gathers the same messages in further ways.
	Gather Accumulator
	// ApplyVertex computes the new rows of vertices. nil: they are the accumulators.
	ApplyVertex func(v Vertex, p Params) Tensor
	// After makes the layer's rows of x, the rows that ApplyVertex gave: activation, norm, residual. It runs once for each type of
	// vertices, with parameters of the type; with PerRelation x is the sum over relations. v has no messages. nil: the rows are x.
	After func(v Vertex, x Tensor, p Params) Tensor
	// UpdateEdge computes the edge vectors [E×d] that the next layers and an EdgeHead see as
	// Edge.Data, from what ApplyEdge sees; of several relations for each on which these depend. They are never stored: every pass over the edges
	// that needs them computes them again. nil: the data stays as it is.
	UpdateEdge func(e Edge, p Params) Tensor
	// PerRelation runs ApplyVertex, too, once for each relation of a graph that has several, with parameters of the relation, and
	// sums the results of the relations into a type of vertices.
	PerRelation bool
}

// Relation says which edges of a graph of several relations functions see: their name, and the names of the vertex types at their ends.
// Of a graph of one type and one relation the names are "".
type Relation struct{ Name, Src, Dst string }

// fits refuses a layer with fields that nothing would read.
func (l *Layer) fits() error {
	soft := l.Gather.name == SoftmaxSum.name
	switch {
	case l.ApplyEdge == nil && l.ApplyVertex == nil && l.Gather.run == nil:
		return errors.New("neither ApplyEdge nor ApplyVertex: the layer computes nothing")
	case l.ApplyEdge == nil && (l.Score != nil || l.Gather.run != nil):
		return errors.New("a layer without ApplyEdge has no messages for Score and Gather")
	case l.Score != nil && !soft && l.ApplyVertex == nil:
		return errScore(l)
	case soft && l.Score == nil:
		return errors.New("the field Score is missing: SoftmaxSum weights messages by it")
	}
	return nil
}

// Edge is what ApplyEdge sees of all edges: tensors with one row per edge. Fields that the graph
// does not have are nil.
type Edge struct {
	Src, Dst Tensor // the layer's input rows of the edge's source and destination [E×c]; Dst gathers
	Data     Tensor // edge vectors [E×d]
	Weight   Tensor // edge weights [E×1]
	Type     Tensor // edge types [E×1], as numbers; use MatMulByType
	Types    int    // number of edge types, at least 1
	Relation Relation
	t        *tracer
	ends     [2]dataflow.Set // the vertices that Src and Dst have rows of
}

// Vertex is what ApplyVertex sees of all vertices: tensors with one row per vertex. Over several relations degrees are sums over those that the
// results of the model depend on, and absent for a type into or out of which none of them leads; in Layer.PerRelation they are of the relation.
type Vertex struct {
	Self      Tensor // the layer's input rows [V×c]
	Accum     Tensor // what Gather made of the messages [V×m], summed over relations; nil without ApplyEdge
	InDegree  Tensor // [V×1], with the model's self loops; in sampled training it counts the edges drawn
	OutDegree Tensor // [V×1], with the model's self loops; always of the whole graph
	Type      string // name of the vertices' type; "": there is one type
	t         *tracer
	in        []*messages // by relation: of ApplyEdge; nil without it
}

// Accumulator combines messages at the destination of their edges.
type Accumulator struct {
	name   string
	run    func(t *tracer, score, m Tensor) Tensor
	across func(t *tracer, in []*messages, of func(*messages) Tensor) Tensor // over several relations; nil: each relation's result, summed
}

// Across is SoftmaxSum with one softmax over the in-edges of all relations of a vertex, in place of one for each relation. No other
// accumulator has it.
func (a Accumulator) Across() Accumulator {
	if a.name != SoftmaxSum.name {
		panic(refused("Across", "of %s: only SoftmaxSum compares the messages of several relations", a.name))
	}
	a.across = softmaxAcross
	return a
}

// The accumulators. A vertex without in-edges gets zeros.
var (
	Sum  = Accumulator{name: "sum", run: func(t *tracer, _, m Tensor) Tensor { return ops.Sum(t.scaled(m)) }}
	Mean = Accumulator{name: "mean", run: func(t *tracer, _, m Tensor) Tensor { return ops.Mean(m, t.vertex(rows.InvDegree, 1)) }}
	Max  = Accumulator{name: "max", run: func(_ *tracer, _, m Tensor) Tensor { return ops.Max(m) }}
	Min  = Accumulator{name: "min", run: func(_ *tracer, _, m Tensor) Tensor { return ops.Min(m) }}
	// SoftmaxSum weights messages by the softmax of Layer.Score over the in-edges.
	SoftmaxSum = Accumulator{name: "softmax-sum", run: func(_ *tracer, score, m Tensor) Tensor { return ops.SoftmaxSum(score, m) }}
)

// Concat puts the messages [E×c] of the first k in-edges, in stored order, side by side: [V×k·c],
// with zeros if there are fewer. Sampled training refuses it.
func Concat(k int) Accumulator {
	return Accumulator{name: "concat", run: func(t *tracer, _, m Tensor) Tensor {
		t.wholeRows("Concat", t.gathering)
		return ops.ConcatFirst(m, k)
	}}
}

// SymNorm is 1/√(d_u·d_v) for every edge from u to v [E×1], where d is the in-degree: the symmetric
// normalisation of GCN. It is never stored per edge: the compiler turns it into one scalar per
// vertex. If the sampler gives edges weights, SymNorm is these weights.
func (e Edge) SymNorm() Tensor {
	if e.t.d.weighed {
		return e.t.edge(dataflow.WeightInput, 1)
	}
	src, dst := e.t.ends(rows.RsqrtDegree)
	set := e.t.edgeSet()
	return ops.Mul(set.ScatterSrc(src), set.ScatterDst(dst))
}

// WeightNorm is w/√(d_u·d_v) for every edge from u to v [E×1], where w is the edge's weight and d the sum of the
// weights of a vertex's in-edges: the symmetric normalisation of GCN for a graph with weights. A self loop that
// Model.SelfLoops adds has weight 1. Where d is 0 the result is 0; a sum below 0 is an error when training or prediction
// begins. Compiling for a graph without weights is an error, and so is a sampler that gives edges weights.
func (e Edge) WeightNorm() Tensor {
	switch {
	case e.t.d.weighed:
		Refuse("the sampler gives edges weights that stand for normalised weights of 1; Edge.SymNorm reads them, and Edge.WeightNorm needs those of the graph")
	case !e.t.d.weight:
		Refuse("the edges have no weights, which Edge.WeightNorm needs; Edge.SymNorm does without")
	}
	src, dst := e.t.ends(rows.RsqrtWeight)
	set := e.t.edgeSet()
	return ops.Mul(ops.Mul(set.ScatterSrc(src), set.ScatterDst(dst)), e.t.edge(dataflow.WeightInput, 1))
}

// Softmax is the softmax of score [E×h] over the in-edges of every vertex [E×h]: the weights that
// SoftmaxSum gives messages.
func (e Edge) Softmax(score Tensor) Tensor {
	e.t.soft = true
	edge, vertex := ops.EdgeSoftmax(score)
	return ops.Mul(edge, score.Shape().Set.ScatterDst(vertex))
}

// Dropout drops entries of edge tensor x with probability p in training.
func (e Edge) Dropout(x Tensor, p float32) Tensor {
	if !e.t.train || p == 0 {
		return x
	}
	if edge, dst := ops.Shares(x); edge != nil { // the factor of the destination leaves sums over edges only if it stays outside
		return ops.Mul(e.Dropout(edge, p), dst)
	}
	return ops.Dropout(x, p, e.t.site(), e.t.edgeSet().ScatterDst(e.t.vertex(dataflow.IDInput, 1)), e.t.edge(dataflow.RankInput, 1), e.t.step())
}

// MatMulByType is x_e·A[type(e)] for every edge e [E×out], where x is [E×in] and a is a typed weight
// [types·in × out].
func (e Edge) MatMulByType(x, a Tensor) Tensor {
	if e.Types <= 1 {
		return ops.MatMul(x, a)
	}
	return ops.MatMulByType(x, a, e.Type, e.Types)
}

// OfType is the number of row a [1×types] at the type of every edge [E×1].
func (e Edge) OfType(a Tensor) Tensor {
	if e.Types <= 1 {
		return ops.Spread(a, e.t.edgeSet().ScatterDst(e.t.vertex(dataflow.InDegree, 1)))
	}
	return ops.Pick("type", ops.Spread(a, e.Type), e.Type, e.Types)
}

// TypeNorm is 1/c for every edge [E×1], where c counts the in-edges of the edge's destination that have its
// type: the messages of each type are averaged if it multiplies them. It is never stored per edge. In
// sampled training it counts the edges drawn.
func (e Edge) TypeNorm() Tensor {
	if e.Types <= 1 {
		return e.t.edgeSet().ScatterDst(e.t.vertex(rows.InvDegree, 1))
	}
	one := e.t.g.Const(1)
	count := ops.Sum(ops.Place("type", ops.Spread(one, e.Type), e.Type, e.Types))
	ones := ops.Spread(ops.Widen(one, e.Types), count)
	return ops.Pick("type", e.t.edgeSet().ScatterDst(ops.Div(ones, ops.Maximum(count, ones))), e.Type, e.Types)
}

// Dropout drops entries of vertex tensor x with probability p in training.
func (v Vertex) Dropout(x Tensor, p float32) Tensor { return v.t.dropout(x, p) }
