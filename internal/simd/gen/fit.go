package main

import "math"

// fit returns the coefficients, lowest first, of the polynomial of the given
// degree that agrees with f at the Chebyshev nodes of [lo, hi]; its error is
// within a small factor of the least possible.
func fit(f func(float64) float64, lo, hi float64, degree int) []float64 {
	n := degree + 1
	a := make([][]float64, n) // rows of the Vandermonde system, the value last
	for i := range a {
		x := (lo+hi)/2 + (hi-lo)/2*math.Cos(math.Pi*(float64(i)+0.5)/float64(n))
		row := make([]float64, n+1)
		row[0] = 1
		for j := 1; j < n; j++ {
			row[j] = row[j-1] * x
		}
		row[n] = f(x)
		a[i] = row
	}
	// Gauss-Jordan elimination with partial pivoting.
	for c := range n {
		p := c
		for r := c; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		a[c], a[p] = a[p], a[c]
		for r := range n {
			if r == c {
				continue
			}
			m := a[r][c] / a[c][c]
			for j := c; j <= n; j++ {
				a[r][j] -= m * a[c][j]
			}
		}
	}
	coef := make([]float64, n)
	for i := range coef {
		coef[i] = a[i][n] / a[i][i]
	}
	return coef
}

// series sums a power series with n coefficients by Horner's rule.
func series(coef func(k int) float64, n int) func(float64) float64 {
	return func(x float64) float64 {
		s := 0.0
		for k := n - 1; k >= 0; k-- {
			s = s*x + coef(k)
		}
		return s
	}
}

// expTail, logTail and tanhTail are what the kernels approximate:
//
//	e**r     = 1 + r + r**2*expTail(r)          |r| <= log(2)/2
//	log(1+f) = f - f**2/2 + f**3*logTail(f)     sqrt(1/2) <= 1+f <= sqrt(2)
//	tanh(x)  = x + x**3*tanhTail(x**2)          |x| <= tanhSmall
var (
	expTail = fit(series(func(k int) float64 { return 1 / math.Gamma(float64(k+3)) }, 20),
		-0.35, 0.35, 4)
	logTail = fit(series(func(k int) float64 { return math.Pow(-1, float64(k)) / float64(k+3) }, 60),
		math.Sqrt2/2-1, math.Sqrt2-1, 8)
	tanhTail = fit(func(z float64) float64 { x := math.Sqrt(z); return (math.Tanh(x) - x) / (x * z) },
		0, tanhSmall*tanhSmall, 4)
)

const tanhSmall = 0.625
