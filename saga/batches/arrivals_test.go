package batches

import "testing"

// TestArrivals: of three vertices of a batch one was in the third batch before, one in the fourth and one in none. Two come over the link
// where rows of three batches are kept, three where rows of two are, and those that are hot do not.
func TestArrivals(t *testing.T) {
	a, degrees := arrivals{of: 12}, make([]uint32, 40)
	for k := range uint32(12) {
		a.add([]uint32{k % 3, 10 + k%4, 20 + k}, len(degrees))
	}
	for _, x := range []struct {
		hot, kept int
		want      float64
	}{{0, 2, 3}, {0, 3, 2}, {3, 2, 2}} {
		if got := a.rows(x.hot, x.kept, degrees); got != x.want {
			t.Errorf("%d hot rows, %d batches kept: %v rows of a batch, want %v", x.hot, x.kept, got, x.want)
		}
	}
}
