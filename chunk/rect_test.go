package chunk

import (
	"slices"
	"testing"
)

// Three own rows read two far rows: the transpose has the same edges by far row, in order,
// with their values, and transposed again it is what it was.
func TestRectTranspose(t *testing.T) {
	w := Want{Rank: true, Type: true, Weight: true, Data: true}
	var a, b, c Rect
	a.Resize(3, 4, w, 2)
	v := a.View()
	copy(v.Ptr, []uint32{0, 2, 2, 4})
	copy(v.Other, []uint32{1, 0, 1, 1})
	copy(v.Rank, []float32{0, 1, 0, 1})
	copy(v.Type, []uint32{5, 6, 7, 8})
	copy(v.Weight, []float32{.1, .2, .3, .4})
	copy(v.Data, []float32{1, 2, 3, 4, 5, 6, 7, 8})
	b.Resize(9, 99, w, 2) // memory that was used before
	for i := range b.Mem {
		b.Mem[i] = 255
	}
	b.Transpose(&a, 2, w)
	got := b.View()
	if !slices.Equal(got.Ptr, []uint32{0, 1, 4}) || !slices.Equal(got.Other, []uint32{0, 0, 2, 2}) ||
		!slices.Equal(got.Type, []uint32{6, 5, 7, 8}) || !slices.Equal(got.Weight, []float32{.2, .1, .3, .4}) ||
		!slices.Equal(got.Rank, []float32{1, 0, 0, 1}) || !slices.Equal(got.Data, []float32{3, 4, 1, 2, 5, 6, 7, 8}) {
		t.Errorf("transposed: %+v", got)
	}
	c.Transpose(&b, 3, w)
	if again := c.View(); !slices.Equal(again.Ptr, v.Ptr) || !slices.Equal(again.Other, []uint32{0, 1, 1, 1}) || !slices.Equal(again.Type, []uint32{6, 5, 7, 8}) {
		t.Errorf("transposed twice: %+v", again)
	}
}
