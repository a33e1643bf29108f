package simd

import "math/bits"

// Pairs is Σ |set ∩ row i| over the members i of set. set and the rows of the matrix rows are bit sets
// with the same number of words, a multiple of 4. There are 64 rows for each word, and row i has no bits in the
// words before i/64.
func Pairs(set, rows []uint64) uint64 {
	words := len(set)
	if words%4 != 0 || len(rows) < 64*words*words {
		panic("simd: Pairs wants sets of 4, 8, … words, and 64 rows for each of them")
	}
	if n, ok := pairsAsm(set, rows); ok {
		return n
	}
	n := 0
	for at, left := range set {
		for ; left != 0; left &= left - 1 {
			i := at<<6 | bits.TrailingZeros64(left)
			row := rows[i*words : (i+1)*words][:words]
			for j := at; j < words; j++ {
				n += bits.OnesCount64(set[j] & row[j])
			}
		}
	}
	return uint64(n)
}
