package saga

import (
	"cmp"
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/ops"
)

// Tensor is a value of a traced program: rows of vertices or of edges, or a matrix.
type Tensor = *dataflow.Node

// Layer is one SAGA-NN layer (paper, section 2).
type Layer struct {
	Name string
	// Scope names the layer's parameters ("SCOPE.W"); layers of one scope share them.
	// Default: "layer" and the layer's number from 1.
	Scope string
	// Dropout drops entries of the layer's input with this probability in training.
	Dropout float32
	// ApplyEdge computes the message of an edge. Nil: the layer has no edges.
	ApplyEdge func(e Edge, p Params) Tensor
	// Score computes the attention scores [E×heads] of a SoftmaxSum.
	// A weight that ApplyEdge and Score name alike is one.
	Score func(e Edge, p Params) Tensor
	// Gather combines the messages of a vertex's in-edges. Default: Sum.
	// Only SoftmaxSum reads Score.
	Gather Accumulator
	// ApplyVertex computes the vertex's new row. Nil: the accumulator is the row.
	ApplyVertex func(v Vertex, p Params) Tensor
	// UpdateEdge computes the edge's vector [E×d] that the next layers (and an edge head)
	// see as Edge.Data, from what ApplyEdge sees. It is never stored: passes over the
	// edges that need it compute it again. Nil: the data stays as it is.
	UpdateEdge func(e Edge, p Params) Tensor
}

// fits refuses a layer with fields that nothing would read.
func (l *Layer) fits() error {
	soft := l.Gather.name == SoftmaxSum.name
	switch {
	case l.ApplyEdge == nil && l.ApplyVertex == nil && l.Gather.run == nil:
		return errors.New("neither ApplyEdge nor ApplyVertex: the layer computes nothing")
	case l.ApplyEdge == nil && (l.Score != nil || l.Gather.run != nil):
		return errors.New("a layer without ApplyEdge has no messages for Score and Gather")
	case l.Score != nil && !soft:
		return fmt.Errorf("the field Score is read by Gather: SoftmaxSum only, this is %s; Edge.Softmax gives its weights to ApplyEdge", cmp.Or(l.Gather.name, Sum.name))
	case soft && l.Score == nil:
		return errors.New("the field Score is missing: SoftmaxSum weights messages by it")
	}
	return nil
}

// Edge is what ApplyEdge sees: rows of E. Fields that the graph does not have are nil.
type Edge struct {
	Src, Dst Tensor // the rows of the two ends [E×c]; Dst gathers
	Data     Tensor // the edge's vector [E×d]
	Weight   Tensor // the edge's scalar [E×1]
	Type     Tensor // the edge's type [E×1], a number; use MatMulByType
	Types    int    // number of edge types, at least 1
	t        *tracer
}

// Vertex is what ApplyVertex sees: rows of V.
type Vertex struct {
	Self      Tensor // the vertex's row before the layer [V×c]
	Accum     Tensor // what was gathered [V×m]; nil without ApplyEdge
	InDegree  Tensor // [V×1], self loops of the model included; in sampled training the edges drawn
	OutDegree Tensor // [V×1], always of the whole graph
	t         *tracer
}

// Accumulator combines messages at the destination of their edges.
type Accumulator struct {
	name string
	run  func(t *tracer, score, m Tensor) Tensor
}

// The accumulators. A vertex without in-edges gets zeros.
var (
	Sum  = Accumulator{"sum", func(t *tracer, _, m Tensor) Tensor { return ops.Sum(t.scaled(m)) }}
	Mean = Accumulator{"mean", func(t *tracer, _, m Tensor) Tensor { return ops.Mean(m, t.vertex(invDegree, 1)) }}
	Max  = Accumulator{"max", func(_ *tracer, _, m Tensor) Tensor { return ops.Max(m) }}
	Min  = Accumulator{"min", func(_ *tracer, _, m Tensor) Tensor { return ops.Min(m) }}
	// SoftmaxSum weights messages by the softmax of Layer.Score over the in-edges.
	SoftmaxSum = Accumulator{"softmax-sum", func(_ *tracer, score, m Tensor) Tensor { return ops.SoftmaxSum(score, m) }}
)

// Concat lays the messages of the first k in-edges, in stored order, side by side:
// [V×k·c], zeros where there are fewer. Sampled training refuses it.
func Concat(k int) Accumulator {
	return Accumulator{"concat", func(t *tracer, _, m Tensor) Tensor {
		t.wholeRows("Concat", t.gathering)
		return ops.ConcatFirst(m, k)
	}}
}

// SymNorm is 1/√(d_u·d_v) of every edge [E×1], d being in-degrees: the symmetric
// normalisation of GCN. It never lies in memory a number an edge: the compiler turns
// it into one scalar a vertex at each end.
func (e Edge) SymNorm() Tensor {
	if e.t.d.weighed {
		return e.t.edge(dataflow.WeightInput, 1)
	}
	src, dst := e.t.ends(rsqrtDegree)
	return ops.Mul(dataflow.ScatterSrc(src), dataflow.ScatterDst(dst))
}

// Softmax is the softmax of score [E×h] over the in-edges of every vertex: what
// SoftmaxSum weights messages by.
func (e Edge) Softmax(score Tensor) Tensor {
	e.t.soft = true
	return ops.Exp(ops.Sub(score, dataflow.ScatterDst(ops.LSE(score))))
}

// Dropout drops entries of edge tensor x with probability p in training.
func (e Edge) Dropout(x Tensor, p float32) Tensor {
	if !e.t.train || p == 0 {
		return x
	}
	return ops.Dropout(x, p, e.t.site(), dataflow.ScatterDst(e.t.vertex(dataflow.IDInput, 1)), e.t.edge(dataflow.RankInput, 1), e.t.step())
}

// MatMulByType is x_e · A[type(e)] for x [E×in] and a typed weight A.
func (e Edge) MatMulByType(x, a Tensor) Tensor {
	if e.Types <= 1 {
		return ops.MatMul(x, a)
	}
	return ops.MatMulByType(x, a, e.Type, e.Types)
}

// Dropout drops entries of vertex tensor x with probability p in training.
func (v Vertex) Dropout(x Tensor, p float32) Tensor { return v.t.dropout(x, p) }
