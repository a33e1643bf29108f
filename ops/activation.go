package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
	"sagann/internal/simd"
)

// Sigmoid returns 1 / (1 + e**-x) element-wise; same shape as x.
func Sigmoid(x *Node) *Node { return apply(sigmoid, x) }

const sigmoid Op = "sigmoid"

var _ = define(sigmoid, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mul(dy, apply(sigmoidGrad, n))} },
	CPU: map1(simd.Sigmoid), CUDA: "saga_sigmoid($0)"})

const sigmoidGrad Op = "sigmoid_grad" // y (1 - y) of y = sigmoid(x)

var _ = define(sigmoidGrad, Def{Class: dataflow.Elem, Shape: same,
	CPU: map1(simd.SigmoidGrad), CUDA: "$0 * (1.f - $0)"})

// Tanh returns the hyperbolic tangent element-wise; same shape as x.
func Tanh(x *Node) *Node { return apply(tanh, x) }

const tanh Op = "tanh"

var _ = define(tanh, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mul(dy, apply(tanhGrad, n))} },
	CPU: map1(simd.Tanh), CUDA: "tanhf($0)"})

const tanhGrad Op = "tanh_grad" // 1 - y² of y = tanh(x)

var _ = define(tanhGrad, Def{Class: dataflow.Elem, Shape: same,
	CPU: map1(simd.TanhGrad), CUDA: "1.f - $0 * $0"})

// ReLU returns max(x, 0) element-wise; same shape as x. NaN stays NaN. Where the result
// is 0 the gradient is 0, even if the incoming gradient is not finite.
func ReLU(x *Node) *Node { return apply(relu, x) }

const relu Op = "relu"

var _ = define(relu, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mask(dy, n)} },
	CPU: map1(simd.Relu), CUDA: "saga_maximum($0, 0.f)"})

// Step returns 1 where x > 0 and 0 elsewhere; same shape as x. It has no gradient.
func Step(x *Node) *Node { return apply(step, x) }

const step Op = "step"

var _ = define(step, Def{Class: dataflow.Elem, Shape: same,
	CPU: map1(simd.Step), CUDA: "($0 > 0.f ? 1.f : 0.f)"})

// LeakyReLU returns x where x > 0 and slope·x elsewhere; same shape as x. A
// negative slope is an error.
func LeakyReLU(x *Node, slope float32) *Node { return applyF(leakyRelu, slope, x) }

const leakyRelu Op = "leaky_relu"

// The slope keeps the sign of x, so the gradient can read the result instead.
var _ = define(leakyRelu, Def{Class: dataflow.Elem, Shape: slopeShape,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mul(dy, applyF(leakyStep, n.Attr().F, n))} },
	CPU: mapF(simd.LeakyRelu), CUDA: "($0 > 0.f ? $0 : $F * $0)"})

const leakyStep Op = "leaky_step" // 1 where x > 0, slope elsewhere

var _ = define(leakyStep, Def{Class: dataflow.Elem, Shape: slopeShape,
	CPU: mapF(simd.LeakyStep), CUDA: "($0 > 0.f ? 1.f : $F)"})

func slopeShape(a attr, in []shape) (shape, error) {
	if !(a.F >= 0) {
		return in[0], fmt.Errorf("slope %v is not zero or positive", a.F)
	}
	return same(a, in)
}

// ELU returns x where x > 0 and e**x - 1 elsewhere; same shape as x.
func ELU(x *Node) *Node { return apply(elu, x) }

const elu Op = "elu"

var _ = define(elu, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mul(dy, apply(eluGrad, n))} },
	CPU: map1(simd.Elu), CUDA: "($0 > 0.f ? $0 : expm1f($0))"})

const eluGrad Op = "elu_grad" // y + 1 = e**x where y <= 0, 1 elsewhere

var _ = define(eluGrad, Def{Class: dataflow.Elem, Shape: same,
	CPU: map1(simd.EluStep), CUDA: "($0 <= 0.f ? $0 + 1.f : 1.f)"})

// GELU returns x·sigmoid(2u) with u = √(2/π)·(x + 0.044715 x³), the tanh form of
// the Gaussian error linear unit, element-wise; same shape as x.
func GELU(x *Node) *Node { return apply(gelu, x) }

const gelu Op = "gelu"

var _ = define(gelu, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mul(dy, apply(geluGrad, n.In(0)))} },
	CPU: map1(simd.Gelu), CUDA: "$0 / (1.f + expf(-1.5957691f * $0 * (1.f + 0.044715f * $0 * $0)))"})

const geluGrad Op = "gelu_grad" // derivative of gelu by its argument

// tanh(u) = 2 sigmoid(2u) - 1 and s(1-s) = (1 - tanh²)/4 keep both ends finite.
var _ = define(geluGrad, Def{Class: dataflow.Elem, Shape: same,
	CPU: map1(simd.GeluGrad),
	CUDA: "0.5f + 0.5f * tanhf(0.79788456f * $0 * (1.f + 0.044715f * $0 * $0)) + " +
		"(fabsf($0) < 12.f ? 0.39894228f * $0 * (1.f + 0.134145f * $0 * $0) * " +
		"(1.f - tanhf(0.79788456f * $0 * (1.f + 0.044715f * $0 * $0)) * " +
		"tanhf(0.79788456f * $0 * (1.f + 0.044715f * $0 * $0))) : 0.f)"})

// GELUExact returns x·Φ(x), Φ being the distribution function of the standard normal distribution, element-wise; same
// shape as x. It is the default of torch.nn.GELU, and NaN at -Inf as there.
func GELUExact(x *Node) *Node {
	return Scale(Mul(x, Shift(Erf(Scale(x, math.Sqrt2/2)), 1)), 0.5)
}

// Erf returns the error function 2/√π·∫e^(-t²)dt from 0 to x element-wise; same shape as x.
func Erf(x *Node) *Node { return apply(erf, x) }

const erf Op = "erf"

var _ = define(erf, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		return []*Node{Mul(dy, Scale(Exp(Neg(Square(n.In(0)))), 2/float32(math.SqrtPi)))}
	},
	CPU: map1(func(dst, x []float32) {
		for i, v := range x {
			dst[i] = float32(math.Erf(float64(v)))
		}
	}), CUDA: "erff($0)"})

// SiLU returns x·sigmoid(x) element-wise; same shape as x. It is NaN at -Inf, and its
// derivative is NaN at both infinities, as in PyTorch.
func SiLU(x *Node) *Node { return apply(silu, x) }

const silu Op = "silu"

var _ = define(silu, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		s := Sigmoid(n.In(0))
		return []*Node{Mul(dy, Mul(s, Shift(Mul(n.In(0), Shift(Neg(s), 1)), 1)))}
	},
	CPU: map1(func(dst, x []float32) {
		simd.Sigmoid(dst, x)
		simd.Mul(dst, dst, x)
	}), CUDA: "$0 * saga_sigmoid($0)"})

// Softplus returns log(1 + e**x) element-wise, without overflow; same shape as x.
func Softplus(x *Node) *Node { return apply(softplus, x) }

const softplus Op = "softplus"

// 1 - e**-n would read the result instead of x, but cancels where n is small.
var _ = define(softplus, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{Mul(dy, Sigmoid(n.In(0)))} },
	CPU: map1(simd.Softplus), CUDA: "fmaxf($0, 0.f) + log1pf(expf(-fabsf($0)))"})
