package kernel

import (
	"math"
	"testing"
)

// Ordered patterns compare as their numbers do, and become the same numbers again.
func TestOrdered(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{-inf, -math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 0.5, 1, math.MaxFloat32, inf}
	for i, v := range x {
		if got := Unordered(Ordered(v)); got != v {
			t.Errorf("%v became %v", v, got)
		}
		if Ordered(v) == 0 {
			t.Errorf("%v looks like nothing", v)
		}
		if i > 0 && Ordered(v) <= Ordered(x[i-1]) {
			t.Errorf("%v does not stand above %v", v, x[i-1])
		}
	}
	nan := float32(math.NaN())
	if Ordered(nan) <= Ordered(inf) || Ordered(-nan) != Ordered(nan) || Unordered(Ordered(nan)) == Unordered(Ordered(nan)) {
		t.Error("not a number is not the largest")
	}
	if Unordered(0) != 0 {
		t.Error("nothing is not 0")
	}
}
