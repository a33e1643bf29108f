package ops

import (
	"sagann/dataflow"
	"sagann/internal/simd"
)

// Add returns x + y element-wise. The operands have one width and one row set; a
// Global of one row, such as a bias, is spread over the rows of the other.
func Add(x, y *Node) *Node { return apply(add, x, y) }

const add = dataflow.AddOp

var _ = define(add, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{fit(n.In(0), dy), fit(n.In(1), dy)} },
	CPU: map2(simd.Add), CUDA: "$0 + $1"})

// Bias returns x [·×c] with the row b [1×c] added to every row.
func Bias(x, b *Node) *Node { return Add(x, b) }

// Sub returns x - y element-wise; shapes as for Add.
func Sub(x, y *Node) *Node { return apply(sub, x, y) }

const sub = dataflow.SubOp

var _ = define(sub, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{fit(n.In(0), dy), Neg(fit(n.In(1), dy))} },
	CPU: map2(simd.Sub), CUDA: "$0 - $1"})

// Mul returns x · y element-wise; shapes as for Add.
func Mul(x, y *Node) *Node { return apply(mul, x, y) }

const mul = dataflow.MulOp

var _ = define(mul, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		x, y := n.In(0), n.In(1)
		return []*Node{fit(x, Mul(dy, y)), fit(y, Mul(dy, x))}
	},
	CPU: map2(simd.Mul), CUDA: "$0 * $1"})

// Div returns x / y element-wise; shapes as for Add.
func Div(x, y *Node) *Node { return apply(div, x, y) }

const div Op = "div"

var _ = define(div, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		x, y := n.In(0), n.In(1)
		dx := Div(dy, y)
		return []*Node{fit(x, dx), fit(y, Neg(Mul(dx, n)))}
	},
	CPU: map2(simd.Div), CUDA: "$0 / $1"})

// Maximum returns the larger of x and y element-wise; shapes as for Add. The
// gradient goes to x where both are equal.
func Maximum(x, y *Node) *Node { return apply(maximum, x, y) }

const maximum Op = "maximum"

var _ = define(maximum, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		x, y := n.In(0), n.In(1)
		dx := Mul(dy, Eq(n, x))
		return []*Node{fit(x, dx), fit(y, Sub(dy, dx))}
	},
	CPU: map2(simd.Max), CUDA: "fmaxf($0, $1)"})

// Eq returns 1 where x = y and 0 elsewhere; shapes as for Add. It has no gradient.
func Eq(x, y *Node) *Node { return apply(eq, x, y) }

const eq Op = "eq"

var _ = define(eq, Def{Class: dataflow.Elem, Shape: same,
	CPU: map2(simd.Eq), CUDA: "($0 == $1 ? 1.f : 0.f)"})

// Neg returns -x; same shape as x.
func Neg(x *Node) *Node { return apply(neg, x) }

const neg = dataflow.NegOp

var _ = define(neg, Def{Class: dataflow.Elem, Linear: true, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Neg(dy)} },
	CPU: map1(simd.Neg), CUDA: "-$0"})

// Scale returns x times the constant c; same shape as x. For a number that is
// learned or depends on the row see Mul and RowScale.
func Scale(x *Node, c float32) *Node { return applyF(scale, c, x) }

const scale = dataflow.ScaleOp

var _ = define(scale, Def{Class: dataflow.Elem, Linear: true, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Scale(dy, n.Attr().F)} },
	CPU: mapF(simd.Scale), CUDA: "$0 * $F"})

// Shift returns x plus the constant c; same shape as x.
func Shift(x *Node, c float32) *Node { return applyF(shift, c, x) }

const shift Op = "shift"

var _ = define(shift, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{dy} },
	CPU: mapF(simd.AddScalar), CUDA: "$0 + $F"})
