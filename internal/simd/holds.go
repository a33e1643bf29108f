package simd

import "slices"

// Holds tells for each of some rows of a list, whose numbers ascend, whether keys[i] stands in it: row i begins at begins[i] and has counts[i]
// numbers, fewer than 2³¹. Which way a search goes is no branch, as it could not be foreseen, and searches wait for memory together.
func Holds(found []bool, list []uint32, begins []int64, counts, keys []uint32) {
	n := len(found)
	begins, counts, keys = begins[:n], counts[:n], keys[:n]
	for i, at := range begins {
		_ = list[at : at+int64(counts[i])] // the assembly checks nothing
	}
	if holdsAsm(found, list, begins, counts, keys) {
		return
	}
	for i, at := range begins {
		_, found[i] = slices.BinarySearch(list[at:at+int64(counts[i])], keys[i])
	}
}
