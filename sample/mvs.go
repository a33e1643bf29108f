package sample

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// MVS is Neighbours, for batches that ByNorm chooses by gradient norms (minimal variance sampling:
// Cong, Forsati, Kandemir and Mahdavi, "Minimal Variance Sampling with Provable Guarantees for Fast
// Training of Graph Neural Networks", 2020). If sums over rows are scaled by degree over fan-out,
// the expected weighted mean of a linear model over a batch is the mean over all vertices, for any
// number of levels. The other half of the paper, which replaces neighbours that are not drawn by
// embeddings of earlier steps, is not implemented. Package saga keeps the norms constant during
// training (saga.Sampling.Norms).
func MVS(fanouts ...int) Sampler {
	s := Neighbours(fanouts...)
	s.Name = "mvs"
	return s
}

// ByNorm draws k of the indexes 0 to n-1, n = len(norms), with replacement and with probability q in
// proportion to norms: for example, the norms of the gradients of vertices when they were last
// computed. It returns the different indexes drawn, ascending, and a weight for the loss of each:
// times drawn/(k·n·q), so the expected weighted sum is the mean over all n. A k below 1, norms that are
// negative or not finite, and norms that are all 0 are errors.
func ByNorm(norms []float32, k int, key Key) (places []uint32, weights []float32, err error) {
	if k < 1 {
		return nil, nil, fmt.Errorf("a batch of %d: at least 1", k)
	}
	sum, sums := 0.0, make([]float64, len(norms))
	for i, x := range norms {
		if !(x >= 0 && x <= math.MaxFloat32) {
			return nil, nil, fmt.Errorf("norm %d is %v: norms are finite, and 0 or more", i, x)
		}
		sum += float64(x)
		sums[i] = sum
	}
	if sum == 0 {
		return nil, nil, fmt.Errorf("all %d norms are 0: at least one must be above", len(norms))
	}
	s := key.stream()
	for i := range k {
		w := s.words(place{slot: uint32(i), step: ^uint32(0)})
		at := float64((uint64(w[0])<<32|uint64(w[1]))>>11) * (1.0 / (1 << 53)) * sum
		places = append(places, uint32(sort.Search(len(sums)-1, func(i int) bool { return sums[i] > at })))
	}
	slices.Sort(places)
	var once []uint32
	for _, i := range places {
		share := float32(sum / (float64(norms[i]) * float64(k) * float64(len(norms))))
		if n := len(once); n > 0 && once[n-1] == i {
			weights[n-1] += share
			continue
		}
		once, weights = append(once, i), append(weights, share)
	}
	return once, weights, nil
}
