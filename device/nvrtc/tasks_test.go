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

// TestTasks renders and compiles the kernels of losses on graphs and on edges.
func TestTasks(t *testing.T) {
	d := dataset.Karate()
	for v := range d.Edges.V {
		d.GraphOf = append(d.GraphOf, uint32(v%5))
	}
	d.GraphLabels, d.GraphSplit.Train = []int32{0, 1, 0, 1, 1}, []uint32{0, 1, 2}
	for k := range d.Edges.Src {
		d.EdgeLabels, d.EdgeSplit.Train = append(d.EdgeLabels, int32(k%2)), append(d.EdgeSplit.Train, uint32(k))
	}
	for _, o := range []layers.Options{{Task: saga.EdgeTask}, {Task: saga.GraphTask, Readout: saga.ReadoutSum},
		{Task: saga.GraphTask, Readout: saga.ReadoutMax}} {
		o.Features, o.Hidden, o.Classes, o.Layers = d.FeatureCols, 16, 2, 2
		m, err := layers.New("gcn", o)
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

// translate renders all kernels of p and has NVRTC translate them; without NVRTC they are rendered only.
func translate(t *testing.T, p *saga.Program) {
	t.Helper()
	for _, k := range p.Kernels() {
		c, err := cuda.Render(k, cuda.H200)
		if err != nil {
			t.Fatal(err)
		}
		if err = nvrtc.Check(c.Source, 75); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
			t.Fatalf("%s: %v\n%s", k.Name, err, c.Source)
		}
	}
}
