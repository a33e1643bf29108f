package simd

// Add sets dst = x + y, element by element.
func Add(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if addAsm(dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

// Sub sets dst = x - y, element by element.
func Sub(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if subAsm(dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

// Mul sets dst = x * y, element by element.
func Mul(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if mulAsm(dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// Div sets dst = x / y, element by element.
func Div(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if divAsm(dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

// Max sets dst to the larger of x and y, and to NaN where one of them is NaN.
func Max(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if maxAsm(dst, x, y) {
		return
	}
	for i := range dst {
		if x[i] > y[i] || x[i] != x[i] {
			dst[i] = x[i]
		} else {
			dst[i] = y[i]
		}
	}
}

// Min sets dst to the smaller of x and y, and to NaN where one of them is NaN.
func Min(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if minAsm(dst, x, y) {
		return
	}
	for i := range dst {
		if x[i] < y[i] || x[i] != x[i] {
			dst[i] = x[i]
		} else {
			dst[i] = y[i]
		}
	}
}

// Mask sets dst = x where y is not 0 (NaN counts as not 0), else 0. It is not a product: 0 times an
// infinite x would be NaN.
func Mask(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if maskAsm(dst, x, y) {
		return
	}
	for i := range dst {
		if y[i] != 0 {
			dst[i] = x[i]
		} else {
			dst[i] = 0
		}
	}
}

// Eq sets dst to 1 where x equals y and to 0 elsewhere; NaN equals nothing.
func Eq(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if eqAsm(dst, x, y) {
		return
	}
	for i := range dst {
		if x[i] == y[i] {
			dst[i] = 1
		} else {
			dst[i] = 0
		}
	}
}

// AddTo adds x to dst, element by element.
func AddTo(dst, x []float32) { Add(dst, dst, x) }

// MulAddTo adds x * y to dst, element by element.
func MulAddTo(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	if mulAddToAsm(dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] += x[i] * y[i]
	}
}

// Axpy adds a * x to dst.
func Axpy(dst []float32, a float32, x []float32) {
	x = x[:len(dst)]
	if axpyAsm(dst, x, a) {
		return
	}
	for i := range dst {
		dst[i] += a * x[i]
	}
}

// Scale sets dst = a * x.
func Scale(dst, x []float32, a float32) {
	x = x[:len(dst)]
	if scaleAsm(dst, x, a) {
		return
	}
	for i := range dst {
		dst[i] = x[i] * a
	}
}

// AddScalar sets dst = x + a.
func AddScalar(dst, x []float32, a float32) {
	x = x[:len(dst)]
	if addScalarAsm(dst, x, a) {
		return
	}
	for i := range dst {
		dst[i] = x[i] + a
	}
}

// Fill sets every element of dst to a.
func Fill(dst []float32, a float32) {
	if fillAsm(dst, a) {
		return
	}
	for i := range dst {
		dst[i] = a
	}
}
