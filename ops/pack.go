package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
	"sagann/internal/simd"
	"sagann/kernel"
)

// Rows of bfloat16. A word, which moves as a float but is none, holds columns 2k (low
// half) and 2k+1 (high half) of a row; the high half of the last word of a row of odd
// width is zero. The compiler puts these ops in (dataflow/storage.go), users do not.

const pack = dataflow.PackOp

var _ = define(pack, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) {
		s := in[0]
		s.Cols = (s.Cols + 1) / 2
		return s, nil
	},
	CPU: eachRow(func(dst, x []float32) {
		for k := range dst {
			w := bfloat16(x[2*k])
			if 2*k+1 < len(x) {
				w |= bfloat16(x[2*k+1]) << 16
			}
			dst[k] = math.Float32frombits(w)
		}
	}), CUDA: "saga_pack($0[2 * $C], 2 * $C + 1 < $W0 ? $0[2 * $C + 1] : 0.f)"})

const unpack = dataflow.UnpackOp

var _ = define(unpack, Def{Class: dataflow.Row, Role: kernel.Unpack,
	Shape: func(a attr, in []shape) (shape, error) {
		s := in[0]
		if int(a.I) != 2*s.Cols && int(a.I) != 2*s.Cols-1 {
			return s, fmt.Errorf("%d words do not hold %d columns", s.Cols, a.I)
		}
		s.Cols = int(a.I)
		return s, nil
	},
	CPU: func(a *Args) {
		if a.OutCols%2 == 0 { // no word is shared by rows
			simd.UnpackHalf(a.Out, a.In[0])
			return
		}
		for r := range a.Rows {
			simd.UnpackHalf(outRow(a, r), inRow(a, 0, r))
		}
	}, CUDA: "saga_unpack($0[$C / 2], $C)"})

// bfloat16 is x rounded to 8 bits of mantissa, to the nearest and ties to even. NaN stays
// NaN and too large is infinite.
func bfloat16(x float32) uint32 {
	b := math.Float32bits(x)
	if x != x {
		return b>>16 | 0x40 // the bits of NaN that say so may all have been in the lower half
	}
	return (b + 0x7fff + b>>16&1) >> 16
}
