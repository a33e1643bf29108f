package mine

import (
	"slices"
	"testing"
)

// TestMergeKeys compares merged pieces with sorted keys.
func TestMergeKeys(t *testing.T) {
	for _, n := range []int{1, 10, 1001} {
		keys, out := make([]uint64, n), make([]uint64, n)
		sum := drawKeys(keys, 3)
		want := slices.Sorted(slices.Values(keys))
		for p := range slices.Chunk(keys, 300) {
			slices.Sort(p)
		}
		mergeKeys(keys, out, 300, 3)
		if !slices.Equal(out, want) || mixedSum(out, 2) != sum {
			t.Errorf("%d keys: wrong", n)
		}
	}
}
