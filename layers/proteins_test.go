package layers

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/internal/testdata"
	"sagann/saga"
)

// proteins is the graph task of PROTEINS, 663 against 450 graphs, with a random split
// and columns of mean 0 and variance 1, without outliers.
func proteins(t *testing.T, seed uint64) *dataset.Data {
	t.Helper()
	d, err := dataset.Load(testdata.Dir(t, "data/proteins_full"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.RandomSplitOf(d, dataset.GraphLabels, 0.8, 0.1, seed); err != nil {
		t.Fatal(err)
	}
	for c := range d.FeatureCols {
		var sum, square float64
		for i := c; i < len(d.Features); i += d.FeatureCols {
			x := float64(d.Features[i])
			sum, square = sum+x, square+x*x
		}
		n := float64(d.Edges.V)
		mean := sum / n
		deviation := math.Sqrt(max(square/n-mean*mean, 1e-12))
		for i := c; i < len(d.Features); i += d.FeatureCols {
			x := (float64(d.Features[i]) - mean) / deviation
			d.Features[i] = float32(max(-3, min(3, x))) // some lie 100 deviations out
		}
	}
	return d
}

// Whole graphs are told apart on real data, streamed in four intervals: the larger class
// alone would be 0.596.
func TestProteinGraphs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains on 43,000 vertices")
	}
	for _, readout := range []saga.Readout{saga.ReadoutMean, saga.ReadoutMax} {
		mean := 0.0
		const seeds = 3
		for seed := range uint64(seeds) {
			s := fitted(t, "gcn", proteins(t, seed), Options{Hidden: 16, Layers: 2, Task: saga.GraphTask, Readout: readout},
				saga.Config{Seed: seed, Chunks: 4, Stream: true, Epochs: 60, EvalEvery: 60, Optimizer: saga.Optimizer{LR: 0.01}})
			t.Logf("%s: training accuracy %.3f, test %.3f", readout, s.Train.Accuracy, s.Test.Accuracy)
			mean += s.Test.Accuracy / seeds
		}
		if mean < 0.68 {
			t.Errorf("readout %s: mean test accuracy %.3f, want 0.68", readout, mean)
		}
	}
}
