package simd

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Pairs in common are those found bit by bit, at every level, of matrices that are empty,
// sparse, dense and full.
func TestPairs(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, words := range []int{0, 4, 8, 12, 16, 20} {
			for _, share := range []float64{0, 0.02, 0.3, 1} {
				n := 64 * words
				set, rows := make([]uint64, words), make([]uint64, n*words)
				for i := range n {
					if rng.Float64() < share {
						set[i>>6] |= 1 << (i & 63)
					}
					for j := i &^ 63; j < n; j++ {
						if rng.Float64() < share {
							rows[i*words+j>>6] |= 1 << (j & 63)
						}
					}
				}
				want := uint64(0)
				for i := range n {
					if set[i>>6]>>(i&63)&1 == 0 {
						continue
					}
					for j := range words {
						want += uint64(bits.OnesCount64(set[j] & rows[i*words+j]))
					}
				}
				if got := Pairs(set, rows); got != want {
					t.Errorf("%d words, a share of %g: %d, want %d", words, share, got, want)
				}
			}
		}
	})
}
