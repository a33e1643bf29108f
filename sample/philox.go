package sample

import (
	"math/bits"

	"sagann/internal/simd"
)

// Key selects the random numbers of draws. Equal keys give equal draws at equal places, on any
// number of threads and in any order. A draw of Blocks depends on the key, the vertex that draws
// and the step, so each batch needs a key of its own. A draw of Run depends on the key and the
// sample's number.
type Key struct {
	Seed  uint64
	Epoch uint32
	Batch uint32
}

// place is the position of a draw: the counter of Philox.
type place struct {
	of   uint32 // the vertex that draws, or the number of the sample
	step uint32
	slot uint32 // number of the draw at this step
	site uint32 // upper 8 bits: from the site in the traced function (see counter); lower 24: the try of a Reject
}

// stream is the key of Philox for a Key.
type stream struct{ k0, k1 uint32 }

// stream hashes the key to 64 bits by Philox itself, so that all four words of the counter
// are free for places.
func (k Key) stream() stream {
	w := stream{uint32(k.Seed), uint32(k.Seed >> 32)}.words(place{k.Epoch, k.Batch, 0, 0})
	return stream{w[0], w[1]}
}

// words are four random words for a place.
func (s stream) words(p place) [4]uint32 {
	return simd.Philox4x32(p.of, p.step, p.slot, p.site, s.k0, s.k1)
}

// below maps a random word to 0..n-1. The relative error of each probability is below n/2³².
func below(word uint32, n int) int { return int(uint64(word) * uint64(n) >> 32) }

// each calls f for every bit of set that is 1, in ascending order, and clears set.
func each(set []uint64, f func(i int)) {
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			f(w<<6 + bits.TrailingZeros64(x))
		}
		set[w] = 0
	}
}
