package sample

import (
	"fmt"
	"slices"
	"sort"
)

// MVS draws neighbours for a batch that ByNorm has chosen (minimal variance sampling: Cong, Forsati, Kandemir and
// Mahdavi, "Minimal Variance Sampling with Provable Guarantees for Fast Training of Graph Neural Networks", 2020), as
// Neighbours with a fan-out a level. The choice by gradient norms and its weights say which losses count, and
// are the same for any number of levels: with sums scaled by degree over fan-out the weighted mean of a linear model is
// on average that over all vertices. The paper's other half, embeddings of earlier steps that stand in for neighbours that are not drawn, is not here.
// Sampled training by saga takes norms that stay (saga.Sampling.Norms).
func MVS(fanouts ...int) Sampler {
	s := Neighbours(fanouts...)
	s.Name = "mvs"
	return s
}

// ByNorm chooses k of the places 0 to len(norms)-1, with replacement and in proportion to
// norms, such as those of the gradients of vertices when they were last seen. It returns
// the different ones ascending, and a weight for each by which its loss counts: times
// drawn/(k·n·q), so that the weighted sum is on average the mean over all n.
func ByNorm(norms []float32, k int, key Key) (places []uint32, weights []float32, err error) {
	if k < 1 {
		return nil, nil, fmt.Errorf("a batch of %d: at least 1", k)
	}
	sum, sums := 0.0, make([]float64, len(norms))
	for i, x := range norms {
		if !(x >= 0) {
			return nil, nil, fmt.Errorf("norm %d is %v: norms are 0 or more", i, x)
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
