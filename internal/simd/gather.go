package simd

// GatherSum adds rows of src to acc: acc[c] += src[idx[i]*ld + c] for
// c < len(acc), the i in order. src starts at the first column wanted, so a
// tile of columns is gathered by slicing src. Every index must name a row of
// src: the assembly does not check.
//
// The assembly reads indices beyond len(idx), as far as cap(idx) allows, to
// prefetch the rows that they name; it does nothing else with them. Rows are
// therefore best cut from one list of all indices.
func GatherSum(acc, src []float32, ld int, idx []uint32) {
	if len(acc) == 0 || len(idx) == 0 {
		return
	}
	if gatherSumAsm(acc, src, ld, idx) {
		return
	}
	for _, j := range idx {
		row := src[int(j)*ld:][:len(acc)]
		for c := range acc {
			acc[c] += row[c]
		}
	}
}

// GatherWSum is GatherSum with a weight for each edge:
// acc[c] += w[i] * src[idx[i]*ld + c]. The product is rounded before it is added, so
// the bits are those of GatherRows, RowScale and SumRows: whether a program needs the
// products for something else does not change the sum.
func GatherWSum(acc, src []float32, ld int, idx []uint32, w []float32) {
	if len(acc) == 0 || len(idx) == 0 {
		return
	}
	w = w[:len(idx)]
	if gatherWSumAsm(acc, src, ld, idx, w) {
		return
	}
	for i, j := range idx {
		row := src[int(j)*ld:][:len(acc)]
		a := w[i]
		for c := range acc {
			acc[c] += float32(row[c] * a)
		}
	}
}

// GatherRows copies row idx[i] of src, cols wide and ld apart, to row i of dst,
// which is dense: len(idx) rows of cols floats. Every index must name a row of
// src: the assembly does not check.
func GatherRows(dst, src []float32, ld int, idx []uint32, cols int) {
	if cols <= 0 || len(idx) == 0 {
		return
	}
	dst = dst[:len(idx)*cols]
	if gatherRowsAsm(dst, src, ld, idx, cols) {
		return
	}
	for i, j := range idx {
		copy(dst[i*cols:(i+1)*cols], src[int(j)*ld:][:cols])
	}
}
