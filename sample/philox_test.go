package sample

import "testing"

// The known answers that the authors of Philox publish with their code.
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		s    stream
		p    place
		want [4]uint32
	}{
		{stream{}, place{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{stream{^uint32(0), ^uint32(0)}, place{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{stream{0xa4093822, 0x299f31d0}, place{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := c.s.words(c.p); got != c.want {
			t.Errorf("words(%v) with key %v are %08x, want %08x", c.p, c.s, got, c.want)
		}
	}
}
