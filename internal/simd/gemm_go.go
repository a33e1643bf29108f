package simd

// tileA says where the kernels find the left operand: element (i, p) of the row
// block that starts at row r0 lies at a[r0*step + i*row + p*col].
type tileA struct {
	a              []float32
	row, col, step int
}

// blockRows returns the number of rows of C that a kernel holds in registers.
func (l Level) blockRows() int {
	switch l {
	case AVX512:
		return 12
	case AVX2:
		return 6
	}
	return 4
}

// gemmPanel computes m rows of C, cols wide, from a panel of B with kc rows of
// w floats: C = A·B or, with accumulate, C += A·B.
func gemmPanel(l Level, m int, t tileA, b []float32, w, kc int, c []float32, ldc, cols int, accumulate bool) {
	if gemmPanelAsm(l, m, t, b, w, kc, c, ldc, cols, accumulate) {
		return
	}
	mr := l.blockRows()
	var sum [8]float32
	for i := range m {
		a := t.a[i/mr*mr*t.step+i%mr*t.row:]
		for j := 0; j < cols; j += len(sum) {
			dot8(&sum, a, t.col, b[j:], w, kc)
			dst := c[i*ldc+j:][:min(len(sum), cols-j)]
			for q := range dst {
				if accumulate {
					dst[q] += sum[q]
				} else {
					dst[q] = sum[q]
				}
			}
		}
	}
}

// dot8 sets sum[q] = Σ a[p*stride] * b[p*w+q] over p < k.
func dot8(sum *[8]float32, a []float32, stride int, b []float32, w, k int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for p := range k {
		v := a[p*stride]
		r := (*[8]float32)(b[p*w:])
		s0 += v * r[0]
		s1 += v * r[1]
		s2 += v * r[2]
		s3 += v * r[3]
		s4 += v * r[4]
		s5 += v * r[5]
		s6 += v * r[6]
		s7 += v * r[7]
	}
	*sum = [8]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}
