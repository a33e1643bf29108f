package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// GEN aggregates with a softmax in every column (Li et al., 2020), in columns to out:
//
//	m = relu(x_u·W_src + data·W_edge) + 1e-7    a = Σ softmax(m)·m, the softmax being over the in-edges, column by column
//	x' = act(relu(norm((a + x·W_dst)·W1))·W2)
//
// norm is saga.Vertex.BatchNorm. x takes the place of x·W_src and x·W_dst if in is out, and data that of data·W_edge if edges have
// out numbers; without numbers it is left out. Parameters: W_src, W_dst [in×out], W_edge [data×out], W1 [out×2·out], W2 [2·out×out], and those of norm
// in the scope mlp.
func GEN(in, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	wide := func(x saga.Tensor, p saga.Params, name string) saga.Tensor {
		if x.Cols() == out {
			return x
		}
		return o.product(x, p, name, out)
	}
	return saga.Layer{
		Name: "gen",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			m := wide(e.Src, p, "_src")
			if d := o.data(e, true); d != nil {
				m = ops.Add(m, wide(d, p, "_edge"))
			}
			m = ops.Shift(ops.ReLU(m), 1e-7)
			return ops.Mul(m, e.Softmax(m))
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := o.product(ops.Add(v.Accum, wide(v.Self, p, "_dst")), p, "1", 2*out)
			return o.product(ops.ReLU(v.BatchNorm(x, p.In("mlp"))), p, "2", out)
		},
		After: act.after(),
	}
}

var _ = pyg("gen", row{"W_src", "lin_src.weight", transposed}, row{"W_dst", "lin_dst.weight", transposed}, row{"W_edge", "lin_edge.weight", transposed},
	row{"W1", "mlp.0.weight", transposed}, row{"W2", "mlp.4.weight", transposed},
	row{"mlp.norm.g", "mlp.1.weight", vector}, row{"mlp.norm.b", "mlp.1.bias", vector},
	row{"mlp.norm.mean", "mlp.1.running_mean", vector}, row{"mlp.norm.var", "mlp.1.running_var", vector})
