package layers

import (
	"math"

	"sagann/ops"
	"sagann/saga"
)

// Transformer is attention by products of keys and queries (Shi et al., 2021), with several heads, in columns to
// heads·width or, if mean is set, to width, as in GAT. For each head
//
//	k = x·W_key + b_key    q = x·W_query + b_query    h = x·W_value + b_value    g = data·W_edge
//	α = softmax of q_v·(k_u + g)/√width over the in-edges of v    a = Σ α·(h_u + g)    x' = act(a + x·W_skip + b_skip)
//
// g is 0 in a graph whose edges have no numbers. drop is the dropout of α in training. Parameters: W_key, W_query and
// W_value [in×heads·width], W_edge [data×heads·width], W_skip [in×columns of the result], and a row b for each but W_edge.
func Transformer(in, width, heads int, mean bool, drop float32, act Activation, opts ...Option) saga.Layer {
	o, all := choose(opts), heads*width
	return saga.Layer{
		Name: "transformer",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			k, h := o.linear(e.Src, p, "_key", all), o.linear(e.Src, p, "_value", all)
			if d := o.data(e, true); d != nil {
				g := o.product(d, p, "_edge", all)
				k, h = ops.Add(k, g), ops.Add(h, g)
			}
			s := ops.GroupSum(ops.Mul(o.linear(e.Dst, p, "_query", all), k), heads)
			return ops.RowScale(h, e.Dropout(e.Softmax(ops.Scale(s, float32(1/math.Sqrt(float64(width))))), drop))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := joined(v.Accum, heads, mean)
			return ops.Add(x, o.linear(v.Self, p, "_skip", x.Cols()))
		},
		After: act.after(),
	}
}

var _ = pyg("transformer", row{"W_key", "lin_key.weight", transposed}, row{"b_key", "lin_key.bias", vector},
	row{"W_query", "lin_query.weight", transposed}, row{"b_query", "lin_query.bias", vector},
	row{"W_value", "lin_value.weight", transposed}, row{"b_value", "lin_value.bias", vector}, row{"W_edge", "lin_edge.weight", transposed},
	row{"W_skip", "lin_skip.weight", transposed}, row{"b_skip", "lin_skip.bias", vector})
