package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
	"sagann/internal/simd"
	"sagann/kernel"
)

// Rows of bfloat16 are stored as 32-bit words, which are moved as if they were float32. A word has columns 2k
// (low half) and 2k+1 (high half) of a row. In a row of odd width the high half of the last word is
// zero. The compiler inserts these ops (dataflow/storage.go); users do not call them.

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

// bfloat16 is x rounded to 8 bits of mantissa, to nearest with ties to even. NaN stays
// NaN; numbers that are too large become infinite.
func bfloat16(x float32) uint32 {
	b := math.Float32bits(x)
	if x != x {
		return b>>16 | 0x40 // if only low mantissa bits are set, dropping them would leave an infinity
	}
	return (b + 0x7fff + b>>16&1) >> 16
}
