package chunk

import (
	"math/bits"
	"sync/atomic"
)

// Ids of the other end are local to an interval, so they need fewer than 32 bits. Packed ids
// are one stream of bits: id e of a cell is the Cell.Bits bits from bit e×Bits on, lowest bit
// first, in 32-bit words. One word is added at the end, so that any id can
// be read as part of two words.

// wordBits is the width of ids that are not packed.
const wordBits = 32

// bitsFor is how many bits an id of the other end takes if intervals have width rows.
func (w Want) bitsFor(width int) int {
	if !w.Pack {
		return wordBits
	}
	return IDBits(width)
}

// IDBits is how many bits a packed id takes if intervals have width rows.
func IDBits(width int) int { return bits.Len(uint(max(width-1, 1))) }

// packedWords is how many 32-bit words n ids of bits bits take.
func packedWords(n int64, bits int) int64 {
	if bits == wordBits {
		return n
	}
	return (n*int64(bits)+wordBits-1)/wordBits + 1
}

// pack writes ids to the stream as its ids first, first+1 and so on. The stream must be zero there. Other
// goroutines may write neighbouring ids at the same time, also to the same first and last word.
func pack(stream []uint32, bits, first int, ids []uint32) {
	at := uint64(first) * uint64(bits)
	w, have := int(at/wordBits), uint(at%wordBits)
	word, from := uint64(0), w
	for _, id := range ids {
		word |= uint64(id) << have
		if have += uint(bits); have < wordBits {
			continue
		}
		if w == from {
			atomic.OrUint32(&stream[w], uint32(word))
		} else {
			stream[w] = uint32(word)
		}
		word, have, w = word>>wordBits, have-wordBits, w+1
	}
	if have > 0 {
		atomic.OrUint32(&stream[w], uint32(word))
	}
}

// Far is the ids lo..hi-1 of the other end. Packed ids are unpacked to room, which grows
// if it is too small and is returned as scratch for the next call.
func (v *View) Far(room []uint32, lo, hi int) (ids, scratch []uint32) {
	if v.Packed == nil {
		return v.Other[lo:hi], room
	}
	n := hi - lo
	if cap(room) < n {
		room = make([]uint32, n+n/2)
	}
	room = room[:cap(room)]
	mask := uint64(1)<<v.Bits - 1
	at, width := uint64(lo)*uint64(v.Bits), uint64(v.Bits)
	for i := range room[:n] {
		w := at / wordBits
		room[i] = uint32((uint64(v.Packed[w])|uint64(v.Packed[w+1])<<wordBits)>>(at%wordBits)) & uint32(mask)
		at += width
	}
	return room[:n], room
}

// eachFar calls f with the ids lo..hi-1 of the other end, one by one.
func (v *View) eachFar(lo, hi int, f func(id uint32)) {
	if v.Packed == nil {
		for _, id := range v.Other[lo:hi] {
			f(id)
		}
		return
	}
	var room [1 << 10]uint32
	for ; lo < hi; lo += len(room) {
		ids, _ := v.Far(room[:], lo, min(hi, lo+len(room)))
		for _, id := range ids {
			f(id)
		}
	}
}

// Pack is v with packed ids of the other end, whose interval has rows rows.
func (v View) Pack(rows int) View {
	v.Bits = Want{Pack: true}.bitsFor(rows)
	ids := v.Other
	v.Other, v.Packed = nil, make([]uint32, packedWords(int64(len(ids)), v.Bits))
	pack(v.Packed, v.Bits, 0, ids)
	return v
}
