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
// drop is the dropout of the coefficients α in training. A vertex gathers its own row only if the
// graph has its self loop (saga.Model.SelfLoops). Parameters: W [in×heads·width],
// a_src and a_dst [1×heads·width], where each head is a block of neighbouring columns. WithBias
// adds b, a row of the layer's result.
func GAT(in, width, heads int, mean bool, drop float32, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	all := heads * width
	vector := o.headVector(width, heads)
	return saga.Layer{
		Name: "gat",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			w := p.Weight("W", in, all)
			hu, hv := ops.MatMul(e.Src, w), ops.MatMul(e.Dst, w)
			s := ops.LeakyReLU(ops.Add(
				ops.GroupSum(ops.Mul(hu, p.Weight("a_src", 1, all, vector)), heads),
				ops.GroupSum(ops.Mul(hv, p.Weight("a_dst", 1, all, vector)), heads)), 0.2)
			return ops.RowScale(hu, e.Dropout(e.Softmax(s), drop))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return act.of(o.biased(joined(v.Accum, heads, mean), p, "b", nil))
		},
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
