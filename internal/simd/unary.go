package simd

import "math"

// Neg sets dst = -x.
func Neg(dst, x []float32) {
	x = x[:len(dst)]
	if negAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = -x[i]
	}
}

// Abs sets dst = |x|.
func Abs(dst, x []float32) {
	x = x[:len(dst)]
	if absAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = math.Float32frombits(math.Float32bits(x[i]) &^ (1 << 31))
	}
}

// Square sets dst = x * x.
func Square(dst, x []float32) {
	x = x[:len(dst)]
	if squareAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = x[i] * x[i]
	}
}

// Sqrt sets dst to the square root of x, NaN for x < 0.
func Sqrt(dst, x []float32) {
	x = x[:len(dst)]
	if sqrtAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = float32(math.Sqrt(float64(x[i])))
	}
}

// Exp sets dst = e**x. The relative error is at most 3e-7 where the result is
// a normal number; above 88.72 the result is +Inf, below -103.97 it is 0.
func Exp(dst, x []float32) {
	x = x[:len(dst)]
	if expAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = exp(x[i])
	}
}

// Log sets dst to the natural logarithm of x: -Inf for 0, NaN for x < 0. The
// error is at most 2e-7, relative or absolute, whichever is larger.
func Log(dst, x []float32) {
	x = x[:len(dst)]
	if logAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = float32(math.Log(float64(x[i])))
	}
}

// Step sets dst to 1 where x > 0 and to 0 elsewhere, NaN included.
func Step(dst, x []float32) {
	x = x[:len(dst)]
	if stepAsm(dst, x) {
		return
	}
	for i := range dst {
		if x[i] > 0 {
			dst[i] = 1
		} else {
			dst[i] = 0
		}
	}
}

// exp is the exponential of the Go loops.
func exp(x float32) float32 { return float32(math.Exp(float64(x))) }
