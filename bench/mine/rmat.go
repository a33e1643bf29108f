package mine

import (
	"runtime"
	"sync"

	"sagann/bench/measure"
	"sagann/chunk"
)

// rmat is an R-MAT graph of 2^scale vertices and factor times as many drawn edges, listed
// in both directions. Its quadrants have the probabilities 0.57, 0.19, 0.19 and 0.05, and its vertices are in
// random order. It has self loops and repeated edges. The counts in bars are those of the
// graphs of these formulas.
func rmat(scale, factor int) *chunk.Edges {
	n := 1 << scale
	number := make([]uint32, n)
	for i := range number {
		number[i] = uint32(i)
	}
	for i := n - 1; i > 0; i-- {
		j := measure.Mixed(uint64(i)*77+5) % uint64(i+1)
		number[i], number[j] = number[j], number[i]
	}
	m := n * factor
	e := &chunk.Edges{V: n, Src: make([]uint32, 2*m), Dst: make([]uint32, 2*m)}
	var wg sync.WaitGroup
	parts := runtime.GOMAXPROCS(0)
	for p := range parts {
		wg.Go(func() {
			for i := m * p / parts; i < m*(p+1)/parts; i++ {
				a, b := 0, 0
				h := measure.Mixed(uint64(i) ^ 0x1234567)
				for range scale {
					h = measure.Mixed(h)
					x := float64(h>>11) / (1 << 53)
					a, b = 2*a, 2*b
					switch {
					case x < 0.57:
					case x < 0.76:
						b++
					case x < 0.95:
						a++
					default:
						a, b = a+1, b+1
					}
				}
				u, v := number[a], number[b]
				e.Src[2*i], e.Dst[2*i], e.Src[2*i+1], e.Dst[2*i+1] = u, v, v, u
			}
		})
	}
	wg.Wait()
	return e
}
