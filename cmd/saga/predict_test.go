package main

import (
	"math"
	"testing"
)

func TestProbabilities(t *testing.T) {
	for _, x := range []struct {
		multi bool
		want  []float64
	}{
		{false, []float64{0.25, 0.75, 1, 0}},
		{true, []float64{0.5, 0.75, 1, 0.5}},
	} {
		for i, p := range probabilities([]float32{0, float32(math.Log(3)), 200, 0}, 2, x.multi) {
			if math.Abs(float64(p)-x.want[i]) > 1e-6 {
				t.Errorf("multi %v: number %d is %v, want %v", x.multi, i, p, x.want[i])
			}
		}
	}
}
