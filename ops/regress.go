package ops

import (
	"fmt"
	"math"
	"strings"
)

// SquaredError is the weighted squared error of every row, averaged over its columns:
// [S×1] from predictions and targets [S×C] and weight [S×1]. A row of weight 0 gives 0,
// even if its numbers are not finite. The loss is SumRows of the result. Only the predictions have a gradient.
func SquaredError(x, targets, weight *Node) *Node {
	return apply(squaredError, x, targets, weight)
}

// AbsoluteError is SquaredError with the absolute error. Its gradient is 0 where both are equal.
func AbsoluteError(x, targets, weight *Node) *Node {
	return apply(absoluteError, x, targets, weight)
}

// HuberError is SquaredError with Huber's loss (Huber, 1964) of the error d: d²/2 where
// |d| ≤ delta, delta·(|d| - delta/2) elsewhere. A delta that is not positive is an error.
func HuberError(x, targets, weight *Node, delta float32) *Node {
	return applyF(huberError, delta, x, targets, weight)
}

const (
	squaredError  Op = "squared_error"
	absoluteError Op = "absolute_error"
	huberError    Op = "huber_error"

	squaredErrorGrad  = squaredError + "_grad" // weight/C · the derivative by the error · dy, 0 for weight 0
	absoluteErrorGrad = absoluteError + "_grad"
	huberErrorGrad    = huberError + "_grad"
)

var _ = defineError(squaredError, errorOf{
	loss: func(d, _ float64) float64 { return d * d }, cudaLoss: "@ * @",
	grad: func(d, _ float64) float64 { return 2 * d }, cudaGrad: "2.f * @",
})

var _ = defineError(absoluteError, errorOf{
	loss: func(d, _ float64) float64 { return math.Abs(d) }, cudaLoss: "fabsf(@)",
	grad: func(d, _ float64) float64 { return sign(d) }, cudaGrad: "(@ > 0.f ? 1.f : @ < 0.f ? -1.f : @)",
})

var _ = defineError(huberError, errorOf{
	loss: func(d, delta float64) float64 {
		if math.Abs(d) <= delta {
			return d * d / 2
		}
		return delta * (math.Abs(d) - delta/2)
	}, cudaLoss: "(fabsf(@) <= $F ? 0.5f * @ * @ : $F * (fabsf(@) - 0.5f * $F))",
	grad: func(d, delta float64) float64 {
		if math.Abs(d) > delta {
			return delta * sign(d)
		}
		return d
	}, cudaGrad: "(@ > $F ? $F : @ < -$F ? -$F : @)",
})

// sign is -1, 0 or 1, NaN of NaN.
func sign(d float64) float64 {
	switch {
	case d > 0:
		return 1
	case d < 0:
		return -1
	}
	return d
}

// errorOf is a loss as a function of the error, and its derivative, for the CPU and as CUDA code, in
// which @ stands for the error. The second argument of the functions is attribute F.
type errorOf struct {
	loss, grad         func(d, f float64) float64
	cudaLoss, cudaGrad string
}

// defineError declares the loss op and op+"_grad".
func defineError(op Op, e errorOf) bool {
	check := func(a attr, in []shape) error {
		if op == huberError && !(a.F > 0) {
			return fmt.Errorf("delta %v is not positive", a.F)
		}
		return multiLabelled(in)
	}
	return defineColumns(op, columnLoss{check: check,
		loss:     func(x, t, _, f float64) float64 { return e.loss(x-t, f) },
		grad:     func(x, t, _, f float64) float32 { return float32(e.grad(x-t, f)) },
		cudaLoss: strings.ReplaceAll(e.cudaLoss, "@", "(@0 - @1)"), cudaGrad: strings.ReplaceAll(e.cudaGrad, "@", "(@0 - @1)")})
}
