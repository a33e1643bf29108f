package metrics

import "math"

// R2 is the coefficient of determination of n rows: 1 minus the sum of squared errors divided by spread, the sum of squared
// distances of the targets from their mean, averaged over the columns. As in scikit-learn it is NaN for fewer than two rows, and a
// column of equal targets counts 1 if all are met exactly, else 0.
func R2(squares, spread []float64, n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	sum := 0.0
	for k, s := range spread {
		switch {
		case s > 0:
			sum += 1 - squares[k]/s
		case squares[k] == 0:
			sum++
		}
	}
	return sum / float64(len(spread))
}

// Spread is the mean of x and its sample standard deviation, which is NaN for fewer than two numbers.
func Spread(x []float64) (mean, deviation float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	if len(x) < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(deviation / (n - 1))
}
