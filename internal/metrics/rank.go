package metrics

import (
	"cmp"
	"math"
	"slices"
)

// AUC is the area under the ROC curve: the share of pairs of a positive and a negative row
// in which the positive one has the higher score. Equal scores count one half. It is
// NaN if there are no rows of one kind. A score of NaN counts as the lowest.
//
// It is computed from ranks. Package stat of gonum has the same function, but would add gonum's linear
// algebra to every build of the command; the tests compare the two.
func AUC(scores []float64, positive []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var above, n, m float64 // pairs so far, and rows of each kind so far
	for i := 0; i < len(order); {
		var p, q float64 // rows of each kind with this score
		for s := scores[order[i]]; i < len(order) && cmp.Compare(scores[order[i]], s) == 0; i++ {
			if positive[order[i]] {
				p++
			} else {
				q++
			}
		}
		above += p * (m + q/2)
		n, m = n+p, m+q
	}
	return above / (n * m)
}

// Softmax writes the probabilities of a row of logits to p, which has the same length.
func Softmax(p []float64, logits []float32) {
	sum, most := 0.0, float64(slices.Max(logits))
	for i, x := range logits {
		p[i] = math.Exp(float64(x) - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}

// Sigmoid is the probability of a logit.
func Sigmoid(logit float32) float64 { return 1 / (1 + math.Exp(-float64(logit))) }

// CrossEntropy is minus the logarithm of the probability that a row of logits gives to class.
func CrossEntropy(logits []float32, class int32) float64 {
	sum, most := 0.0, float64(slices.Max(logits))
	for _, x := range logits {
		sum += math.Exp(float64(x) - most)
	}
	return math.Log(sum) + most - float64(logits[class])
}

// BinaryCrossEntropy is the sum over the classes of a row of the cross-entropy between a
// flag, 0 or 1, and the probability that its logit stands for, and the number of flags. A flag below 0 is not known and is
// left out. Terms of flags that are 1 are multiplied with the weight of their class; nil: 1.
func BinaryCrossEntropy(logits, flags, weights []float32) (sum float64, known int) {
	for i, x := range logits {
		if flags[i] < 0 {
			continue
		}
		known++
		z := float64(x)
		term := max(z, 0) - z*float64(flags[i]) + math.Log1p(math.Exp(-math.Abs(z)))
		if weights != nil && flags[i] == 1 {
			term *= float64(weights[i])
		}
		sum += term
	}
	return sum, known
}
