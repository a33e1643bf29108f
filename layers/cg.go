package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// CG is the crystal graph convolution (Xie and Grossman, 2018), of width columns:
//
//	z = [x_v, x_u, data]    x' = act(x + Σ sigmoid(z·W_f + b_f)·softplus(z·W_s + b_s))
//
// data is left out where edges have no numbers. Parameters: W_f and W_s [2·width+data×width], b_f and b_s [1×width].
func CG(width int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name: "cg",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			z := ops.Concat(e.Dst, e.Src)
			if d := o.data(e, true); d != nil {
				z = ops.Concat(z, d)
			}
			return ops.Mul(ops.Sigmoid(o.linear(z, p, "_f", width)), ops.Softplus(o.linear(z, p, "_s", width)))
		},
		Gather:      saga.Sum,
		ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return ops.Add(v.Self, v.Accum) },
		After:       act.after(),
	}
}

var _ = pyg("cg", row{"W_f", "lin_f.weight", transposed}, row{"b_f", "lin_f.bias", vector}, row{"W_s", "lin_s.weight", transposed}, row{"b_s", "lin_s.bias", vector})
