package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// MPGCN is max-pooling GCN, GraphSAGE's pooling aggregator (Hamilton et al., 2017),
// in columns to out:
//
//	a = max relu(x_u·W_pool + b)    x' = act([x, a]·W)
//
// a is 0 where a vertex has no in-edge. Parameters: W_pool [in×in], b [1×in],
// W [2·in×out].
func MPGCN(_, out int, act Activation) saga.Layer {
	return saga.Layer{
		Name: "mp-gcn",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			in := e.Src.Cols()
			return ops.ReLU(ops.Bias(ops.MatMul(e.Src, p.Weight("W_pool", in, in)), p.Bias("b", in)))
		},
		Gather: saga.Max,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := ops.Concat(v.Self, v.Accum)
			return ops.MatMul(x, p.Weight("W", x.Cols(), out))
		},
		After: act.after(),
	}
}
