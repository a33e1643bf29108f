package nvrtc_test

import (
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestRows renders and compiles the kernels that learn rows, with two optimisers that have all ops between them.
func TestRows(t *testing.T) {
	for _, embedding := range []int{0, 20} {
		for _, o := range []saga.Optimizer{{Kind: "adamw", WeightDecay: 0.1}, {Kind: "sgd", Momentum: 0.9}} {
			d := dataset.Karate()
			dataset.DropFeatures(d)
			features := d.Edges.V
			if embedding > 0 {
				features = embedding
			}
			m, err := layers.New("gat", layers.Options{Features: features, Hidden: 8, Classes: d.Classes, Layers: 2, Heads: 4, Dropout: 0.5})
			if err != nil {
				t.Fatal(err)
			}
			m.Embedding = embedding
			p, err := saga.Compile(m, d, saga.Config{Optimizer: o})
			if err != nil {
				t.Fatal(err)
			}
			translate(t, p)
		}
	}
}

// TestSparseRows renders and compiles the kernels of sparse features, of widths that are whole vectors and others.
func TestSparseRows(t *testing.T) {
	for _, hidden := range []int{8, 9} {
		d := dataset.Karate()
		if err := d.SetSparse(dataset.SparseOf(d.Features, d.FeatureCols), d.FeatureCols); err != nil {
			t.Fatal(err)
		}
		m, err := layers.New("sage", layers.Options{Features: d.FeatureCols, Hidden: hidden, Classes: d.Classes, Layers: 2, Dropout: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		p, err := saga.Compile(m, d, saga.Config{})
		if err != nil {
			t.Fatal(err)
		}
		translate(t, p)
	}
}
