package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// propagation is the name of the layers of APPNP.
const propagation = "appnp"

// APPNP propagates predictions h by personalised PageRank (Gasteiger et al., 2019). It returns steps
// layers without parameters, which follow the layers that compute h [V×width]:
//
//	z_0 = h    z_k+1 = (1-α)·Σ n_uv·z_k,u + α·h
//
// n is saga.Edge.SymNorm, WithWeights saga.Edge.WeightNorm. In the paper the graph has self loops; saga.Model.SelfLoops adds them. Between two
// steps the rows are [z, h], of 2·width columns; edges gather z only.
func APPNP(width, steps int, alpha float32, opts ...Option) []saga.Layer {
	return appnpSteps(width, steps, alpha, choose(opts).scale())
}

func appnpSteps(width, steps int, alpha float32, scale EdgeScale) []saga.Layer {
	var l []saga.Layer
	for k := range steps {
		first, last := k == 0, k == steps-1
		l = append(l, saga.Layer{
			Name:   propagation,
			Gather: saga.Sum,
			ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor {
				return scale.of(e, ops.Slice(e.Src, 0, width))
			},
			ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor {
				h := v.Self
				if !first {
					h = ops.Slice(v.Self, width, width)
				}
				z := ops.Add(ops.Scale(v.Accum, 1-alpha), ops.Scale(h, alpha))
				if last {
					return z
				}
				return ops.Concat(z, h)
			},
		})
	}
	return l
}
