package cuda

import (
	"math"
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// TestSparseAgree is TestAgree for sparse features, with dropout on them, on the device as a whole, and
// streamed; and dense rows on the GPU give the losses of sparse ones.
func TestSparseAgree(t *testing.T) {
	needGPU(t)
	s := sparseSpec{vertices: 3000, edges: 20_000, columns: 1200, filled: 40}
	for name, o := range map[string]layers.Options{"gcn": {Hidden: 32, Dropout: 0.3}, "sage": {Hidden: 31}, "gin": {Hidden: 64}} {
		d, err := s.words()
		if err != nil {
			t.Fatal(err)
		}
		o.Features, o.Classes, o.Layers = s.columns, d.Classes, 2
		m, err := layers.New(name, o)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want []float64) {
			t.Helper()
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-3*math.Abs(want[i])) {
					t.Errorf("%s, %s: %v\nwant %v", name, what, got, want)
					break
				}
			}
		}
		var first []float64
		for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 4, Stream: true}} {
			c.Seed, c.Device = 1, "cpu"
			cpu := steps(t, m, d, c)
			c.Device = "cuda"
			gpu, again := steps(t, m, d, c), steps(t, m, d, c)
			for i := range gpu {
				if gpu[i] != again[i] {
					t.Fatalf("%s: losses %v and %v of two runs", name, gpu, again)
				}
			}
			near("GPU beside CPU", gpu, cpu)
			first = gpu
		}
		d.HoldFeatures()
		near("sparse beside dense", first, steps(t, m, d, saga.Config{Seed: 1, Device: "cuda"}))
	}
}
