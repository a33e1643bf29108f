package sample

import (
	"math/bits"

	"sagann/internal/simd"
)

// Key names a set of draws: equal keys give equal draws at equal places, on any number
// of threads and in any order. Blocks of a batch are drawn by the vertex that draws, so
// that a batch is a key of its own; walks by their number.
type Key struct {
	Seed  uint64
	Epoch uint32
	Batch uint32
}

// place is where in a sample a draw stands: the counter of Philox.
type place struct {
	of   uint32 // vertex that draws, or number of the sample
	step uint32
	slot uint32 // number of the draw at this step
	site uint32 // site in the trace in the upper 8 bits, try of a Reject in the lower 24
}

// stream is the key of Philox for a Key.
type stream struct{ k0, k1 uint32 }

// stream mixes the key by Philox itself, so that all four words of the counter are left
// for places.
func (k Key) stream() stream {
	w := stream{uint32(k.Seed), uint32(k.Seed >> 32)}.words(place{k.Epoch, k.Batch, 0, 0})
	return stream{w[0], w[1]}
}

// words are four random words for a place.
func (s stream) words(p place) [4]uint32 {
	return simd.Philox4x32(p.of, p.step, p.slot, p.site, s.k0, s.k1)
}

// below maps a random word to 0..n-1. A number's share is off by less than n/2³² of it.
func below(word uint32, n int) int { return int(uint64(word) * uint64(n) >> 32) }

// each calls f for every bit that is set, in ascending order, and clears the words.
func each(set []uint64, f func(i int)) {
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			f(w<<6 + bits.TrailingZeros64(x))
		}
		set[w] = 0
	}
}
