package simd

import "testing"

// Words of many counters are those of each, at every level and length.
func TestPhilox(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range lengths {
			of := make([]uint32, n)
			for i := range of {
				of[i] = uint32(i) * 0x9E3779B1
			}
			var w [4][]uint32
			for i := range w {
				w[i] = make([]uint32, n+1)
			}
			Philox(w[0], w[1], w[2], w[3], of, 7, 1<<31, 3, 0xa4093822, 0x299f31d0)
			for i, x := range of {
				want := Philox4x32(x, 7, 1<<31, 3, 0xa4093822, 0x299f31d0)
				for j := range w {
					if w[j][i] != want[j] {
						t.Fatalf("%d counters: word %d of counter %d is %08x, want %08x", n, j, i, w[j][i], want[j])
					}
				}
			}
			for j := range w {
				if w[j][n] != 0 {
					t.Fatalf("%d counters: wrote beyond the end of word %d", n, j)
				}
			}
		}
	})
}
