package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// ResGated is the residual gated graph convolution of Bresson and Laurent (2017), in the form of
// PyTorch Geometric's ResGatedGraphConv, in columns to out:
//
//	k = x·W_key + b_key    q = x·W_query + b_query    h = x·W_value + b_value
//	a = Σ sigmoid(k_v + q_u)·h_u    x' = act(a + x·W_skip + b)
//
// Parameters: W_key, W_query, W_value and W_skip [in×out], b_key, b_query, b_value
// and b [1×out].
func ResGated(_, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	affine := func(x saga.Tensor, name string, p saga.Params) saga.Tensor { return o.linear(x, p, "_"+name, out) }
	return saga.Layer{
		Name: "resgated",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			gate := ops.Sigmoid(ops.Add(affine(e.Dst, "key", p), affine(e.Src, "query", p)))
			return ops.Mul(gate, affine(e.Src, "value", p))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := ops.Add(v.Accum, o.product(v.Self, p, "_skip", out))
			return ops.Bias(x, p.Bias("b", out))
		},
		After: act.after(),
	}
}

var _ = pyg("resgated", row{"W_key", "lin_key.weight", transposed}, row{"b_key", "lin_key.bias", vector},
	row{"W_query", "lin_query.weight", transposed}, row{"b_query", "lin_query.bias", vector},
	row{"W_value", "lin_value.weight", transposed}, row{"b_value", "lin_value.bias", vector},
	row{"W_skip", "lin_skip.weight", transposed}, row{"b", "bias", vector})
