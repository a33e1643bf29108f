package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHolds compares searches with those of package slices, in rows of all lengths up to 300, at every level.
func TestHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list, counts, keys []uint32
	var begins []int64
	for n := range 300 {
		row := make([]uint32, n)
		for i := range row {
			row[i] = uint32(r.IntN(3 * n))
			if i%50 == 49 {
				row[i] = ^uint32(0) - uint32(i%2)
			}
		}
		slices.Sort(row)
		at := int64(len(list))
		list = append(list, row...)
		for _, k := range append(slices.Clone(row), 0, ^uint32(0), 1<<31, uint32(n), uint32(r.IntN(3*n+1))) {
			begins, counts, keys = append(begins, at), append(counts, uint32(n)), append(keys, k)
		}
	}
	found := make([]bool, len(keys))
	eachLevel(t, func(t *testing.T) {
		clear(found)
		Holds(found, list, begins, counts, keys)
		for i, k := range keys {
			row := list[begins[i] : begins[i]+int64(counts[i])]
			if _, want := slices.BinarySearch(row, k); found[i] != want {
				t.Fatalf("a row of %d numbers holds %d: %t, want %t", len(row), k, found[i], want)
			}
		}
		Holds(nil, nil, nil, nil, nil)
		empty := []bool{true}
		if Holds(empty, nil, []int64{0}, []uint32{0}, []uint32{0}); empty[0] {
			t.Error("an empty row holds 0")
		}
	})
}
