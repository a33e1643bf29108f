package chunk

import "math/bits"

// OtherRows lists the rows of the other interval that the edges of cell i read,
// ascending, each once: Cell.Needs of them. rows is the size of that interval. It
// takes O(NNZ + rows/64) time.
func (s *Side) OtherRows(i, rows int) []uint32 {
	seen := newBitset(rows)
	for _, r := range s.View(i).Other {
		seen.add(int(r))
	}
	out := make([]uint32, 0, s.Cells[i].Needs)
	for w, word := range seen {
		for ; word != 0; word &= word - 1 {
			out = append(out, uint32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return out
}

// countOther is the number of different rows in other, all below 64×len(seen), whose
// bits are clear before and after.
func countOther(other []uint32, seen bitset) int {
	n := 0
	for _, r := range other {
		if seen.add(int(r)) {
			n++
		}
	}
	for _, r := range other {
		seen[r>>6] = 0
	}
	return n
}
