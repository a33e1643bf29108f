package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// GIN is the graph isomorphism layer (Xu et al., 2019) with a learned eps and a
// perceptron of one hidden layer, in columns to out:
//
//	s = (1+eps)·x + Σ x_u    x' = act(relu(s·W1 + b1)·W2 + b2)
//
// Parameters: eps [1×1], 0 at first, W1 [in×hidden], b1 [1×hidden], W2 [hidden×out],
// b2 [1×out].
func GIN(_, hidden, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name:      "gin",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
		Gather:    saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			own := ops.RowScale(v.Self, ops.Shift(p.Bias("eps", 1), 1))
			s := ops.Add(own, v.Accum)
			return o.linear(ops.ReLU(o.linear(s, p, "1", hidden)), p, "2", out)
		},
		After: act.after(),
	}
}

var _ = pyg("gin", row{"eps", "eps", vector}, row{"W1", "nn.0.weight|nn.lins.0.weight", transposed}, row{"b1", "nn.0.bias|nn.lins.0.bias", vector},
	row{"W2", "nn.2.weight|nn.lins.1.weight", transposed}, row{"b2", "nn.2.bias|nn.lins.1.bias", vector})
