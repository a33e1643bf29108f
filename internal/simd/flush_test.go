package simd

import (
	"math"
	"testing"
)

// TestFlushSubnormals: arithmetic flushes, moves do not, and it ends.
func TestFlushSubnormals(t *testing.T) {
	tiny := []float32{math.Float32frombits(77)}
	bits := make([]float32, 1)
	sum := make([]float32, 1)
	restore := FlushSubnormals()
	RepeatRow(bits, tiny, 1)
	Add(sum, tiny, tiny)
	restore()
	if got := math.Float32bits(bits[0]); got != 77 {
		t.Errorf("a moved word is %d, want 77", got)
	}
	t.Logf("sum of two subnormals while flushing: %v", sum[0])
	Add(sum, tiny, tiny)
	if got := math.Float32bits(sum[0]); got != 154 {
		t.Errorf("after the end the sum is %d, want 154", got)
	}
}
