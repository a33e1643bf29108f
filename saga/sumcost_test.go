package saga_test

import (
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestSumCosts: the sums of batch norm cost the rows that are written for them and read again; nothing else costs more for it.
func TestSumCosts(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 60, Edges: 300, Features: 8, Classes: 3, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	d.HoldFeatures()
	for _, name := range slices.DeleteFunc(layers.Names(), func(name string) bool { return name == "gen" || name == "han" }) { // which have a batch norm or a mean over vertices within
		for _, norm := range []string{"", "layer", "batch"} {
			m, err := layers.New(name, layers.Options{Features: 8, Hidden: 16, Classes: 3, Layers: 2, Heads: 4, Between: layers.Between{Norm: norm}})
			if err != nil {
				continue // a model without rows between layers
			}
			p, err := saga.Compile(m, d, saga.Config{})
			if err != nil {
				t.Fatal(err)
			}
			// The squared distances, and in the gradient three rows that nothing else keeps.
			if got := p.SumBytes(); norm == "batch" && name == "gcn" && got != 4*2*4*16 || norm != "batch" && got != 0 {
				t.Errorf("%s, norm %q: %d bytes a row", name, norm, got)
			}
		}
	}
}
