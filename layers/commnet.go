package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// CommNet is the communication network of Sukhbaatar et al. (2016), in columns to out:
//
//	a = Σ x_u    x' = act(x·W_H + a·W_C)
//
// Parameters: W_H and W_C [in×out].
func CommNet(_, out int, act Activation) saga.Layer {
	return saga.Layer{
		Name:      "commnet",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
		Gather:    saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.Add(
				ops.MatMul(v.Self, p.Weight("W_H", v.Self.Cols(), out)),
				ops.MatMul(v.Accum, p.Weight("W_C", v.Accum.Cols(), out)))
		},
		After: act.after(),
	}
}
