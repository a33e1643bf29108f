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
func Linear(_, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name: "linear",
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			start := o.fanIn(v.Self.Cols())
			return ops.Bias(ops.MatMul(v.Self, p.Weight("W", v.Self.Cols(), out, start)), p.Bias("b", out, start))
		},
		After: act.after(),
	}
}

var _ = pyg("linear", row{"W", "weight", transposed}, row{"b", "bias", vector})
