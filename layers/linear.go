package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// Linear is a layer without edges, in columns to out:
//
//	x' = act(x·W + b)
//
// Parameters: W [in×out], b [1×out].
func Linear(in, out int, act Activation, opts ...Option) saga.Layer {
	start := choose(opts).fanIn(in)
	return saga.Layer{
		Name: "linear",
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return act.of(ops.Bias(ops.MatMul(v.Self, p.Weight("W", in, out, start)), p.Bias("b", out, start)))
		},
	}
}

var _ = pyg("linear", row{"W", "weight", transposed}, row{"b", "bias", vector})
