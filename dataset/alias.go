package dataset

import "math/rand/v2"

// alias draws indices 0..n-1 in proportion to given weights in constant time
// (Walker's method): a uniform slot, then the slot itself or its alias.
type alias struct {
	keep  []float64 // probability to stay in the slot
	other []uint32
}

// newAlias builds the table in O(n); weights must be positive.
func newAlias(weights []float64) *alias {
	n := len(weights)
	t := &alias{keep: make([]float64, n), other: make([]uint32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	// Slots with less than the mean borrow the rest from one with more.
	var small, large []int
	for i, w := range weights {
		t.keep[i] = w * float64(n) / sum
		t.other[i] = uint32(i)
		if t.keep[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.other[s] = uint32(l)
		t.keep[l] -= 1 - t.keep[s]
		if t.keep[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// What is left over is 1 up to rounding.
	for _, i := range append(small, large...) {
		t.keep[i] = 1
	}
	return t
}

func (t *alias) draw(r *rand.Rand) uint32 {
	i := r.IntN(len(t.keep))
	if r.Float64() < t.keep[i] {
		return uint32(i)
	}
	return t.other[i]
}
