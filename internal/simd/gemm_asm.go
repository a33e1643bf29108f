//go:build amd64 && !noasm

package simd

// gemmPanelAsm runs the kernel for a panel of w columns at level l and reports
// whether there is one. See gemmPanel for the arguments.
func gemmPanelAsm(l Level, m int, t tileA, b []float32, w, kc int, c []float32, ldc, cols int, accumulate bool) bool {
	if l == Go {
		return false
	}
	full, _ := l.panelWidths()
	a, pb, pc := &t.a[0], &b[0], &c[0]
	switch {
	case l == AVX512 && w == full:
		gemmPanelAVX512(m, a, t.row, t.col, t.step, pb, kc, pc, ldc, cols, accumulate)
	case l == AVX512:
		gemmHalfAVX512(m, a, t.row, t.col, t.step, pb, kc, pc, ldc, cols, accumulate)
	case w == full:
		gemmPanelAVX2(m, a, t.row, t.col, t.step, pb, kc, pc, ldc, cols, accumulate)
	default:
		gemmHalfAVX2(m, a, t.row, t.col, t.step, pb, kc, pc, ldc, cols, accumulate)
	}
	return true
}
