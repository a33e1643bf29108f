package dataset

import (
	"math/bits"
	"slices"
)

// idSet is a set of ids: a bit each for those below smallID, a map for the others.
type idSet struct {
	bits    []uint64
	large   map[uint64]struct{}
	count   int
	largest uint64

	before []uint32 // by word of bits: how many ids are smaller; see rankable
	beyond []uint64 // the ids of large, ascending
}

// smallID bounds the bits of an idSet to 32 MiB.
const smallID = 1 << 28

// add reports whether the id was not there.
func (s *idSet) add(id uint64) bool {
	if s.has(id) {
		return false
	}
	s.count++
	s.largest = max(s.largest, id)
	if id >= smallID {
		if s.large == nil {
			s.large = map[uint64]struct{}{}
		}
		s.large[id] = struct{}{}
		return true
	}
	word := int(id / 64)
	if word >= len(s.bits) {
		s.bits = append(s.bits, make([]uint64, word+1-len(s.bits))...)
	}
	s.bits[word] |= 1 << (id % 64)
	return true
}

func (s *idSet) has(id uint64) bool {
	if id >= smallID {
		_, ok := s.large[id]
		return ok
	}
	word := int(id / 64)
	return word < len(s.bits) && s.bits[word]>>(id%64)&1 == 1
}

// sorted is the ids in ascending order.
func (s *idSet) sorted() []uint64 {
	out := make([]uint64, 0, s.count)
	for w, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			out = append(out, uint64(w)*64+uint64(bits.TrailingZeros64(word)))
		}
	}
	small := len(out)
	for id := range s.large {
		out = append(out, id)
	}
	slices.Sort(out[small:])
	return out
}

// naming is the ids of vertices that are numbered in ascending order.
func (s *idSet) naming() Naming {
	least := s.largest + 1 - uint64(s.count)
	if least < 1<<63 && s.has(least) {
		ids := s.sorted()
		if ids[0] == least {
			return Naming{First: least}
		}
		return Naming{IDs: ids}
	}
	return Naming{IDs: s.sorted()}
}

// rankable prepares rank, when all ids were added.
func (s *idSet) rankable() {
	s.before = make([]uint32, len(s.bits))
	n := uint32(0)
	for w, word := range s.bits {
		s.before[w] = n
		n += uint32(bits.OnesCount64(word))
	}
	for id := range s.large {
		s.beyond = append(s.beyond, id)
	}
	slices.Sort(s.beyond)
}

// rank is how many ids are smaller than id; false if id is not in the set.
func (s *idSet) rank(id uint64) (uint32, bool) {
	if id >= smallID {
		i, ok := slices.BinarySearch(s.beyond, id)
		return uint32(s.count - len(s.beyond) + i), ok
	}
	if !s.has(id) {
		return 0, false
	}
	w := id / 64
	return s.before[w] + uint32(bits.OnesCount64(s.bits[w]&(1<<(id%64)-1))), true
}
