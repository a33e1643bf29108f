package saga

import (
	"math"
	"math/bits"
)

// spread is a distribution of degrees: by bin, the mean degree and the number of vertices.
type spread struct{ degree, vertices []float64 }

// spreadOf sorts degrees into bins: one bin for each degree up to 63, then 32 bins per doubling.
func spreadOf(degrees []uint32) *spread {
	const exact, lead = 64, 5
	var count, sum [exact + 32<<lead]float64
	for _, d := range degrees {
		bin := int(d)
		if d >= exact {
			shift := bits.Len32(d) - 1 - lead
			bin = exact + shift<<lead + int(d>>shift) - 1<<lead
		}
		count[bin]++
		sum[bin] += float64(d)
	}
	s := &spread{}
	for i, n := range count {
		if n > 0 {
			s.degree, s.vertices = append(s.degree, sum[i]/n), append(s.vertices, n)
		}
	}
	return s
}

// nonEmpty is the expected number of the rows, at most width, of one of own intervals that have an edge in a given one of far cells.
func (s *spread) nonEmpty(width, own, far int) int {
	sum := 0.0
	for i, d := range s.degree {
		sum += s.vertices[i] * -math.Expm1(-d/float64(far))
	}
	return min(width, int(math.Round(sum/float64(own))))
}
