package saga_test

import (
	"encoding/json"
	"math"
	"testing"

	"sagann/saga"
)

// TestMetricsJSON: an R² that is undefined comes back so, and others as before.
func TestMetricsJSON(t *testing.T) {
	for _, r2 := range []float64{0, -1.5, math.NaN()} {
		m := saga.Metrics{Loss: 2, R2: r2, Hits: [3]float64{1, 0.5, 0}}
		text, err := json.Marshal(saga.Scores{Test: m})
		if err != nil {
			t.Fatal(err)
		}
		var back saga.Scores
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if got := back.Test.R2; got != r2 && !(math.IsNaN(got) && math.IsNaN(r2)) {
			t.Errorf("R² %v comes back as %v in %s", r2, got, text)
		}
		if back.Test.R2, m.R2 = 0, 0; back.Test != m {
			t.Errorf("%+v comes back as %+v", m, back.Test)
		}
	}
}
