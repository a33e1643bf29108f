package cuda

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestRowsAgree is TestAgree for rows that are learned and for the identity: on the device as a whole, and streamed.
func TestRowsAgree(t *testing.T) {
	needGPU(t)
	for _, embedding := range []int{0, 20} {
		for _, o := range []saga.Optimizer{{WeightDecay: 0.001}, {Kind: "adamw", WeightDecay: 0.001}, {Kind: "sgd", LR: 0.1}, {Kind: "sgd", LR: 0.1, Momentum: 0.9}} {
			d := graph(t)
			dataset.DropFeatures(d)
			features := d.Edges.V
			if embedding > 0 {
				features = embedding
			}
			m, err := layers.New("gcn", layers.Options{Features: features, Hidden: 32, Classes: d.Classes, Layers: 2, Dropout: 0.3})
			if err != nil {
				t.Fatal(err)
			}
			m.Embedding = embedding
			for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 4, Stream: true}} {
				c.Seed, c.Optimizer, c.Device = 1, o, "cpu"
				cpu := steps(t, m, d, c)
				c.Device = "cuda"
				gpu, again := steps(t, m, d, c), steps(t, m, d, c)
				for i := range cpu {
					if gpu[i] != again[i] {
						t.Fatalf("%s: losses %v and %v of two runs", o.Kind, gpu, again)
					}
					if !(math.Abs(gpu[i]-cpu[i]) <= 1e-3*math.Abs(cpu[i])) {
						t.Errorf("embedding %d, %s, P=%d: CPU %v\nGPU %v", embedding, o.Kind, c.Chunks, cpu, gpu)
						break
					}
				}
			}
		}
	}
}
