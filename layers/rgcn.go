package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// RGCN is a relational graph convolution (Schlichtkrull et al., 2018), in columns to out:
//
//	x' = act(Σ_r mean_{u in N_r(v)} x_u·W_r + x·W_root + b)
//
// where N_r(v) are the in-neighbours of v by edges of type r. A type without edges at v adds nothing. Over a graph of several relations
// r is each relation and each type of its edges, W is of the relation, W_root and b of the type of v.
// Parameters: W [types·in×out], W_root [in×out], b [1×out].
func RGCN(_, out int, act Activation) saga.Layer {
	return saga.Layer{
		Name: "rgcn",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.RowScale(e.MatMulByType(e.Src, p.TypedWeight("W", e.Types, e.Src.Cols(), out)), e.TypeNorm())
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := ops.Add(v.Accum, ops.MatMul(v.Self, p.Weight("W_root", v.Self.Cols(), out)))
			return act.of(ops.Bias(x, p.Bias("b", out)))
		},
	}
}

var _ = pyg("rgcn", row{"W", "weight", stackOf("W_root")}, row{"W_root", "root", matrix}, row{"b", "bias", vector})
