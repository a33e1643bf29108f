package dataset

import (
	"math/rand/v2"
	"slices"
)

// alias draws indices 0..n-1 in proportion to given weights, in constant time
// (Walker's alias method): it draws a uniform slot, and then the slot itself or its alias.
type alias struct {
	keep  []float64 // probability to draw the slot itself
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
	// Slots with less weight than the mean get the rest from a slot with more. Both kinds
	// wait on stacks that share a slice: the small ones grow up to left, the large ones down to right.
	stack := make([]uint32, n)
	left, right := 0, n
	put := func(i uint32) {
		if t.keep[i] < 1 {
			stack[left] = i
			left++
		} else {
			right--
			stack[right] = i
		}
	}
	for i, w := range weights {
		t.keep[i] = w * float64(n) / sum
		t.other[i] = uint32(i)
		put(uint32(i))
	}
	for left > 0 && right < n {
		s, l := stack[left-1], stack[right]
		t.other[s] = l
		t.keep[l] -= 1 - t.keep[s]
		left--
		if t.keep[l] < 1 {
			right++
			put(l)
		}
	}
	// The weights left are 1 up to rounding.
	for _, i := range slices.Concat(stack[:left], stack[right:]) {
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
