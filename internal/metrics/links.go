package metrics

import (
	"cmp"
	"math"
	"slices"
)

// AveragePrecision is the area under the precision-recall curve, computed as in scikit-learn:
// Σ (R_n - R_n-1)·P_n over the thresholds n, from the highest score down, with precision P and recall R. It is
// NaN without a positive row. A score of NaN counts as the lowest.
func AveragePrecision(scores []float64, positive []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var sum, hits float64
	for i := 0; i < len(order); {
		before := hits
		for s := scores[order[i]]; i < len(order) && cmp.Compare(scores[order[i]], s) == 0; i++ {
			if positive[order[i]] {
				hits++
			}
		}
		sum += (hits - before) * hits / float64(i)
	}
	if hits == 0 {
		return math.NaN()
	}
	return sum / hits
}

// MRR is the mean reciprocal rank (Hu et al., 2020): the mean over the positive rows of 1/rank, where rank is the
// place of the row's score among the scores of all negative rows. Equal scores count one half each.
func MRR(positive, negative []float64) float64 {
	neg := slices.Sorted(slices.Values(negative))
	sum := 0.0
	for _, s := range positive {
		above := len(neg) - places(neg, s, true)
		alike := places(neg, s, true) - places(neg, s, false)
		sum += 1 / (1 + float64(above) + float64(alike)/2)
	}
	return sum / float64(len(positive))
}

// places is how many of x, which ascend, are below s or, with upTo, not above s.
func places(x []float64, s float64, upTo bool) int {
	n, _ := slices.BinarySearchFunc(x, s, func(a, b float64) int {
		if c := cmp.Compare(a, b); c != 0 || !upTo {
			return c
		}
		return -1
	})
	return n
}

// Hits is the share of the positive rows whose score is above the k-th largest of the negative
// rows, 1 where there are fewer than k (Hu et al., 2020).
func Hits(positive, negative []float64, k int) float64 {
	if len(negative) < k {
		return 1
	}
	neg := slices.Sorted(slices.Values(negative))
	limit, n := neg[len(neg)-k], 0
	for _, s := range positive {
		if s > limit {
			n++
		}
	}
	return float64(n) / float64(len(positive))
}
