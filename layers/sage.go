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
func SAGE(in, out int, act Activation, opts ...Option) saga.Layer {
	start := choose(opts).fanIn(in)
	return saga.Layer{
		Name:      "sage",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
		Gather:    saga.Mean,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := ops.Add(
				ops.MatMul(v.Self, p.Weight("W_self", in, out, start)),
				ops.MatMul(v.Accum, p.Weight("W_neigh", in, out, start)))
			return act.of(ops.Bias(x, p.Bias("b", out, start)))
		},
	}
}

var _ = pyg("sage", row{"W_neigh", "lin_l.weight", transposed}, row{"b", "lin_l.bias", vector}, row{"W_self", "lin_r.weight", transposed})
