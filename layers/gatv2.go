package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// GATv2 is graph attention whose scores depend on both ends jointly (Brody et al., 2022), with
// several heads, in columns to heads·width or, if mean is set, to width, as in GAT. For
// each head
//
//	h = x·W_src + b_src    g = x·W_dst + b_dst    s = leaky_relu(h_u + g_v)·a, slope 0.2
//	α = softmax of s over the in-edges of v    a_v = Σ α·h_u    x' = act(a_v + b)
//
// With WithEdges, data·W_edge is added to h_u + g_v in s; data are the numbers of the edge. drop is the dropout of the coefficients α
// in training. A vertex gathers its own row only if the
// graph has its self loop (saga.Model.SelfLoops). Parameters: W_src and W_dst
// [in×heads·width], a [1×heads·width], where each head is a block of neighbouring columns. WithBias
// adds b_src and b_dst [1×heads·width] and b, a row of the layer's result, WithEdges W_edge [data×heads·width].
func GATv2(_, width, heads int, mean bool, drop float32, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	all := heads * width
	start := o.headVector(width, heads)
	return saga.Layer{
		Name: "gatv2",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			h := o.biased(ops.MatMul(e.Src, p.Weight("W_src", e.Src.Cols(), all)), p, "b_src", o.fanIn(e.Src.Cols()))
			g := o.biased(ops.MatMul(e.Dst, p.Weight("W_dst", e.Dst.Cols(), all)), p, "b_dst", o.fanIn(e.Dst.Cols()))
			both := ops.Add(h, g)
			if d := o.data(e, false); d != nil {
				both = ops.Add(both, ops.MatMul(d, p.Weight("W_edge", d.Cols(), all)))
			}
			s := ops.GroupSum(ops.Mul(ops.LeakyReLU(both, 0.2), p.Weight("a", 1, all, start)), heads)
			return ops.RowScale(h, e.Dropout(e.Softmax(s), drop))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return o.biased(joined(v.Accum, heads, mean), p, "b", nil)
		},
		After: act.after(),
	}
}

var _ = pyg("gatv2", row{"W_src", "lin_l.weight", transposed}, row{"b_src", "lin_l.bias", vector}, row{"W_dst", "lin_r.weight", transposed},
	row{"b_dst", "lin_r.bias", vector}, row{"a", "att", perHead}, row{"W_edge", "lin_edge.weight", transposed}, row{"b", "bias", vector})
