//go:build amd64 && !noasm

package simd

//go:noescape
func holdsAVX2(found *bool, list *uint32, begins *int64, counts, keys *uint32, n int)

// holdsAsm is Holds where there is assembly for it.
func holdsAsm(found []bool, list []uint32, begins []int64, counts, keys []uint32) bool {
	if active == Go || len(found) == 0 || len(list) == 0 {
		return false
	}
	holdsAVX2(&found[0], &list[0], &begins[0], &counts[0], &keys[0], len(found))
	return true
}
