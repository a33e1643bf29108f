package simd

import "math"

// RepeatRow writes row n times into dst, one copy after the other; dst holds at
// least n*len(row) floats.
func RepeatRow(dst, row []float32, n int) {
	w := len(row)
	if n <= 0 || w == 0 {
		return
	}
	dst = dst[:n*w]
	done := copy(dst, row)
	for done < len(dst) {
		// Doubling keeps the copies long for narrow rows; the bound keeps
		// their source in the L1 cache.
		done += copy(dst[done:], dst[:min(done, max(w, 2048/w*w))])
	}
}

// SumRows adds the sum of n dense rows of x, each len(acc) wide, to acc:
// acc[c] += x[0][c] + x[1][c] + .... The sum starts at zero and is added up in that order.
func SumRows(acc, x []float32, n int) {
	w := len(acc)
	if n <= 0 || w == 0 {
		return
	}
	x = x[:n*w]
	if sumRowsAsm(acc, x, n) {
		return
	}
	for c0 := 0; c0 < w; c0 += sumTile {
		var sum [sumTile]float32
		part := acc[c0:min(c0+sumTile, w)]
		for at := c0; at < len(x); at += w {
			for c, y := range x[at : at+len(part)] {
				sum[c] += y
			}
		}
		for c := range part {
			part[c] += sum[c]
		}
	}
}

// MoreRows continues the sum of a SumRows:
// sum[c] = sum[c] + x[0][c] + x[1][c] + ..., one after the other. If sum is zero at first, a sum made in pieces
// has the same bits as one made at once.
func MoreRows(sum, x []float32, n int) {
	w := len(sum)
	if n <= 0 || w == 0 {
		return
	}
	x = x[:n*w]
	if moreRowsAsm(sum, x, n) {
		return
	}
	for ; len(x) > 0; x = x[w:] {
		for c := range sum {
			sum[c] += x[c]
		}
	}
}

// MaxRows updates the maximum of each column, acc, with len(rank) dense rows
// of x, and arg with the rank of the row that has the maximum. NaN counts as larger than numbers. Of equal
// numbers the lowest rank is taken, so the order of rows does not matter.
func MaxRows(acc, arg, x, rank []float32) {
	w := len(acc)
	if len(rank) == 0 || w == 0 {
		return
	}
	arg, x = arg[:w], x[:len(rank)*w]
	if maxRowsAsm(acc, arg, x, rank) {
		return
	}
	for i, r := range rank {
		for c, y := range x[i*w : (i+1)*w] {
			a := acc[c]
			if y < a {
				continue
			}
			if y > a || y != y && a == a || r < arg[c] && (y == a || y != y) {
				acc[c], arg[c] = y, r
			}
		}
	}
}

// RowScale sets dst[r][c] = x[r][c] * s[r] for the len(dst)/cols rows of dst.
// len(dst) must be a multiple of cols.
func RowScale(dst, x, s []float32, cols int) {
	if cols <= 0 || len(dst) == 0 {
		return
	}
	rows := wholeRows("RowScale", len(dst), cols)
	x, s = x[:len(dst)], s[:rows]
	if rowScaleAsm(dst, x, s, cols) {
		return
	}
	for r, a := range s {
		for i := r * cols; i < (r+1)*cols; i++ {
			dst[i] = x[i] * a
		}
	}
}

// UnpackHalf converts len(dst) bfloat16 numbers, which are the upper halves of floats, to float32. Each word
// of x has two: dst[2k] is the lower half of x[k], dst[2k+1] the upper half. x has at
// least len(dst)/2 words, rounded up.
func UnpackHalf(dst, x []float32) {
	x = x[:(len(dst)+1)/2]
	k := len(dst) &^ 7
	if k == 0 || !unpackHalfAsm(dst[:k], x) {
		k = 0
	}
	for ; k < len(dst); k++ {
		w := math.Float32bits(x[k/2])
		if k%2 == 0 {
			w <<= 16
		}
		dst[k] = math.Float32frombits(w & 0xffff0000)
	}
}

// Widen repeats each of the h columns of x f/h times: dst (rows×f) at [r][c]
// is x (rows×h) at [r][c/(f/h)]. h must divide f.
func Widen(dst, x []float32, rows, h, f int) {
	if rows <= 0 || f == 0 {
		return
	}
	d := groupWidth("Widen", h, f)
	dst, x = dst[:rows*f], x[:rows*h]
	if d == 1 {
		copy(dst, x)
		return
	}
	if rowFillAsm(dst, x, d) {
		return
	}
	for r, a := range x {
		for i := r * d; i < (r+1)*d; i++ {
			dst[i] = a
		}
	}
}

// GroupSum is the adjoint of Widen: dst (rows×h) at [r][j] is the sum of the
// j-th group of f/h neighbouring columns of x (rows×f). h must divide f.
func GroupSum(dst, x []float32, rows, f, h int) {
	if rows <= 0 || h == 0 {
		return
	}
	d := groupWidth("GroupSum", h, f)
	dst, x = dst[:rows*h], x[:rows*f]
	if d == 1 {
		copy(dst, x)
		return
	}
	if rowSumAsm(dst, x, d) {
		return
	}
	for r := range dst {
		var s float32
		for _, v := range x[r*d : (r+1)*d] {
			s += v
		}
		dst[r] = s
	}
}
