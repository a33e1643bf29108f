package saga_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// golden is what bench/peer/rows.py writes.
type golden struct {
	Vertices, Classes, Hidden, Width, Columns int
	Src, Dst, Train                           []uint32
	Labels                                    []int32
	Sparse                                    []float32
	Runs                                      map[string]struct {
		First, Last map[string][]float32
		Losses      []float64
	}
}

// Learned rows, the identity and sparse rows train as PyTorch does in float64. SAGANN_DEVICE names another
// device than CPUs.
func TestRowsGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	for kind, run := range g.Runs {
		configs := []saga.Config{{}, {Chunks: 4, Stream: true}, {Device: "cpu:2", Chunks: 3}}
		if spec := os.Getenv("SAGANN_DEVICE"); spec != "" {
			configs = []saga.Config{{Device: spec}, {Device: spec, Chunks: 4, Stream: true}}
		}
		for _, c := range configs {
			d := &dataset.Data{Name: "golden", Edges: &chunk.Edges{V: g.Vertices, Src: g.Src, Dst: g.Dst}, Labels: g.Labels, Classes: g.Classes, Train: g.Train}
			o := layers.Options{Features: g.Vertices, Hidden: g.Hidden, Classes: g.Classes, Layers: 2}
			switch kind {
			case "embedding":
				o.Features = g.Width
			case "sparse":
				o.Features = g.Columns
				if err := d.SetSparse(dataset.SparseOf(g.Sparse, g.Columns), g.Columns); err != nil {
					t.Fatal(err)
				}
			}
			m, err := layers.New("gcn", o)
			if err != nil {
				t.Fatal(err)
			}
			if kind == "embedding" {
				m.Embedding = g.Width
			}
			c.Epochs, c.Optimizer = len(run.Losses), saga.Optimizer{LR: 0.01}
			p, err := saga.Compile(m, d, c)
			if err != nil {
				t.Fatal(err)
			}
			for name, x := range run.First {
				if err := p.SetParam(name, x); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range run.Losses {
				got, err := p.Step()
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(got-want) > 1e-5*math.Abs(want) {
					t.Errorf("%s, %+v: loss %d is %v, want %v", kind, c.Chunks, i, got, want)
				}
			}
			for name, want := range run.Last {
				got, err := p.Param(name)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range want {
					if math.Abs(float64(got[i]-x)) > 1e-4 {
						t.Fatalf("%s: number %d of %s is %v, want %v", kind, i, name, got[i], x)
					}
				}
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
