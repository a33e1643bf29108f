package layers

import (
	"cmp"

	"sagann/ops"
	"sagann/saga"
)

// GGNN is one step of a gated graph network (Li et al., 2016), width columns to width:
//
//	a = Σ x_u·A[type]    x' = GRU(input a, hidden x)
//
// types is the number of edge types, each with its own weights; 0 means as many as
// the graph has, one if it has none. Parameters: A [types·width×width] and those of
// GRU. Steps of one Scope share them.
func GGNN(width, types int, opts ...Option) saga.Layer {
	return saga.Layer{
		Name: "gg-nn",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return e.MatMulByType(e.Src, p.TypedWeight("A", cmp.Or(types, e.Types), width, width, choose(opts).fanIn(width)))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return GRU(v.Accum, v.Self, width, p, opts...)
		},
	}
}

// GGNNLayer is a GGNN step with weights of its own, in columns to in. If out is
// not 0, a product with W_o [in×out] follows.
func GGNNLayer(in, out, types int) saga.Layer {
	l := GGNN(in, types)
	if out == 0 {
		return l
	}
	l.ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
		return ops.MatMul(GRU(v.Accum, v.Self, in, p), p.Weight("W_o", in, out))
	}
	return l
}

// GRU is a gated recurrent unit: the new state of hidden state h [V×width] on input
// a [V×width],
//
//	r, z = sigmoid(gates 1, 2)    n = tanh(a_n + r·h_n)    h' = (1-z)·n + z·h
//
// with the gates' three blocks of columns, r z n, in a·W_i + b_i and h·W_h + b_h.
// Parameters: W_i and W_h [width×3·width], b_i and b_h [1×3·width].
func GRU(a, h saga.Tensor, width int, p saga.Params, opts ...Option) saga.Tensor {
	start := choose(opts).fanIn(width)
	in := ops.Bias(ops.MatMul(a, p.Weight("W_i", width, 3*width, start)), p.Bias("b_i", 3*width, start))
	hid := ops.Bias(ops.MatMul(h, p.Weight("W_h", width, 3*width, start)), p.Bias("b_h", 3*width, start))
	gate := func(x saga.Tensor, k int) saga.Tensor { return ops.Slice(x, k*width, width) }
	r := ops.Sigmoid(ops.Add(gate(in, 0), gate(hid, 0)))
	z := ops.Sigmoid(ops.Add(gate(in, 1), gate(hid, 1)))
	n := ops.Tanh(ops.Add(gate(in, 2), ops.Mul(r, gate(hid, 2))))
	return ops.Add(n, ops.Mul(z, ops.Sub(h, n)))
}
