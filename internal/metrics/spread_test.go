package metrics

import (
	"math"
	"testing"
)

// TestR2: the values of scikit-learn's r2_score.
func TestR2(t *testing.T) {
	near(t, "R² of one column", R2([]float64{1.5}, []float64{29.1875}, 4), 0.9486081370449679) // r2_score([3, -0.5, 2, 7], [2.5, 0, 2, 8])
	near(t, "R² of two columns", R2([]float64{1.25, 2}, []float64{42, 32}, 3), (1-1.25/42+1-2./32)/2)
	near(t, "R² of equal targets that are met", R2([]float64{0}, []float64{0}, 3), 1)
	near(t, "R² of equal targets that are not", R2([]float64{2, 1}, []float64{0, 4}, 3), 0.375)
	for _, n := range []int{0, 1} {
		if x := R2([]float64{0}, []float64{0}, n); !math.IsNaN(x) {
			t.Errorf("R² of %d rows is %v", n, x)
		}
	}
}

// TestSpread: by hand; one number has no deviation.
func TestSpread(t *testing.T) {
	mean, deviation := Spread([]float64{1, 2, 6})
	near(t, "mean", mean, 3)
	near(t, "deviation", deviation, math.Sqrt(7))
	if mean, deviation = Spread([]float64{4}); mean != 4 || !math.IsNaN(deviation) {
		t.Errorf("one number: %v ± %v", mean, deviation)
	}
}
