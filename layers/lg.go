package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// LG is LightGCN (He et al., 2020): steps layers without parameters, and the mean of their rows and those before them:
//
//	a_0 = x    a_k = Σ n_uv·a_k-1,u    x' = (a_0 + ... + a_steps)/(steps+1)
//
// n is the result of scale; see GCN. at is the number of layers before these in the model, whose rows are x.
func LG(at, steps int, scale EdgeScale) []saga.Layer {
	l := make([]saga.Layer, steps)
	for k := range l {
		l[k] = saga.Layer{Name: "lg", ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return scale.of(e, e.Src) }}
	}
	l[steps-1].ApplyVertex = func(v saga.Vertex, _ saga.Params) saga.Tensor {
		x := v.Accum
		for k := range steps {
			x = ops.Add(x, v.Rows(at+k))
		}
		return ops.Scale(x, 1/float32(steps+1))
	}
	return l
}
