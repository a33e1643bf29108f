package chunk

import (
	"slices"
	"testing"
)

// TestSymmetricTimes: the reverse of an edge has its time, and one of another time is none.
func TestSymmetricTimes(t *testing.T) {
	e := &Edges{V: 3, Src: []uint32{0, 1, 0, 2, 1, 0}, Dst: []uint32{1, 0, 1, 2, 0, 1}, Time: []float64{1, 2, 2, 3, 5, 1}}
	s := e.Symmetric()
	if !slices.Equal(s.Src[6:], []uint32{1, 0, 1}) || !slices.Equal(s.Dst[6:], []uint32{0, 1, 0}) || !slices.Equal(s.Time[6:], []float64{1, 5, 1}) {
		t.Errorf("%v %v %v", s.Src[6:], s.Dst[6:], s.Time[6:])
	}
	if again := s.Symmetric(); again.E() != s.E() {
		t.Errorf("%d edges, and %d were there", again.E(), s.E())
	}
}
