package nvrtc_test

import (
	"errors"
	"testing"

	"sagann/dataset"
	"sagann/device/nvrtc"
	"sagann/kernel/cuda"
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
			for _, k := range p.Kernels() {
				c, err := cuda.Render(k, cuda.H200)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = nvrtc.PTX(c.Source, 75); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
					t.Fatalf("%s: %v\n%s", k.Name, err, c.Source)
				}
			}
		}
	}
}
