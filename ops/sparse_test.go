package ops

import (
	"math"
	"math/rand/v2"

	"sagann/dataflow"
	"sagann/kernel"
)

// sparseRows are rows of at most k entries in columns below c.
func sparseRows(k, c int) leaf {
	return leaf{shape{Set: dataflow.V0, Cols: 2 * k}, func(r *rand.Rand, n int) []float32 {
		x := make([]float32, n)
		for at := 0; at < n; at += 2 * k {
			list := r.Perm(c)[:r.IntN(k+1)]
			for j := range k {
				x[at+j] = math.Float32frombits(kernel.NoColumn)
				if j < len(list) {
					x[at+j], x[at+k+j] = math.Float32frombits(uint32(list[j])), 2*r.Float32()-1
				}
			}
		}
		return x
	}}
}
