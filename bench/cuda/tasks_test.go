package cuda

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestTasksAgree is TestAgree for labels of graphs and of edges.
func TestTasksAgree(t *testing.T) {
	needGPU(t)
	d := graph(t)
	for v := range d.Edges.V {
		d.GraphOf = append(d.GraphOf, uint32(v*7)%90)
	}
	for g := range 100 { // ten graphs have no vertices
		d.GraphLabels = append(d.GraphLabels, int32(g%2))
	}
	for k, s := range d.Edges.Src {
		same := int32(0)
		if d.Labels[s] == d.Labels[d.Edges.Dst[k]] {
			same = 1
		}
		d.EdgeLabels = append(d.EdgeLabels, same)
	}
	for _, k := range []dataset.LabelKind{dataset.EdgeLabels, dataset.GraphLabels} {
		if err := dataset.RandomSplitOf(d, k, 0.6, 0.2, 1); err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range map[string]layers.Options{"edges": {Task: saga.EdgeTask},
		"sum":  {Task: saga.GraphTask, Readout: saga.ReadoutSum},
		"mean": {Task: saga.GraphTask, Readout: saga.ReadoutMean}, "max": {Task: saga.GraphTask, Readout: saga.ReadoutMax}} {
		o.Features, o.Hidden, o.Classes, o.Layers = d.FeatureCols, 32, 2, 2
		m, err := layers.New("gcn", o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 4, Stream: true}} {
			c.Seed, c.Device = 1, "cpu"
			cpu := steps(t, m, d, c)
			c.Device = "cuda"
			gpu, again := steps(t, m, d, c), steps(t, m, d, c)
			for i := range cpu {
				if gpu[i] != again[i] {
					t.Fatalf("%s: losses %v and %v of two runs", name, gpu, again)
				}
				if !(math.Abs(gpu[i]-cpu[i]) <= 1e-3*math.Abs(cpu[i])) {
					t.Errorf("%s, P=%d: CPU %v\nGPU %v", name, c.Chunks, cpu, gpu)
					break
				}
			}
		}
	}
}

// steps are the losses of ten epochs and of the test split after them.
func steps(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) []float64 {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var out []float64
	for range 10 {
		l, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	s, err := p.Evaluate()
	if err != nil {
		t.Fatal(err)
	}
	return append(out, s.Test.Loss)
}
