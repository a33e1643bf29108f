package simd

// Products are computed panel by panel. A panel is kc rows of B, w columns wide, stored
// densely, so that it stays in the L1 cache while rows of A are read. The
// tile of C in registers starts at zero for each panel and is added to C (or
// stored) at its end. So every element of C is one chain of multiply-adds
// per block of k, for any number of rows, and splitting the rows of A
// over goroutines changes no bit.

const (
	gemmKC = 256 // rows of B in a panel
	gemmMC = 240 // rows of A that are read before the next panel: they stay in the L2 cache
)

// panelWidths returns the width of a panel and of a half panel, which is used
// at the right edge if it is wide enough.
func (l Level) panelWidths() (full, half int) {
	switch l {
	case AVX512:
		return 32, 16
	default:
		return 16, 8
	}
}

// padded returns n rounded up to whole panels, the last one full or half.
func (l Level) padded(n int) int {
	_, half := l.panelWidths()
	return (n + half - 1) / half * half
}

// PackedB is the right operand of a product, laid out for the kernels by PackB.
// It is read-only: any number of goroutines may use it at once.
type PackedB struct {
	k, n  int
	level Level // whose panel widths were used
	data  []float32
}

// Dims returns the shape of the matrix that was packed.
func (b *PackedB) Dims() (k, n int) { return b.k, b.n }

// PackedBSize returns the number of floats that PackB needs for a k×n matrix.
func PackedBSize(k, n int) int { return k * active.padded(n) }

// PackB lays out b for GemmPacked. b is k×n with leading dimension ldb, or with
// trans its transpose: n×k. The result lives in buf when that is large enough
// (PackedBSize) and in new memory otherwise; buf must not be reused while the
// result is in use.
func PackB(b []float32, ldb, k, n int, trans bool, buf []float32) PackedB {
	if trans {
		checkMatrix("PackB", "b", len(b), n, k, ldb)
	} else {
		checkMatrix("PackB", "b", len(b), k, n, ldb)
	}
	size := PackedBSize(k, n)
	if len(buf) < size {
		buf = make([]float32, size)
	}
	p := PackedB{k: k, n: n, level: active, data: buf[:size]}
	if n == 0 {
		return p
	}
	for k0 := 0; k0 < k; k0 += gemmKC {
		kc := min(gemmKC, k-k0)
		block := p.data[k0*p.level.padded(n):]
		if trans {
			packPanelsT(p.level, block, b[k0:], ldb, kc, n)
		} else {
			packPanels(p.level, block, b[k0*ldb:], ldb, kc, n)
		}
	}
	return p
}

// packPanels copies kc rows of b, n wide, into panels, zeros at the right edge.
func packPanels(l Level, dst, b []float32, ldb, kc, n int) {
	full, _ := l.panelWidths()
	for j := 0; j < n; j += full {
		w := min(full, l.padded(n)-j)
		copyTile(dst[j*kc:], w, b[j:], ldb, kc, min(w, n-j))
	}
}

// copyTile copies rows×cols floats of src to rows of w >= cols floats each and
// sets the rest of each row to zero.
func copyTile(dst []float32, w int, src []float32, ld, rows, cols int) {
	if copyTileAsm(dst, w, src, ld, rows, cols) {
		return
	}
	for p := range rows {
		row := dst[p*w : (p+1)*w]
		clear(row[copy(row, src[p*ld:][:cols]):])
	}
}

// packPanelsT is packPanels for a transposed b: n rows, kc of its columns.
func packPanelsT(l Level, dst, b []float32, ldb, kc, n int) {
	full, _ := l.panelWidths()
	for j := 0; j < n; j += full {
		w := min(full, l.padded(n)-j)
		panel := dst[j*kc:][:w*kc]
		cols := min(w, n-j)
		if cols < w {
			clear(panel)
		}
		for c := range cols {
			row := b[(j+c)*ldb:][:kc]
			for p, v := range row {
				panel[p*w+c] = v
			}
		}
	}
}

// GemmScratch returns the number of floats of scratch that GemmPacked needs.
// It is 0, as the kernels read A in place.
func GemmScratch(k, n int) int { return 0 }

// GemmPacked sets C = A·B, or adds A·B to C when accumulate is set. A is m×k
// with leading dimension lda, B is packed, C is m×n with leading dimension ldc.
// A row of C does not depend on m, bit for bit, so that goroutines may share
// the rows among them in any way. C must not overlap A.
func GemmPacked(m int, a []float32, lda int, b *PackedB, c []float32, ldc int, accumulate bool, scratch []float32) {
	k, n := b.k, b.n
	checkMatrix("GemmPacked", "a", len(a), m, k, lda)
	checkMatrix("GemmPacked", "c", len(c), m, n, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !accumulate {
			for i := range m {
				clear(c[i*ldc:][:n])
			}
		}
		return
	}
	full, _ := b.level.panelWidths()
	np := b.level.padded(n)
	for i0 := 0; i0 < m; i0 += gemmMC {
		mc := min(gemmMC, m-i0)
		for k0 := 0; k0 < k; k0 += gemmKC {
			kc := min(gemmKC, k-k0)
			left := tileA{a: a[i0*lda+k0:], row: lda, col: 1, step: lda}
			for j := 0; j < n; j += full {
				w := min(full, np-j)
				panel := b.data[k0*np+j*kc:][:kc*w]
				gemmPanel(b.level, mc, left, panel, w, kc, c[i0*ldc+j:], ldc, min(w, n-j), accumulate || k0 > 0)
			}
		}
	}
}
