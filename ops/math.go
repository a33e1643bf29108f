package ops

import (
	"sagann/dataflow"
	"sagann/internal/simd"
	"sagann/kernel"
)

// Exp returns e**x element-wise; same shape as x. It overflows above 88.7.
func Exp(x *Node) *Node { return apply(exp, x) }

const exp Op = "exp"

var _ = define(exp, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mul(dy, n)} },
	CPU: map1(simd.Exp), CUDA: "expf($0)"})

// Log returns the natural logarithm element-wise; same shape as x. It is -Inf for
// 0 and NaN below.
func Log(x *Node) *Node { return apply(log, x) }

const log Op = "log"

var _ = define(log, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Div(dy, n.In(0))} },
	CPU: map1(simd.Log), CUDA: "logf($0)"})

// Inverse returns 1/x element-wise; same shape as x.
func Inverse(x *Node) *Node { return apply(inverse, x) }

const inverse = dataflow.InverseOp

var _ = define(inverse, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Neg(Mul(Mul(dy, n), n))} },
	CPU: func(a *Args) {
		for i, x := range a.In[0] {
			a.Out[i] = 1 / x
		}
	}, CUDA: "1.f / $0"})

// Sqrt returns the square root element-wise; same shape as x. It is NaN for
// negative x, and its gradient is not finite at 0.
func Sqrt(x *Node) *Node { return apply(sqrt, x) }

const sqrt Op = "sqrt"

var _ = define(sqrt, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Scale(Div(dy, n), 0.5)} },
	CPU: map1(simd.Sqrt), CUDA: "sqrtf($0)"})

// Square returns x² element-wise; same shape as x.
func Square(x *Node) *Node { return apply(square, x) }

const square Op = "square"

var _ = define(square, Def{Class: dataflow.Elem, Shape: same,
	VJP:  func(n, dy *Node) []*Node { return []*Node{Scale(Mul(dy, n.In(0)), 2)} },
	Role: kernel.Square, CPU: map1(simd.Square), CUDA: "$0 * $0"})

// Abs returns |x| element-wise; same shape as x. Its gradient at 0 is 0, even if the incoming gradient is
// not finite.
func Abs(x *Node) *Node { return apply(abs, x) }

const abs Op = "abs"

var _ = define(abs, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		x := n.In(0)
		return []*Node{Mask(Mul(dy, Sub(Step(x), Step(Neg(x)))), x)}
	},
	CPU: map1(simd.Abs), CUDA: "fabsf($0)"})
