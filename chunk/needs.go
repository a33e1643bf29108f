package chunk

import (
	"math/bits"
	"sync/atomic"
)

// OtherRows lists the rows of the other interval that the edges of cell i read,
// ascending, each once: Cell.Needs of them. rows is the size of that interval. It
// takes O(NNZ + rows/64) time.
func (s *Side) OtherRows(i, rows int) []uint32 {
	seen := newBitset(rows)
	v := s.View(i)
	v.eachFar(0, int(s.Cells[i].NNZ), func(r uint32) { seen.add(int(r)) })
	out := make([]uint32, 0, s.Cells[i].Needs)
	for w, word := range seen {
		for ; word != 0; word &= word - 1 {
			out = append(out, uint32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return out
}

// needsOf sets the counts Needs from the other side of the same edges: the rows
// that cell (o,x) reads are the non-empty rows of cell (x,o) there.
func (b built) needsOf(other built) {
	p := b.side.P
	for i := range b.side.Cells {
		b.side.Cells[i].Needs = other.nonEmpty[i%p*p+i/p]
	}
}

// countNeeds counts, for each cell, the rows of the other interval that its edges read. Intervals have at
// most width rows. It works in parallel on many cells, or on the edges of one.
func (s *Side) countNeeds(width int) {
	w := processors()
	if len(s.Cells) < 2*w {
		seen := newBitset(width)
		for i := range s.Cells {
			s.Cells[i].Needs = countShared(s.View(i), int(s.Cells[i].NNZ), seen)
		}
		return
	}
	seen := make([]bitset, w)
	eachOf(w, len(s.Cells), func(worker, i int) {
		if seen[worker] == nil {
			seen[worker] = newBitset(width)
		}
		s.Cells[i].Needs = countOther(s.View(i), int(s.Cells[i].NNZ), seen[worker])
	})
}

// countShared is countOther on all processors.
func countShared(v View, edges int, seen bitset) int {
	var n atomic.Int64
	Ranges(edges, func(lo, hi int) {
		fresh := 0
		v.eachFar(lo, hi, func(r uint32) {
			if seen.addShared(int(r)) {
				fresh++
			}
		})
		n.Add(int64(fresh))
	})
	clear(seen)
	return int(n.Load())
}

// countOther is the number of different rows of the other end. They are all below 64×len(seen). All bits
// of seen are 0 before and after.
func countOther(v View, edges int, seen bitset) int {
	n := 0
	v.eachFar(0, edges, func(r uint32) {
		if seen.add(int(r)) {
			n++
		}
	})
	v.eachFar(0, edges, func(r uint32) { seen[r>>6] = 0 })
	return n
}
