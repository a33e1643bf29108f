package ops

import (
	"math"
	"testing"

	"sagann/dataflow"
	"sagann/kernel"
)

// packed runs pack and unpack over one row; words are what lies between.
func packed(x ...float32) (words, y []float32) {
	words, y = make([]float32, (len(x)+1)/2), make([]float32, len(x))
	dataflow.DefOf(pack).CPU(&kernel.Args{Rows: 1, Out: words, OutCols: len(words), In: [][]float32{x}, InCols: []int{len(x)}})
	dataflow.DefOf(unpack).CPU(&kernel.Args{Rows: 1, Out: y, OutCols: len(y), In: [][]float32{words}, InCols: []int{len(words)}})
	return words, y
}

// TestPack: to the nearest of 8 bits, ties to even; signs, infinities and NaN stay.
func TestPack(t *testing.T) {
	inf := float32(math.Inf(1))
	ones := math.Float32frombits
	for _, c := range [][2]float32{
		{1, 1}, {-2.5, -2.5}, {0, 0}, {inf, inf}, {-inf, -inf},
		{1 + 1./256, 1}, {1 + 3./256, 1 + 4./256}, // ties
		{1 + 1.01/256, 1 + 2./256}, {-1 - 2.99/256, -1 - 2./256},
		{math.MaxFloat32, inf}, {ones(0x7f7f0000), ones(0x7f7f0000)},
		{ones(0x00018000), ones(0x00020000)}, {ones(1), 0}, // below the normal numbers
	} {
		if _, y := packed(c[0], 7, c[0]); y[0] != c[1] || y[1] != 7 || y[2] != c[1] {
			t.Errorf("%v is kept as %v, want %v, 7, %[3]v", c[0], y, c[1])
		}
	}
	if _, y := packed(float32(math.Copysign(0, -1)), 1); !math.Signbit(float64(y[0])) {
		t.Error("-0 has lost its sign")
	}
	for _, bits := range []uint32{0x7fc00000, 0x7f800001, 0xffffffff, 0x7f80ffff} {
		if _, y := packed(1, ones(bits)); !math.IsNaN(float64(y[1])) || y[0] != 1 {
			t.Errorf("NaN %#x is kept as %v", bits, y[1])
		}
	}
	if words, _ := packed(1, -2, 3); math.Float32bits(words[0]) != 0xc0003f80 || math.Float32bits(words[1]) != 0x00004040 {
		t.Errorf("1, -2, 3 are words %#x, %#x", math.Float32bits(words[0]), math.Float32bits(words[1]))
	}
}

// TestPackNearest: no number of 8 bits is nearer than the one that is kept.
func TestPackNearest(t *testing.T) {
	for b := uint32(0x3f7f0000); b < 0x40010000; b += 7 {
		x := math.Float32frombits(b)
		_, y := packed(x)
		low, high := math.Float32frombits(b&^0xffff), math.Float32frombits(b&^0xffff+0x10000)
		if d := math.Abs(float64(y[0] - x)); d > math.Abs(float64(low-x)) || d > math.Abs(float64(high-x)) {
			t.Fatalf("%v is kept as %v, between %v and %v", x, y[0], low, high)
		}
	}
}
