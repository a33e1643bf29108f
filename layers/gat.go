package layers

import (
	"math/rand/v2"

	"sagann/ops"
	"sagann/saga"
)

// GAT is graph attention (Veličković et al., 2018) with several heads, in columns to
// heads·width or, if mean is set, to width: the results of the heads are concatenated or
// averaged. For each head
//
//	h = x·W    s = leaky_relu(h_u·a_src + h_v·a_dst), slope 0.2
//	α = softmax of s over the in-edges of v    a = Σ α·h_u    x' = act(a + b)
//
// With WithEdges, data·W_edge·a_edge is added to what leaky_relu is applied to; data are the numbers of the edge. drop is the dropout of
// the coefficients α in training. A vertex gathers its own row only if the
// graph has its self loop (saga.Model.SelfLoops). Parameters: W [in×heads·width],
// a_src and a_dst [1×heads·width], where each head is a block of neighbouring columns. WithBias
// adds b, a row of the layer's result; W_dst takes the place of W for h_v where edges go between two types of vertices, WithEdges W_edge [data×heads·width] and a_edge [1×heads·width].
func GAT(_, width, heads int, mean bool, drop float32, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	all := heads * width
	start := o.headVector(width, heads)
	return saga.Layer{
		Name: "gat",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			hu, far := ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), all)), "W"
			if e.Relation.Src != e.Relation.Dst {
				far = "W_dst"
			}
			hv := ops.MatMul(e.Dst, p.Weight(far, e.Dst.Cols(), all))
			s := ops.Add(
				ops.GroupSum(ops.Mul(hu, p.Weight("a_src", 1, all, start)), heads),
				ops.GroupSum(ops.Mul(hv, p.Weight("a_dst", 1, all, start)), heads))
			if d := o.data(e, false); d != nil {
				g := ops.MatMul(d, p.Weight("W_edge", d.Cols(), all))
				s = ops.Add(s, ops.GroupSum(ops.Mul(g, p.Weight("a_edge", 1, all, start)), heads))
			}
			return ops.RowScale(hu, e.Dropout(e.Softmax(ops.LeakyReLU(s, 0.2)), drop))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return o.biased(joined(v.Accum, heads, mean), p, "b", nil)
		},
		After: act.after(),
	}
}

// headVector is Glorot's rule for the vectors of heads. Each vector counts as a matrix [width×1]; with
// PyGInit all of them together count as one matrix [heads×width].
func (c choice) headVector(width, heads int) saga.Init {
	other := 1
	if c.pyg {
		other = heads
	}
	return func(w []float32, _, _ int, r *rand.Rand) { saga.Glorot(w, width, other, r) }
}

// joined is x, whose columns are h blocks, or the mean of the blocks.
func joined(x saga.Tensor, h int, mean bool) saga.Tensor {
	if !mean {
		return x
	}
	w := x.Cols() / h
	sum := ops.Slice(x, 0, w)
	for k := 1; k < h; k++ {
		sum = ops.Add(sum, ops.Slice(x, k*w, w))
	}
	return ops.Scale(sum, 1/float32(h))
}

var _ = pyg("gat", row{"W", "lin.weight|lin_src.weight", transposed}, row{"W_dst", "lin_dst.weight", transposed}, row{"a_src", "att_src", perHead}, row{"a_dst", "att_dst", perHead},
	row{"W_edge", "lin_edge.weight", transposed}, row{"a_edge", "att_edge", perHead}, row{"b", "bias", vector})
