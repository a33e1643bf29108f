package simd

// Philox computes the random words w0[i] to w3[i] of the counters (of[i], step, slot, site) under a key. The bits
// are those of Philox4x32 at every level.
func Philox(w0, w1, w2, w3, of []uint32, step, slot, site, k0, k1 uint32) {
	n := len(of)
	w0, w1, w2, w3 = w0[:n], w1[:n], w2[:n], w3[:n]
	if whole := n &^ 15; whole > 0 && philoxAsm(w0, w1, w2, w3, of[:whole], step, slot, site, k0, k1) {
		w0, w1, w2, w3, of = w0[whole:], w1[whole:], w2[whole:], w3[whole:], of[whole:]
	}
	for i, x := range of {
		w := Philox4x32(x, step, slot, site, k0, k1)
		w0[i], w1[i], w2[i], w3[i] = w[0], w[1], w[2], w[3]
	}
}

// Philox4x32 is the random words of the counter a, b, c, d under the key k0, k1, by Philox4x32-10 (Salmon, Moraes,
// Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
func Philox4x32(a, b, c, d, k0, k1 uint32) [4]uint32 {
	const m0, m1, w0, w1 = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85 // constants of the paper
	for range 10 {
		x, y := uint64(a)*m0, uint64(c)*m1
		a, b, c, d = uint32(y>>32)^b^k0, uint32(y), uint32(x>>32)^d^k1, uint32(x)
		k0, k1 = k0+w0, k1+w1
	}
	return [4]uint32{a, b, c, d}
}
