package tables

import (
	"math"
	"testing"

	"sagann/dataflow/plan/sim"
	"sagann/sample/cuda"
)

// What was measured on one H200 with 4 GiB and a graph of 65.6 M vertices and 1.8 G edges (saga bench sample --device cuda --mem 4GiB
// --shapes friendster --no-weights) is predicted within a fifth. Roots are the first vertices, so a first step needs their share of the edges.
func TestStreamPredictions(t *testing.T) {
	m, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	const vertices, edges = 65.6e6, 1.8e9
	for _, x := range []struct {
		name    string
		samples float64
		pieces  int
		widths  []float64
		rooms   int
		results bool
		seconds float64
	}{
		{"k-hop 25,10 to pinned memory", 12e6, 4, []float64{1, 25, 250}, 3, true, 0.803},
		{"k-hop 25,10 hashed", 40e6, 3, []float64{1, 25, 250}, 3, false, 0.543},
		{"k-hop 10,25 hashed", 40e6, 1, []float64{1, 10, 250}, 3, false, 0.273},
		{"walk of 10 steps, hashed", 65.6e6, 1, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 3, false, 1.396},
	} {
		var passes []cuda.Pass
		for range x.pieces {
			n := x.samples / float64(x.pieces)
			for step := range len(x.widths) - 1 {
				p := cuda.Pass{Transits: int64(n * x.widths[step]), Draws: int64(n * x.widths[step+1]), In: 4 * edges, Room: (step + 1) % x.rooms}
				if step == 0 {
					p.In = int64(4 * (edges*n/vertices + n))
				}
				if x.results {
					p.Out = 4 * p.Draws
				}
				passes = append(passes, p)
			}
		}
		got := streamSeconds(m, passes)
		t.Logf("%s: %.3f s predicted, %.3f measured, %+.0f %%", x.name, got, x.seconds, 100*(got/x.seconds-1))
		if math.Abs(got/x.seconds-1) > 0.2 {
			t.Errorf("%s: %.3f s predicted, %.3f measured", x.name, got, x.seconds)
		}
	}
}
