package chunk

// This file joins the CRC-32C (Castagnoli) checksums of parts of a text.

// JoinCRC is the CRC-32C of a text of two parts: a is the checksum of the first part, b that of the
// second, which is n bytes long. Appending a zero byte is a linear map of the 32 bits. The map is
// applied n times by squaring it.
func JoinCRC(a, b uint32, n int64) uint32 {
	var bit [32]uint32 // the columns of the map that appends one zero bit
	bit[0] = 0x82f63b78
	for i := 1; i < 32; i++ {
		bit[i] = 1 << (i - 1)
	}
	m := squared(squared(squared(bit)))
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			a = times(&m, a)
		}
		m = squared(m)
	}
	return a ^ b
}

// times is the matrix product m·x over GF(2).
func times(m *[32]uint32, x uint32) (y uint32) {
	for i := 0; x != 0; i, x = i+1, x>>1 {
		if x&1 == 1 {
			y ^= m[i]
		}
	}
	return y
}

func squared(m [32]uint32) (s [32]uint32) {
	for i := range m {
		s[i] = times(&m, m[i])
	}
	return s
}
