package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// GraphConv is the graph convolution with a weight of its own for the vertex (Morris et al., 2019), in columns to out:
//
//	a = Σ n_uv·x_u    x' = act(a·W_rel + b + x·W_root)
//
// n is the result of scale: nil for 1, EdgeWeight for the weight of the edge; see GCN for others. Parameters: W_rel and
// W_root [in×out], b [1×out].
func GraphConv(_, out int, scale EdgeScale, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name:      "graphconv",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return scale.of(e, e.Src) },
		Gather:    saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := ops.Add(o.product(v.Accum, p, "_rel", out), o.product(v.Self, p, "_root", out))
			return ops.Bias(x, p.Bias("b", out, o.fanIn(v.Accum.Cols())))
		},
		After: act.after(),
	}
}

var _ = pyg("graphconv", row{"W_rel", "lin_rel.weight", transposed}, row{"b", "lin_rel.bias", vector}, row{"W_root", "lin_root.weight", transposed})
