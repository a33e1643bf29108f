package layers

import (
	"fmt"

	"sagann/ops"
	"sagann/saga"
)

// Cheb is the Chebyshev convolution (Defferrard et al., 2016) of terms polynomials, in columns to out. It is terms-1 layers, at
// least one, of which the last has parameters:
//
//	t_0 = x    t_1 = -Σ n_uv·x_u    t_k = -2·Σ n_uv·t_k-1,u - t_k-2    x' = act(Σ_k t_k·W_k + b), k from 0 to terms-1
//
// n is the result of scale: saga.Edge.SymNorm takes 2 for the largest eigenvalue, as PyTorch Geometric does for undirected graphs
// without self loops. at is the number of layers before these in the model, whose rows are x. Parameters: W0, W1 and so on
// [in×out], b [1×out].
func Cheb(at, in, out, terms int, scale EdgeScale, act Activation, opts ...Option) []saga.Layer {
	l := make([]saga.Layer, max(1, terms-1))
	for k := range l {
		l[k].Name = "cheb"
		if terms > 1 {
			l[k].ApplyEdge = func(e saga.Edge, _ saga.Params) saga.Tensor { return scale.of(e, e.Src) }
		}
		l[k].ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
			t := v.Self
			switch {
			case k > 0:
				t = ops.Sub(ops.Scale(v.Accum, -2), v.Rows(at+k-1))
			case terms > 1:
				t = ops.Neg(v.Accum)
			}
			if k < len(l)-1 {
				return t
			}
			return chebSum(v, p, at, terms, out, t)
		}
	}
	l[len(l)-1].After = act.after()
	return l
}

// chebSum is Σ t_k·W_k + b, the last t_k being last.
func chebSum(v saga.Vertex, p saga.Params, at, terms, out int, last saga.Tensor) saga.Tensor {
	y := ops.MatMul(last, p.Weight(fmt.Sprint("W", terms-1), last.Cols(), out))
	for k := range terms - 1 {
		y = ops.Add(y, ops.MatMul(v.Rows(at+k), p.Weight(fmt.Sprint("W", k), last.Cols(), out)))
	}
	return ops.Bias(y, p.Bias("b", out))
}

var _ = pyg("cheb", row{"W#", "lins.#.weight", transposed}, row{"b", "bias", vector})
