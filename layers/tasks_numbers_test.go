package layers

import (
	"fmt"
	"maps"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
)

// numbersOf is the graph with targets of edges and of graphs; some of what is in no split has none.
func (f *taskFile) numbersOf() *dataset.Data {
	n := &f.Numbers
	d := &dataset.Data{Name: "numbers", Edges: &chunk.Edges{V: f.Vertices, Src: f.Src, Dst: f.Dst}, Features: f.Features, FeatureCols: f.Cols, GraphOf: n.GraphOf}
	e, g := n.Things[saga.EdgeTask], n.Things[saga.GraphTask]
	d.Targets.Edge, d.EdgeSplit = dataset.Numbers{Rows: e.Targets, Cols: n.Cols}, dataset.Split{Train: e.Train, Val: e.Val, Test: e.Test}
	d.Targets.Graph, d.GraphSplit = dataset.Numbers{Rows: g.Targets, Cols: n.Cols}, dataset.Split{Train: g.Train, Val: g.Val, Test: g.Test}
	return d
}

// Numbers of edges and of graphs are learned as PyTorch learns them, with everything resident and over four
// streamed intervals.
func TestNumbersGolden(t *testing.T) {
	f := readTasks(t)
	n := &f.Numbers
	for i := range n.Cases {
		c := &n.Cases[i]
		params := maps.Clone(n.Params)
		if c.Task == saga.GraphTask {
			maps.Copy(params, n.GraphHead)
		}
		configs := []saga.Config{{}, {Chunks: 4, Stream: true}, {Device: "cpu:2", Chunks: 4}}
		if spec := taskDevice(); spec != "" {
			configs = []saga.Config{{Device: spec}, {Device: spec, Chunks: 4, Stream: true}}
		}
		for _, cfg := range configs {
			t.Run(fmt.Sprintf("%d/%s%d", i, cfg.Device, cfg.Chunks), func(t *testing.T) {
				t.Parallel()
				m, err := New("commnet", Options{Features: f.Cols, Hidden: f.Hidden, Classes: n.Cols, Layers: 2, Task: c.Task, Readout: c.Readout, Loss: saga.Loss{Kind: c.Loss, Delta: c.Delta}})
				if err != nil {
					t.Fatal(err)
				}
				cfg.Epochs, cfg.Optimizer = 20, saga.Optimizer{LR: 0.01}
				p, err := saga.Compile(m, f.numbersOf(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				for _, q := range p.Params() {
					if err := p.SetParam(q.Name, params[q.Name]); err != nil {
						t.Fatal(err)
					}
				}
				f.hold(t, c, p)
				x, cols, err := p.Predict()
				if err != nil {
					t.Fatal(err)
				}
				if rows := len(n.Things[c.Task].Targets) / n.Cols; cols != n.Cols || len(x) != rows*cols {
					t.Errorf("%d predictions of %d columns; want %d rows of %d", len(x), cols, rows, n.Cols)
				}
			})
		}
	}
}
