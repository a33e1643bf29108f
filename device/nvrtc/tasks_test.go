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

// TestSets renders and compiles the losses of several classes each, with and without labels that are not known.
func TestSets(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		for _, task := range []saga.Task{saga.VertexTask, saga.EdgeTask, saga.GraphTask} {
			d := dataset.Karate()
			rows := map[saga.Task]int{saga.VertexTask: d.Edges.V, saga.EdgeTask: d.Edges.E(), saga.GraphTask: 5}[task]
			n := dataset.Numbers{Rows: make([]float32, 3*rows), Cols: 3}
			if unknown {
				n.Rows[0] = dataset.Unknown
			}
			var train []uint32
			for i := range rows {
				n.Rows[3*i+1] = 1
				train = append(train, uint32(i))
			}
			d.Labels, d.Train, d.Val, d.Test = nil, nil, nil, nil
			switch d.Classes = 0; task {
			case saga.VertexTask:
				d.MultiLabels, d.Classes, d.Train, d.Schema.Vertex.Classes = n.Rows, 3, train, nil
			case saga.EdgeTask:
				d.Targets.EdgeSets, d.EdgeSplit.Train = n, train
			case saga.GraphTask:
				for v := range d.Edges.V {
					d.GraphOf = append(d.GraphOf, uint32(v%5))
				}
				d.Targets.GraphSets, d.GraphSplit.Train = n, train
			}
			m, err := layers.New("gcn", layers.Options{Task: task, Features: d.FeatureCols, Hidden: 16, Classes: 3, Layers: 2})
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
