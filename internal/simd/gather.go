package simd

// GatherSum adds a sum of rows of src to acc: acc[c] += Σ src[idx[i]*ld + c] for
// c < len(acc), the sum made from zero, the i in order, so what acc holds takes
// part in one addition only. src starts at the first column wanted, so a
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
	for c0 := 0; c0 < len(acc); c0 += sumTile {
		var sum [sumTile]float32
		part := acc[c0:min(c0+sumTile, len(acc))]
		for _, j := range idx {
			for c, y := range src[int(j)*ld+c0:][:len(part)] {
				sum[c] += y
			}
		}
		for c := range part {
			part[c] += sum[c]
		}
	}
}

// sumTile is how many columns the Go loops sum at a time.
const sumTile = 16

// GatherWSum is GatherSum with a weight for each edge:
// acc[c] += Σ w[i] * src[idx[i]*ld + c].
func GatherWSum(acc, src []float32, ld int, idx []uint32, w []float32) {
	if len(acc) == 0 || len(idx) == 0 {
		return
	}
	w = w[:len(idx)]
	if gatherWSumAsm(acc, src, ld, idx, w) {
		return
	}
	for c0 := 0; c0 < len(acc); c0 += sumTile {
		var sum [sumTile]float32
		part := acc[c0:min(c0+sumTile, len(acc))]
		for i, j := range idx {
			a := w[i]
			for c, y := range src[int(j)*ld+c0:][:len(part)] {
				sum[c] += y * a
			}
		}
		for c := range part {
			part[c] += sum[c]
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
