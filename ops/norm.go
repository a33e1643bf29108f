package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
)

// L2Normalize divides every row by its Euclidean norm; same shape as x. A row of
// zeros stays zero and has gradient zero.
func L2Normalize(x *Node) *Node { return apply(l2Normalize, x) }

const l2Normalize Op = "l2_normalize"

var _ = define(l2Normalize, Def{Class: dataflow.Row, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{apply(l2NormalizeGrad, n.In(0), dy)} },
	CPU: eachRow(func(dst, x []float32) {
		s := inverseNorm(x)
		for c, v := range x {
			dst[c] = float32(float64(v) * s)
		}
	}), CUDA: cudaNorm + "(float)((double)$0[$C] * s)"})

// cudaNorm computes s, the inverse of the norm of a row, or 0 for a row of zeros.
const cudaNorm = "double q = SAGA_SUM($W0, (double)$0[j] * (double)$0[j]); double s = q == 0.0 ? 0.0 : 1.0 / sqrt(q); "

const l2NormalizeGrad Op = "l2_normalize_grad" // (dy - y⟨y, dy⟩)/‖x‖ with y = x/‖x‖

var _ = define(l2NormalizeGrad, Def{Class: dataflow.Row, Shape: besideGrad,
	CPU: func(a *Args) {
		for r := range a.Rows {
			out, x, dy := outRow(a, r), inRow(a, 0, r), inRow(a, 1, r)
			q, dot := squares(x), 0.0
			if q == 0 {
				clear(out) // even if dy is not finite
				continue
			}
			s := 1 / math.Sqrt(q)
			for c, v := range x {
				dot += float64(v) * s * float64(dy[c])
			}
			for c, v := range x {
				out[c] = float32((float64(dy[c]) - float64(v)*s*dot) * s)
			}
		}
	}, CUDA: cudaNorm + "double d = SAGA_SUM($W0, (double)$0[j] * s * (double)$1[j]); " +
		"(q == 0.0 ? 0.f : (float)(((double)$1[$C] - (double)$0[$C] * s * d) * s))"})

// inverseNorm is 1/‖x‖, or 0 for a row of zeros.
func inverseNorm(x []float32) float64 {
	if q := squares(x); q != 0 {
		return 1 / math.Sqrt(q)
	}
	return 0
}

// squares is ‖x‖².
func squares(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// LayerNorm brings every row to mean 0 and variance 1, dividing by
// √(variance + eps); same shape as x. It has no scale and bias: to learn them, multiply by and
// add parameters [1×c]. An eps that is not positive is an error.
func LayerNorm(x *Node, eps float32) *Node { return applyF(layerNorm, eps, x) }

const layerNorm Op = "layer_norm"

var _ = define(layerNorm, Def{Class: dataflow.Row, Shape: layerNormShape,
	VJP: func(n, dy *Node) []*Node { return []*Node{applyF(layerNormGrad, n.Attr().F, n.In(0), dy)} },
	CPU: func(a *Args) {
		for r := range a.Rows {
			out, x := outRow(a, r), inRow(a, 0, r)
			mean, s := moments(x, a.F)
			for c, v := range x {
				out[c] = float32((float64(v) - mean) * s)
			}
		}
	}, CUDA: cudaMoments + "(float)(((double)$0[$C] - m) * s)"})

// cudaMoments computes m, the mean of a row, and s, 1/√(variance + eps).
const cudaMoments = "double m = SAGA_SUM($W0, $0[j]) / $W0; " +
	"double s = 1.0 / sqrt(SAGA_SUM($W0, ((double)$0[j] - m) * ((double)$0[j] - m)) / $W0 + (double)$F); "

const layerNormGrad Op = "layer_norm_grad" // (dy - mean dy - y·mean(y dy))/√(variance + eps)

var _ = define(layerNormGrad, Def{Class: dataflow.Row, Shape: layerNormShape,
	CPU: func(a *Args) {
		for r := range a.Rows {
			out, x, dy := outRow(a, r), inRow(a, 0, r), inRow(a, 1, r)
			mean, s := moments(x, a.F)
			sum, dot := 0.0, 0.0
			for c, v := range x {
				sum += float64(dy[c])
				dot += (float64(v) - mean) * s * float64(dy[c])
			}
			n := float64(len(x))
			for c, v := range x {
				y := (float64(v) - mean) * s
				out[c] = float32((float64(dy[c]) - sum/n - y*dot/n) * s)
			}
		}
	}, CUDA: cudaMoments + "double a = SAGA_SUM($W0, $1[j]) / $W0; " +
		"double b = SAGA_SUM($W0, ((double)$0[j] - m) * s * (double)$1[j]) / $W0; " +
		"(float)(((double)$1[$C] - a - ((double)$0[$C] - m) * s * b) * s)"})

func layerNormShape(a attr, in []shape) (shape, error) {
	if !(a.F > 0) {
		return in[0], fmt.Errorf("eps %v is not positive", a.F)
	}
	return besideGrad(a, in)
}

// moments are the mean of x and 1/√(variance + eps).
func moments(x []float32, eps float32) (mean, s float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += float64(v)
	}
	mean /= n
	variance := 0.0
	for _, v := range x {
		d := float64(v) - mean
		variance += d * d
	}
	return mean, 1 / math.Sqrt(variance/n+float64(eps))
}

// besideGrad is the shape rule of row-wise ops and of their gradients, whose
// second operand is the gradient of the result.
func besideGrad(a attr, in []shape) (shape, error) {
	if err := alike(in); err != nil {
		return in[0], err
	}
	return same(a, in)
}
