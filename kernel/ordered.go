package kernel

import "math"

// A maximum is collected as Ordered numbers: bit patterns that compare as unsigned
// integers the way their floats compare, and in which 0 stands for no number at all.
// Memory that was cleared then holds the maximum of nothing, and two halves of a
// maximum become one by comparing integers, in any order.

const sign = 1 << 31

// Ordered is the ordered bit pattern of x. NaN is the largest.
func Ordered(x float32) uint32 {
	if x != x {
		return math.MaxUint32
	}
	if b := math.Float32bits(x); b < sign {
		return b | sign
	} else {
		return ^b
	}
}

// Unordered is the number of an ordered bit pattern; that of nothing is 0.
func Unordered(b uint32) float32 {
	switch {
	case b == 0:
		return 0
	case b >= sign:
		return math.Float32frombits(b &^ sign)
	}
	return math.Float32frombits(^b)
}
