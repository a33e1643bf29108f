package domain

import (
	"iter"
	"math/bits"
)

// Set is a set of vertices of one label: their numbers as a list or as bits, whichever takes less. It
// does not change.
type Set struct {
	list []uint32
	bits []uint64
}

// pack copies n vertices that are given as bits.
func pack(words []uint64, n uint32) Set {
	if 2*uint64(len(words)) <= uint64(n) {
		return Set{bits: append([]uint64(nil), words...)}
	}
	list := make([]uint32, 0, n)
	for i, m := range words {
		for ; m != 0; m &= m - 1 {
			list = append(list, uint32(i<<6+bits.TrailingZeros64(m)))
		}
	}
	return Set{list: list}
}

// Bytes is the memory of the vertices.
func (s Set) Bytes() int64 { return 4*int64(len(s.list)) + 8*int64(len(s.bits)) }

// len is how many vertices there are.
func (s Set) len() int { return len(s.list) + int(size(s.bits)) }

// All yields the numbers of the vertices, ascending.
func (s Set) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, x := range s.list {
			if !yield(x) {
				return
			}
		}
		for i, m := range s.bits {
			for ; m != 0; m &= m - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(m))) {
					return
				}
			}
		}
	}
}

// load sets words to the set.
func (s Set) load(words []uint64) {
	if s.bits != nil {
		copy(words, s.bits)
		return
	}
	clear(words)
	for _, x := range s.list {
		words[x>>6] |= 1 << (x & 63)
	}
}

// meet drops from words what is not in the set. room is memory for a list; it is returned, as it may have grown.
func (s Set) meet(words []uint64, room []uint32) []uint32 {
	if s.bits != nil {
		for i, m := range s.bits {
			words[i] &= m
		}
		return room
	}
	room = room[:0]
	for _, x := range s.list {
		if words[x>>6]>>(x&63)&1 != 0 {
			room = append(room, x)
		}
	}
	clear(words)
	for _, x := range room {
		words[x>>6] |= 1 << (x & 63)
	}
	return room
}

// size is how many vertices are given as bits.
func size(words []uint64) uint32 {
	n := 0
	for _, m := range words {
		n += bits.OnesCount64(m)
	}
	return uint32(n)
}
