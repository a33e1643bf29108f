package ops

import (
	"fmt"

	"sagann/dataflow"
)

// Standardize is (x - mean)·scale, column by column, for x of n rows. mean [1×c] and scale [1×c], the
// inverse standard deviation, must have been computed from x (see Moments). The gradient by x takes that
// into account (Ioffe and Szegedy, 2015):
//
//	dx = scale·(dy - Σdy/n - y·Σ(dy·y)/n)
//
// mean and scale themselves get no gradient.
func Standardize(x, mean, scale *Node, n int) *Node { return applyI(standardize, n, x, mean, scale) }

const standardize Op = "standardize"

var _ = define(standardize, Def{Class: dataflow.Elem,
	Shape: func(a attr, in []shape) (shape, error) {
		if a.I < 1 {
			return in[0], fmt.Errorf("%d rows", a.I)
		}
		for _, s := range in[1:] {
			if s.Set.Kind != dataflow.Global || s.Rows != 1 {
				return in[0], fmt.Errorf("mean and scale are matrices of one row, not %s", rows(s))
			}
		}
		return same(a, in)
	},
	VJP: func(n, dy *Node) []*Node {
		mean := func(x *Node) *Node { return Scale(SumRows(x), 1/float32(n.Attr().I)) }
		d := Sub(Sub(dy, mean(dy)), Mul(n, mean(Mul(dy, n))))
		return []*Node{Mul(d, n.In(2)), nil, nil}
	},
	CPU: func(a *Args) {
		for i, x := range a.In[0] {
			a.Out[i] = (x - a.In[1][i]) * a.In[2][i]
		}
	}, CUDA: "($0 - $1) * $2"})

// Moments returns mean and variance of the columns of x, which has n rows: both [1×c]. The variance
// is the mean of the squared distances from the mean. This takes a second pass over x, but loses
// no accuracy if the mean is large.
func Moments(x *Node, n int) (mean, variance *Node) {
	part := 1 / float32(n)
	mean = Scale(SumRows(x), part)
	return mean, Scale(SumRows(Square(Sub(x, mean))), part)
}
