package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// GGCN is the gated graph convolution of the paper (its Figure 2), in columns to out:
//
//	η = sigmoid(x_u·W_H + x_v·W_C)    a = Σ η·x_u    x' = act(a·W)
//
// Parameters: W_H and W_C [in×in], W [in×out]. ResGated is the variant whose gate
// has out columns.
func GGCN(_, out int, act Activation) saga.Layer {
	return saga.Layer{
		Name: "g-gcn",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			eta := ops.Sigmoid(ops.Add(
				ops.MatMul(e.Src, p.Weight("W_H", e.Src.Cols(), e.Src.Cols())),
				ops.MatMul(e.Dst, p.Weight("W_C", e.Dst.Cols(), e.Src.Cols()))))
			return ops.Mul(eta, e.Src)
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.MatMul(v.Accum, p.Weight("W", v.Accum.Cols(), out))
		},
		After: act.after(),
	}
}
