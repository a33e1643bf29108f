package ops

import (
	"sagann/dataflow"
	"sagann/internal/simd"
	"sagann/kernel"
)

// Add returns x + y element-wise. The operands have the same width and the same row set. A
// Global of one row, such as a bias, is broadcast over the rows of the other operand.
func Add(x, y *Node) *Node { return apply(add, x, y) }

const add = dataflow.AddOp

var _ = define(add, Def{Class: dataflow.Elem, Role: kernel.Plus, Shape: same,
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

// Mul returns x · y element-wise; shapes as for Add. A 1×1 Global multiplies every number of the other.
func Mul(x, y *Node) *Node { return apply(mul, stretch(x, y), stretch(y, x)) }

// stretch is x, as wide as y if x is a 1×1 Global.
func stretch(x, y *Node) *Node {
	if s := x.Shape(); s.Set.Kind == dataflow.Global && s.Rows == 1 && s.Cols == 1 && y.Cols() > 1 {
		return Widen(x, y.Cols())
	}
	return x
}

const mul = dataflow.MulOp

var _ = define(mul, Def{Class: dataflow.Elem, Role: kernel.Mul, Shape: same,
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
		// dy/y·n would be ∞·0 where y is all but 0 and x is.
		return []*Node{fit(x, Div(dy, y)), fit(y, Neg(Mul(dy, Div(n, y))))}
	},
	CPU: map2(simd.Div), CUDA: "$0 / $1"})

// Maximum returns the larger of x and y element-wise, and NaN where one of them is NaN; shapes
// as for Add. The gradient goes to the larger operand, to x where both are equal, and to both where the
// result is NaN. The other operand gets 0, even if the incoming gradient is not finite.
func Maximum(x, y *Node) *Node { return apply(maximum, x, y) }

const maximum Op = "maximum"

var _ = define(maximum, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		x, y := n.In(0), n.In(1)
		holds := Eq(n, x) // 0 also where n is NaN
		return []*Node{fit(x, Mask(dy, orNaN(holds, n))), fit(y, Mask(dy, not(holds)))}
	},
	CPU: map2(simd.Max), CUDA: "saga_maximum($0, $1)"})

// not is 1 where x, of 0 and 1, is 0, and 0 elsewhere.
func not(x *Node) *Node { return Shift(Neg(x), 1) }

// orNaN is 1 where holds is 1 or x is NaN, and 0 elsewhere. holds must be 0 where x is NaN.
func orNaN(holds, x *Node) *Node { return Add(holds, not(Eq(x, x))) }

// Mask returns x where y is not 0 (NaN counts as not 0), and 0 elsewhere; shapes as for Add. A product of x and 0
// would be NaN where x is not finite. It has no gradient with respect to y.
func Mask(x, y *Node) *Node { return apply(mask, x, y) }

const mask = dataflow.MaskOp

var _ = define(mask, Def{Class: dataflow.Elem, Role: kernel.Mask, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{fit(n.In(0), Mask(dy, n.In(1))), nil} },
	CPU: map2(simd.Mask), CUDA: "($1 != 0.f ? $0 : 0.f)"})

// nonzero is 1 where masked keeps a number: where x is not 0, NaN included. It is 0 elsewhere. The
// compiler inserts it (dataflow/factor.go) to count these numbers.
const nonzero = dataflow.NonzeroOp

var _ = define(nonzero, Def{Class: dataflow.Elem, Shape: same,
	CPU: func(a *Args) {
		simd.Fill(a.Out, 1)
		simd.Mask(a.Out, a.Out, a.In[0])
	}, CUDA: "($0 != 0.f ? 1.f : 0.f)"})

// Eq returns 1 where x = y and 0 elsewhere; shapes as for Add. It has no gradient.
func Eq(x, y *Node) *Node { return apply(eq, x, y) }

const eq Op = "eq"

var _ = define(eq, Def{Class: dataflow.Elem, Role: kernel.Eq, Shape: same,
	CPU: map2(simd.Eq), CUDA: "($0 == $1 ? 1.f : 0.f)"})

// Neg returns -x; same shape as x.
func Neg(x *Node) *Node { return apply(neg, x) }

const neg = dataflow.NegOp

var _ = define(neg, Def{Class: dataflow.Elem, Linear: true, Shape: same,
	VJP:  func(n, dy *Node) []*Node { return []*Node{Neg(dy)} },
	Role: kernel.Neg, CPU: map1(simd.Neg), CUDA: "-$0"})

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
