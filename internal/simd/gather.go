package simd

import "unsafe"

// GatherSum adds a sum of rows of src to acc: acc[c] += Σ src[idx[i]*ld + c] for
// c < len(acc). The sum starts at zero and is added up in order of i, and then it is added to acc
// once. src starts at the first column wanted, so a
// tile of columns is gathered by slicing src. Every index must name a row of
// src: the assembly does not check.
//
// The assembly also reads indices beyond len(idx), up to cap(idx), to
// prefetch the rows that they name. So idx should be a slice of one list of all indices.
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

// sumTile is the number of columns that the Go loops sum at a time.
const sumTile = 16

// GatherWSum is GatherSum with a weight for each edge:
// acc[c] += Σ w[i] * src[idx[i]*ld + c]. Products are rounded before they are added, so
// the bits are those of GatherRows, RowScale and SumRows. So the sum does not depend on
// whether a program also needs the products for something else.
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
		moreProducts(sum[:len(part)], src[c0:], ld, idx, w)
		for c := range part {
			part[c] += sum[c]
		}
	}
}

// GatherWMore continues the sum of a GatherWSum:
// sum[c] = sum[c] + w[0]*src[idx[0]*ld + c] + ..., one after the other. If sum is zero at first, a sum made in
// pieces has the same bits as one made at once.
func GatherWMore(sum, src []float32, ld int, idx []uint32, w []float32) {
	if len(sum) == 0 || len(idx) == 0 {
		return
	}
	w = w[:len(idx)]
	if !gatherWMoreAsm(sum, src, ld, idx, w) {
		moreProducts(sum, src, ld, idx, w)
	}
}

func moreProducts(sum, src []float32, ld int, idx []uint32, w []float32) {
	for i, j := range idx {
		a := w[i]
		for c, y := range src[int(j)*ld:][:len(sum)] {
			sum[c] += float32(y * a)
		}
	}
}

// GatherSums sums groups of rows of src, each times its number of w: row i of dst, of cols columns, becomes the sum over the indices from
// ends[i-1], 0 for the first, to ends[i], as GatherWMore adds to zeros. Indices are as those of GatherSum; ends ascend to len(idx).
func GatherSums(dst []float32, cols int, src []float32, ld int, idx []uint32, w []float32, ends []uint32) {
	if cols <= 0 || len(ends) == 0 {
		return
	}
	dst, w = dst[:len(ends)*cols], w[:len(idx)]
	if gatherSumsAsm(dst, cols, src, ld, idx, w, ends) {
		return
	}
	clear(dst)
	lo := uint32(0)
	for i, hi := range ends {
		moreProducts(dst[i*cols:(i+1)*cols], src, ld, idx[lo:hi], w[lo:hi])
		lo = hi
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

// MatchRows finds the numbers of rows of src that are equal to one number for each row: bit c%64 of word c/64 of row i of found
// tells whether src[idx[i]*ld + c] = want[i], for c < cols. A row of found has cols/64 words, rounded up; the bits behind cols are
// 0. Indices are as those of GatherSum.
func MatchRows(found []uint64, src []float32, ld int, idx []uint32, want []float32, cols int) {
	if cols <= 0 || len(idx) == 0 {
		return
	}
	words := (cols + 63) / 64
	found, want = found[:len(idx)*words], want[:len(idx)]
	clear(found)
	if matchRowsAsm(found, words, src, ld, idx, want, cols) {
		return
	}
	for i, j := range idx {
		for c, y := range src[int(j)*ld:][:cols] {
			if y == want[i] {
				found[i*words+c/64] |= 1 << (c % 64)
			}
		}
	}
}

// GatherFour is, for the rows idx of src, which have ascending ranks: their sum, the sum of their squares, their maximum (MaxRows)
// and its rank, the maximum of -x and its rank. These are the slices of to, in this order, of cols numbers, nil those that are not
// wanted, a rank without its maximum among them. With more it continues what they hold, of rows with lower ranks; else it writes over them, with stream past the caches
// where they begin at lines: Fence must follow. Without rows it does nothing. Indices are as those of GatherSum.
func GatherFour(to *[6][]float32, cols int, src []float32, ld int, idx []uint32, rank []float32, more, stream bool) {
	if len(idx) == 0 || cols <= 0 {
		return
	}
	for i, x := range to {
		if x != nil {
			_ = x[cols-1]
			stream = stream && uintptr(unsafe.Pointer(unsafe.SliceData(to[i])))%64 == 0
		}
	}
	rank = rank[:len(idx)]
	if gatherFourAsm(to, cols, src, ld, idx, rank, more, stream) {
		return
	}
	fourRows(to, cols, src, ld, idx, rank, more)
}

func fourRows(to *[6][]float32, cols int, src []float32, ld int, idx []uint32, rank []float32, more bool) {
	held := *to
	for i, x := range held {
		if x == nil {
			held[i] = make([]float32, cols)
		}
	}
	sum, squares, top, topRank, low, lowRank := held[0], held[1], held[2], held[3], held[4], held[5]
	if !more {
		x := src[int(idx[0])*ld:][:cols]
		clear(sum)
		clear(squares)
		copy(top, x)
		Neg(low, x)
		Fill(topRank, rank[0])
		Fill(lowRank, rank[0])
	}
	for i, j := range idx {
		r := rank[i]
		for c, y := range src[int(j)*ld:][:cols] {
			sum[c] += y
			squares[c] += float32(y * y)
			if a := top[c]; y > a || y != y && a == a {
				top[c], topRank[c] = y, r
			}
			if a := low[c]; -y > a || y != y && a == a {
				low[c], lowRank[c] = -y, r
			}
		}
	}
}
