package run

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
)

func drawSet(t *rapid.T, name string) []uint32 {
	set := rapid.SliceOfN(rapid.Uint32Range(0, 300), 0, rapid.SampledFrom([]int{3, 20, 200}).Draw(t, "size")).Draw(t, name)
	slices.Sort(set)
	return slices.Compact(set)
}

// TestSets compares the operations on sorted lists with loops over members.
func TestSets(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		a, b := drawSet(t, "a"), drawSet(t, "b")
		var both, only []uint32
		for _, x := range a {
			if slices.Contains(b, x) {
				both = append(both, x)
			} else {
				only = append(only, x)
			}
		}
		to := make([]uint32, 301)
		if got := intersect(to, a, b); !slices.Equal(got, both) {
			t.Fatalf("%v ∩ %v = %v", a, b, got)
		}
		if got := overlapSorted(a, b); got != len(both) {
			t.Fatalf("|%v ∩ %v| = %d", a, b, got)
		}
		if got := subtract(to, a, b); !slices.Equal(got, only) {
			t.Fatalf("%v ∖ %v = %v", a, b, got)
		}
		mark := make([]uint64, 5)
		for _, x := range b {
			mark[x>>6] |= 1 << (x & 63)
		}
		if got := keep(to, a, mark, 0); !slices.Equal(got, both) || hits(mark, a) != uint64(len(both)) {
			t.Fatalf("%v in %v = %v", a, b, got)
		}
		if got := keep(to, a, mark, 1); !slices.Equal(got, only) {
			t.Fatalf("%v not in %v = %v", a, b, got)
		}
		lo, hi := rapid.Int64Range(0, 301).Draw(t, "lo"), rapid.Int64Range(0, 301).Draw(t, "hi")
		want := slices.DeleteFunc(slices.Clone(a), func(x uint32) bool { return int64(x) < lo || int64(x) >= hi })
		if hi >= lo {
			if got := within(a, span{lo, hi}); !slices.Equal(got, want) {
				t.Fatalf("%v in [%d, %d) = %v", a, lo, hi, got)
			}
		}
		x := rapid.Uint32Range(0, 301).Draw(t, "x")
		if i, found := slices.BinarySearch(a, x); gallop(a, x) != i || search(a, int64(x)) != i || contains(a, x) != found {
			t.Fatalf("%d in %v: %d, %d", x, a, gallop(a, x), search(a, int64(x)))
		}
	})
}
