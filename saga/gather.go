package saga

import (
	"cmp"
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/ops"
	"sagann/saga/rows"
)

// messages is what ApplyEdge has made of the edges of a layer.
type messages struct {
	edge     Edge
	params   Params
	rows     Tensor // the messages [E×m]
	score    Tensor // nil: the layer has no Score
	soft     bool   // ApplyEdge has called Edge.Softmax
	unscored bool   // nothing has read Score
	rel      int    // the relation
}

// errScore says that nothing reads the field Score.
func errScore(l *Layer) error {
	return fmt.Errorf("the field Score is read by Gather: SoftmaxSum only, this is %s; Edge.Softmax gives its weights to ApplyEdge", cmp.Or(l.Gather.name, Sum.name))
}

// refused is the error of a call of op by one of the model's functions.
func refused(op dataflow.Op, format string, a ...any) error {
	return &dataflow.ShapeError{Op: op, Pos: dataflow.Caller(), Err: fmt.Errorf(format, a...)}
}

// gather is what acc makes of messages m of the edges.
func (g *messages) gather(acc Accumulator, m Tensor) Tensor {
	if acc.run == nil {
		acc = Sum
	}
	if acc.name == SoftmaxSum.name {
		if g.score == nil {
			panic(refused("Gather", "the field Score is missing: SoftmaxSum weights messages by it"))
		}
		g.unscored = false
	}
	return acc.run(g.edge.t, g.score, m)
}

// Gather is what acc makes of the messages of ApplyEdge: Accum is Gather(Layer.Gather). A layer may gather its
// messages in any number of ways. They share one pass over the edges, forward and backward.
func (v Vertex) Gather(acc Accumulator) Tensor {
	if v.in == nil {
		panic(refused("Gather", "After and a layer without ApplyEdge have no messages"))
	}
	return v.sum(acc, (*messages).own)
}

// Each is Gather for each relation into the vertices' type, in the order of the relations' names.
func (v Vertex) Each(acc Accumulator) []Tensor {
	if v.in == nil {
		panic(refused("Each", "After and a layer without ApplyEdge have no messages"))
	}
	return v.each(acc, (*messages).own)
}

// own are the messages of ApplyEdge.
func (g *messages) own() Tensor {
	g.edge.t.soft = g.soft
	return g.rows
}

// sum is what acc makes of messages of every relation, summed. It is absent where there is no relation.
func (v Vertex) sum(acc Accumulator, of func(*messages) Tensor) Tensor {
	defer func(t tracer) { v.t.place = t.place }(*v.t)
	if acc.across != nil && len(v.in) > 1 {
		return acc.across(v.t, v.in, of)
	}
	all := v.each(acc, of)
	if len(all) == 0 {
		return v.t.g.Absent()
	}
	sum := all[0]
	for _, x := range all[1:] {
		sum = ops.Add(sum, x)
	}
	return sum
}

func (v Vertex) each(acc Accumulator, of func(*messages) Tensor) (all []Tensor) {
	for _, g := range v.in {
		v.t.along(g.rel)
		all = append(all, g.gather(acc, of(g)))
	}
	return all
}

// GatherOf is what acc makes of other messages than those of ApplyEdge: message computes them [E×m] from what
// ApplyEdge sees.
func (v Vertex) GatherOf(acc Accumulator, message func(e Edge, p Params) Tensor) Tensor {
	if v.in == nil {
		panic(refused("GatherOf", "After and a layer without ApplyEdge read no edges"))
	}
	return v.sum(acc, func(g *messages) Tensor {
		v.t.soft = false
		m := message(g.edge, g.params)
		if m == nil || m.Shape().Set.Kind != dataflow.Edge {
			panic(&dataflow.ShapeError{Op: "GatherOf", Pos: dataflow.FuncPos(message), In: []dataflow.Shape{m.Shape()}, Err: errors.New("the message must have one row per edge")})
		}
		return m
	})
}

// leastVar is the variance below which Std is 0, as its gradient grows without bound there.
const leastVar = 1e-5

// Var is the variance of the messages of a vertex, mean(m²) - mean(m)², column by column, and Std its square root,
// 0 where the variance is at most 1e-5. A vertex without in-edges gets zeros. Both are computed in one pass with sums
// and maxima of the same messages, in float32: what is left of a variance far below the square of the mean is rounding.
var (
	Var = Accumulator{name: "var", run: func(t *tracer, _, m Tensor) Tensor { return variance(t, m) }}
	Std = Accumulator{name: "std", run: func(t *tracer, _, m Tensor) Tensor {
		x := ops.Shift(variance(t, m), -leastVar)
		return ops.Mul(ops.Step(x), ops.Sqrt(ops.Shift(ops.ReLU(x), leastVar)))
	}}
)

func variance(t *tracer, m Tensor) Tensor {
	n := t.vertex(rows.InvDegree, 1)
	return ops.ReLU(ops.Sub(ops.Mean(ops.Square(m), n), ops.Square(ops.Mean(m, n))))
}

// Rows are the vertices' rows behind layer k of the model, 0 being the features, up to the layer before this one.
// They cost memory only where a function reads them.
func (v Vertex) Rows(k int) Tensor { return v.t.rowsOf(k, v.t.vertices()) }

// SrcRows are the rows of the source of every edge behind layer k of the model [E×c], 0 being the features, up to
// the layer before this one.
func (e Edge) SrcRows(k int) Tensor { return e.t.edgeSet().ScatterSrc(e.t.rowsOf(k, e.ends[0])) }

// DstRows are the rows of the destination of every edge behind layer k of the model [E×c], as SrcRows.
func (e Edge) DstRows(k int) Tensor { return e.t.edgeSet().ScatterDst(e.t.rowsOf(k, e.ends[1])) }

// rowsOf are the rows behind layer k of the vertices of set.
func (t *tracer) rowsOf(k int, set dataflow.Set) Tensor {
	if k < 0 || k >= len(t.behind) {
		panic(refused("Rows", "%d: this layer can read the rows behind layers 0 (the features) to %d", k, len(t.behind)-1))
	}
	x := t.behind[k][set.Type]
	if x == nil {
		panic(refused("Rows", "vertices of type %s have no rows behind layer %d", t.d.kinds.types[set.Type].name, k))
	}
	for x.Shape().Set != set {
		x = dataflow.Prefix(x)
	}
	return x
}
