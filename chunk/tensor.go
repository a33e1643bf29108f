package chunk

import "fmt"

// LD is the leading dimension, in values, of rows of cols values: 1, 2 and 4
// for up to 4 columns, then multiples of 8 up to 32 and multiples of 32 above.
// So rows start where vector loads are aligned, and wide rows at the lines of a
// GPU's cache: gathering rows of 50 columns took 1.4 times as long with LD 56 as with LD 64.
func LD(cols int) int {
	switch {
	case cols <= 2:
		return cols
	case cols <= 4:
		return 4
	case cols <= 32:
		return (cols + 7) &^ 7
	}
	return (cols + 31) &^ 31
}

// Permute writes the rows of src, V×cols in user order, to dst, V rows of ldDst
// values in new order; the padding is set to zero. It is one pass on all processors and takes no
// more memory. It panics when a length does not fit.
func Permute(dst, src []float32, cols, ldDst int, o *Order) {
	PermuteRows(dst, src, cols, ldDst, o, 0, tensorRows(src, cols, dst, ldDst, o))
}

// PermuteRows writes the rows first..end-1, in new order, of the result of Permute. dst holds only these
// rows.
func PermuteRows(dst, src []float32, cols, ldDst int, o *Order, first, end int) {
	Ranges(end-first, func(lo, hi int) {
		for n := lo; n < hi; n++ {
			from := first + n
			if o != nil {
				from = int(o.Old[from])
			}
			row := dst[n*ldDst : (n+1)*ldDst]
			copy(row, src[from*cols:(from+1)*cols])
			clear(row[cols:])
		}
	})
}

// Unpermute undoes Permute: it writes the rows of src, V rows of ldSrc values in
// new order, to dst, V×cols in user order. It panics when a length does not fit.
func Unpermute(dst, src []float32, cols, ldSrc int, o *Order) {
	v := tensorRows(dst, cols, src, ldSrc, o)
	Ranges(v, func(lo, hi int) {
		for n := lo; n < hi; n++ {
			to := n
			if o != nil {
				to = int(o.Old[n])
			}
			copy(dst[to*cols:(to+1)*cols], src[n*ldSrc:])
		}
	})
}

// UnpermuteRows writes the rows first..end-1, in user order, of the result of Unpermute. dst holds only
// these rows.
func UnpermuteRows(dst, src []float32, cols, ldSrc int, o *Order, first, end int) {
	Ranges(end-first, func(lo, hi int) {
		for n := lo; n < hi; n++ {
			from := first + n
			if o != nil {
				from = int(o.New[from])
			}
			copy(dst[n*cols:(n+1)*cols], src[from*ldSrc:])
		}
	})
}

// tensorRows is the number of rows of a user tensor of cols columns, which a
// padded tensor must have too.
func tensorRows(user []float32, cols int, padded []float32, ld int, o *Order) int {
	if cols < 0 || ld < cols {
		panic(fmt.Sprintf("chunk: leading dimension %d for %d columns", ld, cols))
	}
	if cols == 0 {
		clear(padded)
		return 0
	}
	v := len(user) / cols
	if v*cols != len(user) || len(padded) != v*ld {
		panic(fmt.Sprintf("chunk: %d values for rows of %d columns, %d values for rows of %d", len(user), cols, len(padded), ld))
	}
	if o != nil && len(o.Old) != v {
		panic(fmt.Sprintf("chunk: order of %d vertices for a tensor of %d rows", len(o.Old), v))
	}
	return v
}
