package layers

import (
	"fmt"

	"sagann/ops"
	"sagann/saga"
)

// TAG is the topology adaptive graph convolution (Du et al., 2017), in columns to out. It is steps layers, of which the
// last has parameters:
//
//	a_0 = x    a_k = Σ n_uv·a_k-1,u    x' = act(Σ_k a_k·W_k + b), k from 0 to steps
//
// n is the result of scale; see GCN. at is the number of layers before these in the model, whose rows are x. Parameters: W0 to
// W<steps> [in×out], b [1×out].
func TAG(at, in, out, steps int, scale EdgeScale, act Activation, opts ...Option) []saga.Layer {
	o := choose(opts)
	l := make([]saga.Layer, steps)
	for k := range l {
		l[k] = saga.Layer{Name: "tag", ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return scale.of(e, e.Src) }}
	}
	l[steps-1].ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
		y := o.product(v.Accum, p, fmt.Sprint(steps), out)
		for k := range steps {
			y = ops.Add(y, o.product(v.Rows(at+k), p, fmt.Sprint(k), out))
		}
		return ops.Bias(y, p.Bias("b", out))
	}
	l[steps-1].After = act.after()
	return l
}

var _ = pyg("tag", row{"W#", "lins.#.weight", transposed}, row{"b", "bias", vector})
