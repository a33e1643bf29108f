package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// NNConv multiplies the source's row with a matrix that a perceptron makes of the edge's numbers (Gilmer et al., 2017), in
// columns to out:
//
//	h = relu(data·W1 + b1)    a_o = Σ_edges Σ_i x_u,i·(Σ_k h_k·T_i,o,k + B_i,o)    x' = act(a + x·W_root + b)
//
// x_u·T does not depend on the edge, so it is computed on vertices, and no edge has a matrix. In a graph without such numbers
// h is 0. Parameters: W1 [data×hidden], b1 [1×hidden], T [in×out·hidden], B and W_root [in×out], b [1×out].
func NNConv(_, hidden, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	return saga.Layer{
		Name: "nnconv",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			m := ops.MatMul(e.Src, p.Weight("B", e.Src.Cols(), out, o.fanIn(hidden)))
			if e.Data == nil {
				return m
			}
			h := ops.ReLU(o.linear(e.Data, p, "1", hidden))
			t := ops.MatMul(e.Src, p.Weight("T", e.Src.Cols(), out*hidden, o.fanIn(hidden)))
			return ops.Add(m, ops.GroupSum(ops.Mul(t, tiled(h, out)), out))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.Bias(ops.Add(v.Accum, o.product(v.Self, p, "_root", out)), p.Bias("b", out))
		},
		After: act.after(),
	}
}

var _ = pyg("nnconv", row{"W1", "nn.0.weight|nn.lins.0.weight", transposed}, row{"b1", "nn.0.bias|nn.lins.0.bias", vector},
	row{"T", "nn.2.weight|nn.lins.1.weight", lastOf("W1")}, row{"B", "nn.2.bias|nn.lins.1.bias", vector},
	row{"W_root", "lin.weight", transposed}, row{"b", "bias", vector})
