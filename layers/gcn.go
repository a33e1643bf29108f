package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// EdgeScale returns a factor for every edge [E×1].
type EdgeScale func(e saga.Edge) saga.Tensor

// EdgeWeight is the weight of the edge in the graph. Compiling for a graph without
// weights is an error.
func EdgeWeight(e saga.Edge) saga.Tensor { return e.Weight }

// of multiplies messages x [E×c] by the factors of their edges.
func (f EdgeScale) of(e saga.Edge, x saga.Tensor) saga.Tensor {
	if f == nil {
		return x
	}
	return ops.RowScale(x, f(e))
}

// GCN is a graph convolution (Kipf and Welling, 2017), in columns to out:
//
//	a = Σ n_uv·x_u    x' = act(a·W + b)
//
// n is the result of scale: saga.Edge.SymNorm for 1/√(d_u·d_v) with in-degrees d, saga.Edge.WeightNorm for
// w_uv/√(d_u·d_v) with weights w and their sums d over in-edges, EdgeWeight for w_uv, or nil for 1. Parameters: W [in×out]. WithBias adds b [1×out].
func GCN(_, out int, scale EdgeScale, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name:      "gcn",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return scale.of(e, e.Src) },
		Gather:    saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return o.biased(ops.MatMul(v.Accum, p.Weight("W", v.Accum.Cols(), out)), p, "b", nil)
		},
		After: act.after(),
	}
}

var _ = pyg("gcn", row{"W", "lin.weight", transposed}, row{"b", "bias", vector})
