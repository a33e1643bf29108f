package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// elemCase is an element-wise function with its reference in float64.
type elemCase struct {
	name string
	run  func(dst, x, y []float32, a float32)
	ref  func(d, x, y, a float64) float64 // d is the old value of dst
	rel  float64
	abs  float64
}

func unaryCase(name string, f func(dst, x []float32), ref func(float64) float64, rel, abs float64) elemCase {
	return elemCase{name, func(dst, x, _ []float32, _ float32) { f(dst, x) },
		func(_, x, _, _ float64) float64 { return ref(x) }, rel, abs}
}

func binaryCase(name string, f func(dst, x, y []float32), ref func(x, y float64) float64) elemCase {
	return elemCase{name, func(dst, x, y []float32, _ float32) { f(dst, x, y) },
		func(_, x, y, _ float64) float64 { return ref(x, y) }, 1e-7, math.SmallestNonzeroFloat32}
}

func choice(c bool, t, f float64) float64 {
	if c {
		return t
	}
	return f
}

func refSigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func refGelu(x float64) float64 {
	return x / (1 + math.Exp(-2*geluScale*x*(1+geluCubic*x*x)))
}

func refGeluGrad(x float64) float64 {
	if x > 30 || x < -30 {
		return choice(x > 0, 1, 0)
	}
	u := geluScale * x * (1 + geluCubic*x*x)
	s := refSigmoid(2 * u)
	return s + x*s*refSigmoid(-2*u)*2*geluScale*(1+3*geluCubic*x*x)
}

const tiny = 0x1p-126 // results below it may be rounded or flushed

func elemCases() []elemCase {
	return []elemCase{
		binaryCase("Add", Add, func(x, y float64) float64 { return x + y }),
		binaryCase("Sub", Sub, func(x, y float64) float64 { return x - y }),
		binaryCase("Mul", Mul, func(x, y float64) float64 { return x * y }),
		binaryCase("Div", Div, func(x, y float64) float64 { return x / y }),
		binaryCase("Max", Max, func(x, y float64) float64 { return max(x, y) }),
		binaryCase("Min", Min, func(x, y float64) float64 { return min(x, y) }),
		binaryCase("Mask", Mask, func(x, y float64) float64 { return choice(y != 0, x, 0) }),
		binaryCase("Eq", Eq, func(x, y float64) float64 { return choice(x == y, 1, 0) }),
		{"AddTo", func(dst, x, _ []float32, _ float32) { AddTo(dst, x) },
			func(d, x, _, _ float64) float64 { return d + x }, 1e-7, 0},
		{"MulAddTo", func(dst, x, y []float32, _ float32) { MulAddTo(dst, x, y) },
			func(d, x, y, _ float64) float64 { return d + x*y }, 1e-6, 1e-6},
		{"Axpy", func(dst, x, _ []float32, a float32) { Axpy(dst, a, x) },
			func(d, x, _, a float64) float64 { return d + a*x }, 1e-6, 1e-6},
		{"Scale", func(dst, x, _ []float32, a float32) { Scale(dst, x, a) },
			func(_, x, _, a float64) float64 { return a * x }, 1e-7, math.SmallestNonzeroFloat32},
		{"AddScalar", func(dst, x, _ []float32, a float32) { AddScalar(dst, x, a) },
			func(_, x, _, a float64) float64 { return a + x }, 1e-7, 0},
		{"Fill", func(dst, _, _ []float32, a float32) { Fill(dst, a) },
			func(_, _, _, a float64) float64 { return a }, 0, 0},
		{"LeakyRelu", func(dst, x, _ []float32, a float32) { LeakyRelu(dst, x, a) },
			func(_, x, _, a float64) float64 { return choice(x > 0, x, a*x) }, 1e-7, math.SmallestNonzeroFloat32},
		{"LeakyStep", func(dst, x, _ []float32, a float32) { LeakyStep(dst, x, a) },
			func(_, x, _, a float64) float64 { return choice(x > 0, 1, a) }, 0, 0},

		unaryCase("Neg", Neg, func(x float64) float64 { return -x }, 0, 0),
		unaryCase("Abs", Abs, math.Abs, 0, 0),
		unaryCase("Square", Square, func(x float64) float64 { return x * x }, 1e-7, math.SmallestNonzeroFloat32),
		unaryCase("Sqrt", Sqrt, math.Sqrt, 1e-7, 0),
		unaryCase("Relu", Relu, func(x float64) float64 { return max(x, 0) }, 0, 0),
		unaryCase("Step", Step, func(x float64) float64 { return choice(x > 0, 1, 0) }, 0, 0),
		unaryCase("SigmoidGrad", SigmoidGrad, func(y float64) float64 { return y * (1 - y) }, 4e-7, 0),
		unaryCase("TanhGrad", TanhGrad, func(y float64) float64 { return 1 - y*y }, 1e-7, 2e-7),

		unaryCase("Exp", Exp, math.Exp, 3e-7, tiny),
		unaryCase("Log", Log, math.Log, 2e-7, 2e-7),
		unaryCase("Sigmoid", Sigmoid, refSigmoid, 0, 2e-7),
		unaryCase("Tanh", Tanh, math.Tanh, 4e-7, 0),
		unaryCase("Elu", Elu, func(x float64) float64 { return choice(x > 0, x, math.Expm1(x)) }, 4e-7, 0),
		unaryCase("EluStep", EluStep, func(y float64) float64 { return choice(y <= 0, y+1, 1) }, 1e-7, 0),
		unaryCase("Softplus", Softplus, func(x float64) float64 {
			return choice(x > 0, x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
		}, 4e-7, tiny),
		unaryCase("Gelu", Gelu, refGelu, 4e-7, 2e-7),
		unaryCase("GeluGrad", GeluGrad, refGeluGrad, 4e-7, 8e-7),
	}
}

// inputs returns n pairs: all combinations of special values come first.
func inputs(r *rand.Rand, n int) (x, y []float32) {
	x, y = normals(r, n), normals(r, n)
	for i := range x {
		s := special
		if i < len(s)*len(s) {
			x[i], y[i] = s[i/len(s)], s[i%len(s)]
		} else if i%3 == 0 {
			x[i] *= 30
		}
	}
	return x, y
}

func TestElementwise(t *testing.T) {
	for _, c := range elemCases() {
		t.Run(c.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				const n, a = 6000, 0.3
				x, y := inputs(r, n)
				old := normals(r, n)
				all := append([]float32(nil), old...)
				c.run(all, x, y, a)
				for i := range all {
					want := c.ref(float64(old[i]), float64(x[i]), float64(y[i]), float64(float32(a)))
					if !sameValue(all[i], want, c.rel, c.abs) {
						t.Fatalf("at %d, x=%g y=%g dst=%g: got %g, want %g", i, x[i], y[i], old[i], all[i], want)
					}
				}
				checkPlaces(t, c, x, y, old, all, a)
			})
		})
	}
}

// checkPlaces runs short pieces at odd offsets and expects the bits that the
// long run gave; it also writes over an input and looks at the guards.
func checkPlaces(t *testing.T, c elemCase, x, y, old, all []float32, a float32) {
	for _, n := range lengths {
		for _, at := range []int{0, 5, 40, 1000, 5000} {
			dst, check := guarded(t, n)
			copy(dst, old[at:])
			c.run(dst, x[at:at+n], y[at:at+n], a)
			check()
			sameBits(t, fmt.Sprintf("length %d at %d", n, at), dst, all[at:at+n])
			if c.name == "AddTo" || c.name == "MulAddTo" || c.name == "Axpy" {
				continue
			}
			copy(dst, x[at:])
			c.run(dst, dst, y[at:at+n], a)
			check()
			sameBits(t, fmt.Sprintf("in place, length %d at %d", n, at), dst, all[at:at+n])
		}
	}
}

// sameBits fails unless two slices agree to the bit; any NaN equals any other.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		g, w := got[i], want[i]
		if math.Float32bits(g) != math.Float32bits(w) && !(g != g && w != w) {
			t.Fatalf("%s: element %d is %g (%#x), want %g (%#x)",
				what, i, g, math.Float32bits(g), w, math.Float32bits(w))
		}
	}
}

// TestDense sweeps the approximations over their range, in steps of the bit
// pattern so that every binade is met.
func TestDense(t *testing.T) {
	for _, c := range elemCases() {
		switch c.name {
		case "Exp", "Log", "Sigmoid", "Tanh", "Elu", "Softplus", "Gelu", "GeluGrad":
		default:
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				step := uint64(16001)
				if testing.Short() {
					step = 60013
				}
				x, dst := make([]float32, 1000), make([]float32, 1000)
				worstRel, worstAbs := 0.0, 0.0
				for b := uint64(0); b < 1<<32; {
					for i := range x {
						x[i] = math.Float32frombits(uint32(b))
						b += step
					}
					c.run(dst, x, x, 0)
					for i, v := range x {
						want := c.ref(0, float64(v), 0, 0)
						if !sameValue(dst[i], want, c.rel, c.abs) {
							t.Fatalf("x=%g: got %g, want %g", v, dst[i], want)
						}
						if d := math.Abs(float64(dst[i]) - want); d > 0 && math.Abs(want) > tiny && !math.IsInf(float64(dst[i]), 0) {
							worstAbs = max(worstAbs, d)
							worstRel = max(worstRel, d/math.Abs(want))
						}
					}
				}
				t.Logf("largest error: %.2g relative, %.2g absolute", worstRel, worstAbs)
			})
		})
	}
}
