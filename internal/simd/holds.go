package simd

import "slices"

// Holds sets found[i] to whether row i of list contains keys[i]. Row i begins at begins[i] and has counts[i]
// numbers, fewer than 2³¹, which ascend. The binary searches have no unpredictable branches, and several of
// them run at the same time, so that their memory accesses overlap.
func Holds(found []bool, list []uint32, begins []int64, counts, keys []uint32) {
	n := len(found)
	begins, counts, keys = begins[:n], counts[:n], keys[:n]
	for i, at := range begins {
		_ = list[at : at+int64(counts[i])] // a bounds check, as the assembly checks nothing
	}
	if holdsAsm(found, list, begins, counts, keys) {
		return
	}
	for i, at := range begins {
		_, found[i] = slices.BinarySearch(list[at:at+int64(counts[i])], keys[i])
	}
}
