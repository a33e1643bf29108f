package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// FiLM scales and shifts messages by what their destination says (Brockschmidt, 2020), in columns to out:
//
//	[β, γ] = x·W_film + b_film    [β', γ'] = x·W_film_skip
//	x' = act(mean relu(γ_v·(x_u·W) + β_v) + relu(γ'·(x·W_skip) + β'))
//
// Parameters: W_film [in×2·out], b_film [1×2·out], W [in×out], W_film_skip [in×2·out], W_skip [in×out].
func FiLM(in, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	modulated := func(x, by saga.Tensor) saga.Tensor {
		return ops.ReLU(ops.Add(ops.Mul(ops.Slice(by, out, out), x), ops.Slice(by, 0, out)))
	}
	return saga.Layer{
		Name: "film",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return modulated(o.product(e.Src, p, "", out), o.linear(e.Dst, p, "_film", 2*out))
		},
		Gather: saga.Mean,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.Add(v.Accum, modulated(o.product(v.Self, p, "_skip", out), o.product(v.Self, p, "_film_skip", 2*out)))
		},
		After: act.after(),
	}
}

var _ = pyg("film", row{"W", "lins.0.weight", transposed}, row{"W_film", "films.0.weight", transposed}, row{"b_film", "films.0.bias", vector},
	row{"W_skip", "lin_skip.weight", transposed}, row{"W_film_skip", "film_skip.weight", transposed})
