package ops

import "math"

// The random numbers of Dropout are hashes of the place where they are used (a counter-based
// generator). So any device draws the same numbers in any order. All arithmetic is on 32-bit
// integers that wrap around.
//
//	state of a strip: absorb seed low, seed high, epoch, site
//	state of a row:   absorb identity, rank
//	column c:         draw(state, c), of which the top 24 bits are used

// counter is the state of two 32-bit hashes of the same words.
type counter struct{ a, b uint32 }

func newCounter() counter { return counter{a: 0x243f6a88, b: 0x85a308d3} }

// absorb mixes one more word into the state. For equal states, different words
// give different ones.
func (k counter) absorb(w uint32) counter {
	return counter{a: mix(k.a ^ w), b: mix(k.b + w)}
}

// absorbBits absorbs the bit pattern of x.
func (k counter) absorbBits(x float32) counter { return k.absorb(math.Float32bits(x)) }

// draw is the random word of column c. It is mix with the second hash mixed in half-way,
// so that rows whose first hashes are close have unrelated numbers.
func (k counter) draw(c uint32) uint32 {
	h := k.a + c*0x9e3779b9
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h>>13 ^ k.b
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// mix is a bijective hash of 32-bit words: every input bit affects all bits of the result (the finaliser of
// MurmurHash3).
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// Random is 64 random bits, a hash of the words. It is the hash of Dropout.
func Random(words ...uint32) uint64 {
	k := newCounter()
	for _, w := range words {
		k = k.absorb(w)
	}
	return uint64(k.draw(0))<<32 | uint64(k.draw(1))
}
