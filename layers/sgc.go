package layers

import (
	"sagann/saga"
)

// SGC is a simple graph convolution (Wu et al., 2019), in columns to out. It is steps layers, of
// which only the last has parameters.
//
//	a_0 = x    a_k = Σ n_uv·a_k-1,u    x' = a_steps·W + b
//
// n is saga.Edge.SymNorm, WithWeights saga.Edge.WeightNorm. In the paper the graph has self loops; saga.Model.SelfLoops adds them. All
// sums depend on the graph and the features only, so they are computed once, before the first epoch.
// Parameters: W [in×out], b [1×out].
func SGC(_, out, steps int, opts ...Option) []saga.Layer {
	return sgc(out, steps, choose(opts).scale(), opts...)
}

func sgc(out, steps int, scale EdgeScale, opts ...Option) []saga.Layer {
	o := choose(opts)
	l := make([]saga.Layer, steps)
	for k := range l {
		l[k] = saga.Layer{
			Name:      "sgc",
			ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return scale.of(e, e.Src) },
			Gather:    saga.Sum,
		}
	}
	l[steps-1].ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
		return o.linear(v.Accum, p, "", out)
	}
	return l
}

var _ = pyg("sgc", row{"W", "lin.weight", transposed}, row{"b", "lin.bias", vector})
