package layers

import (
	"math"

	"sagann/ops"
	"sagann/saga"
)

// GCN2 is the graph convolution with the first layer's rows and an identity mapping (Chen et al., 2020), of width columns:
//
//	h = (1-α)·Σ n_uv·x_u + α·x⁰    β = log(θ/number + 1)    x' = act((1-β)·h + β·h·W)
//
// x⁰ are the rows behind layer first of the model, n is the result of scale (see GCN), alpha is α and theta θ. number counts
// these layers from 1. Parameters: W [width×width].
func GCN2(width, first, number int, alpha, theta float32, scale EdgeScale, act Activation) saga.Layer {
	beta := float32(math.Log(float64(theta)/float64(number) + 1))
	return saga.Layer{
		Name:      "gcn2",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return scale.of(e, e.Src) },
		Gather:    saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			h := ops.Add(ops.Scale(v.Accum, 1-alpha), ops.Scale(v.Rows(first), alpha))
			return ops.Add(ops.Scale(h, 1-beta), ops.Scale(ops.MatMul(h, p.Weight("W", width, width)), beta))
		},
		After: act.after(),
	}
}

var _ = pyg("gcn2", row{"W", "weight1", matrix})
