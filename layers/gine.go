package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// GINE is GIN that reads the numbers of edges (Hu et al., 2020), in columns to out:
//
//	s = (1+eps)·x + Σ relu(x_u + data·W_e + b_e)    x' = act(relu(s·W1 + b1)·W2 + b2)
//
// In a graph without such numbers the message is relu(x_u). Parameters: W_e [data×in], b_e [1×in], and those of GIN.
func GINE(in, hidden, out int, act Activation, opts ...Option) saga.Layer {
	o := choose(opts)
	l := GIN(in, hidden, out, act, opts...)
	l.Name = "gine"
	l.ApplyEdge = func(e saga.Edge, p saga.Params) saga.Tensor {
		x := e.Src
		if d := o.data(e, true); d != nil {
			x = ops.Add(x, o.linear(d, p, "_e", in))
		}
		return ops.ReLU(x)
	}
	return l
}

var _ = pyg("gine", row{"eps", "eps", vector}, row{"W_e", "lin.weight", transposed}, row{"b_e", "lin.bias", vector},
	row{"W1", "nn.0.weight|nn.lins.0.weight", transposed}, row{"b1", "nn.0.bias|nn.lins.0.bias", vector},
	row{"W2", "nn.2.weight|nn.lins.1.weight", transposed}, row{"b2", "nn.2.bias|nn.lins.1.bias", vector})
