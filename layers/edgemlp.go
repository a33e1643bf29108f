package layers

import (
	"cmp"

	"sagann/ops"
	"sagann/saga"
)

// EdgeMLP computes messages with a perceptron of one hidden layer from the rows of both ends and
// the data of the edge, in columns to out:
//
//	m = relu([x_u, x_v, data]·W1 + b1)·W2    a = Σ m    x' = act(a·W3 + x·W4)
//
// data is the width of the edge data; 0 means the width in the graph, which may be
// 0. Parameters: W1 [2·in+data×hidden], b1 [1×hidden], W2 [hidden×hidden],
// W3 [hidden×out], W4 [in×out].
func EdgeMLP(_, data, hidden, out int, act Activation) saga.Layer {
	return saga.Layer{
		Name: "edge-mlp",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			x := ops.Concat(e.Src, e.Dst)
			width := x.Cols() + data
			if e.Data != nil {
				x, width = ops.Concat(x, e.Data), x.Cols()+cmp.Or(data, e.Data.Cols())
			}
			h := ops.ReLU(ops.Bias(ops.MatMul(x, p.Weight("W1", width, hidden)), p.Bias("b1", hidden)))
			return ops.MatMul(h, p.Weight("W2", hidden, hidden))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.Add(
				ops.MatMul(v.Accum, p.Weight("W3", hidden, out)),
				ops.MatMul(v.Self, p.Weight("W4", v.Self.Cols(), out)))
		},
		After: act.after(),
	}
}
