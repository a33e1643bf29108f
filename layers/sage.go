package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// SAGE is GraphSAGE with the mean aggregator (Hamilton et al., 2017), in columns to out:
//
//	a = mean x_u    x' = act(x·W_self + a·W_neigh + b)
//
// a is 0 where a vertex has no in-edge. Parameters: W_self and W_neigh [in×out],
// b [1×out].
func SAGE(_, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name:      "sage",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
		Gather:    saga.Mean,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			own, sum := v.Self.Cols(), v.Accum.Cols() // both are in, unless vertices of two types have other widths
			x := ops.Add(
				ops.MatMul(v.Self, p.Weight("W_self", own, out, o.fanIn(own))),
				ops.MatMul(v.Accum, p.Weight("W_neigh", sum, out, o.fanIn(sum))))
			return ops.Bias(x, p.Bias("b", out, o.fanIn(sum)))
		},
		After: act.after(),
	}
}

var _ = pyg("sage", row{"W_neigh", "lin_l.weight", transposed}, row{"b", "lin_l.bias", vector}, row{"W_self", "lin_r.weight", transposed})
