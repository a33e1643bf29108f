package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// EdgeConv computes messages from the difference of the two ends (Wang et al., 2019), in columns to out:
//
//	m = relu([x_v, x_u - x_v]·W1 + b1)·W2 + b2    x' = act(max m)
//
// A vertex without in-edges gets zeros. Parameters: W1 [2·in×hidden], b1 [1×hidden], W2 [hidden×out], b2 [1×out].
func EdgeConv(in, hidden, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name: "edgeconv",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			h := ops.ReLU(o.linear(ops.Concat(e.Dst, ops.Sub(e.Src, e.Dst)), p, "1", hidden))
			return o.linear(h, p, "2", out)
		},
		Gather: saga.Max,
		After:  act.after(),
	}
}

var _ = pyg("edgeconv", row{"W1", "nn.0.weight|nn.lins.0.weight", transposed}, row{"b1", "nn.0.bias|nn.lins.0.bias", vector},
	row{"W2", "nn.2.weight|nn.lins.1.weight", transposed}, row{"b2", "nn.2.bias|nn.lins.1.bias", vector})
