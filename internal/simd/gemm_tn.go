package simd

// GemmTNScratch returns the number of floats of scratch that GemmTN needs: one
// block of gemmKC rows of both operands, packed.
func GemmTNScratch(k, m, n int) int {
	kc := min(k, gemmKC)
	return kc * (active.padded(n) + paddedRows(active, m))
}

// paddedRows returns m rounded up to whole row blocks of the kernels.
func paddedRows(l Level, m int) int {
	mr := l.blockRows()
	return (m + mr - 1) / mr * mr
}

// GemmTN adds Aᵀ·B to C. A is k×m with leading dimension lda, B is k×n with
// leading dimension ldb, C is m×n with leading dimension ldc; this is the
// gradient of a weight by k rows of its input and of its output's gradient.
// The k rows are summed in blocks of gemmKC, in order. scratch holds at least
// GemmTNScratch(k, m, n) floats; too short a one is replaced by new memory. C
// must overlap neither A nor B.
func GemmTN(k, m, n int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, scratch []float32) {
	checkMatrix("GemmTN", "a", len(a), k, m, lda)
	checkMatrix("GemmTN", "b", len(b), k, n, ldb)
	checkMatrix("GemmTN", "c", len(c), m, n, ldc)
	if k == 0 || m == 0 || n == 0 {
		return
	}
	if size := GemmTNScratch(k, m, n); len(scratch) < size {
		scratch = make([]float32, size)
	}
	l := active
	mr, np := l.blockRows(), l.padded(n)
	full, _ := l.panelWidths()
	for k0 := 0; k0 < k; k0 += gemmKC {
		kc := min(gemmKC, k-k0)
		pb, pa := scratch[:kc*np], scratch[kc*np:]
		packPanels(l, pb, b[k0*ldb:], ldb, kc, n)
		for i := 0; i < m; i += mr {
			copyTile(pa[i*kc:], mr, a[k0*lda+i:], lda, kc, min(mr, m-i))
		}
		// In a packed block the rows of Aᵀ are neighbours and its columns mr apart.
		left := tileA{a: pa, row: 1, col: mr, step: kc}
		for j := 0; j < n; j += full {
			w := min(full, np-j)
			gemmPanel(l, m, left, pb[j*kc:][:kc*w], w, kc, c[j:], ldc, min(w, n-j), true)
		}
	}
}
