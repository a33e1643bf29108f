package simd

import "math"

// Relu sets dst = 0 where x < 0, else x: NaN stays NaN.
func Relu(dst, x []float32) {
	x = x[:len(dst)]
	if reluAsm(dst, x) {
		return
	}
	for i := range dst {
		if x[i] < 0 {
			dst[i] = 0
		} else {
			dst[i] = x[i]
		}
	}
}

// LeakyRelu sets dst = x where x > 0, else slope * x.
func LeakyRelu(dst, x []float32, slope float32) {
	x = x[:len(dst)]
	if leakyReluAsm(dst, x, slope) {
		return
	}
	for i := range dst {
		if x[i] > 0 {
			dst[i] = x[i]
		} else {
			dst[i] = slope * x[i]
		}
	}
}

// LeakyStep sets dst to 1 where x > 0 and to slope elsewhere: the derivative of
// LeakyRelu.
func LeakyStep(dst, x []float32, slope float32) {
	x = x[:len(dst)]
	if leakyStepAsm(dst, x, slope) {
		return
	}
	for i := range dst {
		if x[i] > 0 {
			dst[i] = 1
		} else {
			dst[i] = slope
		}
	}
}

// Sigmoid sets dst = 1 / (1 + e**-x), with an absolute error of at most 2e-7.
func Sigmoid(dst, x []float32) {
	x = x[:len(dst)]
	if sigmoidAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = sigmoid(x[i])
	}
}

// SigmoidGrad sets dst = y * (1 - y): the derivative of Sigmoid by its result.
func SigmoidGrad(dst, y []float32) {
	y = y[:len(dst)]
	if sigmoidGradAsm(dst, y) {
		return
	}
	for i := range dst {
		dst[i] = y[i] * (1 - y[i])
	}
}

// Tanh sets dst to the hyperbolic tangent of x, with an absolute error of at
// most 2e-7.
func Tanh(dst, x []float32) {
	x = x[:len(dst)]
	if tanhAsm(dst, x) {
		return
	}
	for i := range dst {
		dst[i] = float32(math.Tanh(float64(x[i])))
	}
}

// TanhGrad sets dst = 1 - y*y: the derivative of Tanh by its result.
func TanhGrad(dst, y []float32) {
	y = y[:len(dst)]
	if tanhGradAsm(dst, y) {
		return
	}
	for i := range dst {
		dst[i] = 1 - y[i]*y[i]
	}
}

// Elu sets dst = x where x > 0, else e**x - 1.
func Elu(dst, x []float32) {
	x = x[:len(dst)]
	if eluAsm(dst, x) {
		return
	}
	for i := range dst {
		if x[i] > 0 {
			dst[i] = x[i]
		} else {
			dst[i] = float32(math.Expm1(float64(x[i])))
		}
	}
}

// EluStep sets dst = y + 1 where y <= 0, else 1, also for NaN: the derivative of Elu by
// its result.
func EluStep(dst, y []float32) {
	y = y[:len(dst)]
	if eluStepAsm(dst, y) {
		return
	}
	for i := range dst {
		if y[i] <= 0 {
			dst[i] = y[i] + 1
		} else {
			dst[i] = 1
		}
	}
}

// Softplus sets dst = log(1 + e**x), computed as max(x, 0) + log1p(e**-|x|) so
// that neither end overflows or vanishes. Its derivative is Sigmoid.
func Softplus(dst, x []float32) {
	x = x[:len(dst)]
	if softplusAsm(dst, x) {
		return
	}
	for i := range dst {
		v := float64(x[i])
		dst[i] = float32(max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))))
	}
}

// The constants of the tanh form of GELU.
const (
	geluScale = 0.7978845608028654 // sqrt(2/pi)
	geluCubic = 0.044715
)

// Gelu sets dst = x/2 * (1 + tanh(u)) with u = sqrt(2/pi) * (x + 0.044715*x**3),
// computed as x * sigmoid(2u).
func Gelu(dst, x []float32) {
	x = x[:len(dst)]
	if geluAsm(dst, x) {
		return
	}
	for i := range dst {
		v := float64(x[i])
		u := geluScale * v * (1 + geluCubic*v*v)
		dst[i] = float32(v / (1 + math.Exp(-2*u)))
	}
}

// geluClamp bounds the argument of GeluGrad: beyond it the derivative is 0 or 1
// to the last bit, and its square could overflow.
const geluClamp = 12

// GeluGrad sets dst to the derivative of Gelu by its argument,
// s + x*s*(1-s)*2u' with s = sigmoid(2u).
func GeluGrad(dst, x []float32) {
	x = x[:len(dst)]
	if geluGradAsm(dst, x) {
		return
	}
	for i := range dst {
		v := min(max(float64(x[i]), -geluClamp), geluClamp)
		u := geluScale * v * (1 + geluCubic*v*v)
		s := 1 / (1 + math.Exp(-2*u))
		dst[i] = float32(s + v*s*(1-s)*2*geluScale*(1+3*geluCubic*v*v))
	}
}

// sigmoid is the logistic function of the Go loops.
func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
