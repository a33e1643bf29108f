package ops

import (
	"math"

	"sagann/dataflow"
	"sagann/internal/simd"
)

// Softmax is e**x over its sum, row by row; same shape as x. It does not overflow.
func Softmax(x *Node) *Node { return apply(softmax, x) }

const softmax Op = "softmax"

// dx = y·(dy - ⟨y, dy⟩).
var _ = define(softmax, Def{Class: dataflow.Row, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		d := Mul(n, dy)
		return []*Node{Sub(d, RowScale(n, RowSum(d)))}
	},
	CPU: eachRow(softmaxRow), CUDA: cudaSoftmax + "expf($0[$C] - m) * (float)(1.0 / s)"})

// cudaSoftmax finds the largest number m of a row and s, the sum of e**(x - m).
const cudaSoftmax = "float m = SAGA_MAX($W0, $0[j]); double s = SAGA_SUM($W0, expf($0[j] - m)); "

// LogSoftmax is the logarithm of Softmax, computed directly so that it is accurate; same
// shape as x.
func LogSoftmax(x *Node) *Node { return apply(logSoftmax, x) }

const logSoftmax Op = "log_softmax"

// dx = dy - softmax·Σ dy, and softmax = e**n.
var _ = define(logSoftmax, Def{Class: dataflow.Row, Shape: same,
	VJP: func(n, dy *Node) []*Node {
		return []*Node{Sub(dy, RowScale(Exp(n), RowSum(dy)))}
	},
	CPU: eachRow(func(dst, x []float32) {
		lse := logSumExp(x)
		for c, v := range x {
			dst[c] = float32(float64(v) - lse)
		}
	}), CUDA: cudaSoftmax + "(float)((double)$0[$C] - ((double)m + log(s)))"})

func softmaxRow(dst, x []float32) {
	simd.AddScalar(dst, x, -largest(x))
	simd.Exp(dst, dst)
	sum := 0.0
	for _, e := range dst {
		sum += float64(e)
	}
	simd.Scale(dst, dst, float32(1/sum))
}

// logSumExp is log Σ e**x, through the largest number so that nothing overflows.
func logSumExp(x []float32) float64 {
	top := largest(x)
	var buf [64]float32
	sum := 0.0
	for len(x) > 0 {
		e := buf[:min(len(x), len(buf))]
		simd.AddScalar(e, x, -top)
		simd.Exp(e, e)
		for _, v := range e {
			sum += float64(v)
		}
		x = x[len(e):]
	}
	return float64(top) + math.Log(sum)
}

// largest is the maximum of x; x has at least one number.
func largest(x []float32) float32 {
	top := x[0]
	for _, v := range x[1:] {
		if v > top {
			top = v
		}
	}
	return top
}
