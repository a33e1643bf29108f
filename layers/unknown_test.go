package layers

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
)

// unknownCase is an entry of testdata/unknown.json, written by bench/peer/unknown.py.
type unknownCase struct {
	Task       saga.Task
	PosWeights []float32 `json:"pos_weights"`
	Sets       []float32 // 0, 1, and -1 where a label is not known
	Want       wanted
}

// data is the graph of the other cases with labels of which some are not known.
func (c *unknownCase) data(f *taskFile) (d *dataset.Data, cols int) {
	n := &f.Numbers
	d = &dataset.Data{Name: "unknown", Edges: &chunk.Edges{V: f.Vertices, Src: f.Src, Dst: f.Dst}, Features: f.Features, FeatureCols: f.Cols}
	t := n.Things[c.Task]
	switch split := (dataset.Split{Train: t.Train, Val: t.Val, Test: t.Test}); c.Task {
	case saga.VertexTask:
		d.MultiLabels, d.Classes, d.Train, d.Val, d.Test = c.Sets, f.Classes, f.Train, f.Val, f.Test
		return d, f.Classes
	case saga.EdgeTask:
		d.Targets.EdgeSets, d.EdgeSplit = dataset.Numbers{Rows: c.Sets, Cols: n.Cols}, split
	case saga.GraphTask:
		d.Targets.GraphSets, d.GraphSplit, d.GraphOf = dataset.Numbers{Rows: c.Sets, Cols: n.Cols}, split, n.GraphOf
	}
	return d, n.Cols
}

// Labels that are not known leave the loss, the gradients and the scores, as in PyTorch and scikit-learn: of vertices, edges and
// graphs, with everything resident, streamed and on two devices.
func TestUnknownLabels(t *testing.T) {
	f := readTasks(t)
	text, err := os.ReadFile("testdata/unknown.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []unknownCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	configs := []saga.Config{{}, {Chunks: 4, Stream: true}, {Device: "cpu:2", Chunks: 4}}
	if spec := taskDevice(); spec != "" {
		configs = []saga.Config{{Device: spec}, {Device: spec, Chunks: 4, Stream: true}}
	}
	for i := range cases {
		c := &cases[i]
		params := maps.Clone(f.Params)
		if c.Task != saga.VertexTask {
			maps.Copy(params, f.Numbers.Params)
		}
		if c.Task == saga.GraphTask {
			maps.Copy(params, f.Numbers.GraphHead)
		}
		for _, cfg := range configs {
			t.Run(fmt.Sprintf("%s%d/%s%d", c.Task, i, cfg.Device, cfg.Chunks), func(t *testing.T) {
				t.Parallel()
				d, cols := c.data(f)
				m, err := New("commnet", Options{Features: f.Cols, Hidden: f.Hidden, Classes: cols, Layers: 2, Task: c.Task, Readout: saga.ReadoutSum, Loss: saga.Loss{PosWeights: c.PosWeights}})
				if err != nil {
					t.Fatal(err)
				}
				cfg.Epochs, cfg.Optimizer = 20, saga.Optimizer{LR: 0.01}
				p, err := saga.Compile(m, d, cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				for _, q := range p.Params() {
					if err := p.SetParam(q.Name, params[q.Name]); err != nil {
						t.Fatal(err)
					}
				}
				first, err := p.Evaluate()
				if err != nil {
					t.Fatal(err)
				}
				scores(t, "before training", first.Test, c.Want.First)
				f.hold(t, &taskCase{Want: wanted{Losses: c.Want.Losses, Val: c.Want.Val, Grads: c.Want.Grads}}, p)
				last, err := p.Evaluate()
				if err != nil {
					t.Fatal(err)
				}
				scores(t, "after training", last.Test, c.Want.Test)
			})
		}
	}
}

func scores(t *testing.T, what string, m saga.Metrics, want map[string]float64) {
	t.Helper()
	if math.Abs(m.MicroF1-want["micro"]) > 1e-9 || math.Abs(m.MacroF1-want["macro"]) > 1e-9 {
		t.Errorf("%s: F1 %v and %v, want %v", what, m.MicroF1, m.MacroF1, want)
	}
}

// A split of edges is read only by tasks of edges, whatever of the labels of vertices is known.
func TestUnknownBesideEdges(t *testing.T) {
	d := dataset.Karate()
	d.Classes, d.Labels = 3, nil
	d.MultiLabels = make([]float32, 3*d.Edges.V)
	d.MultiLabels[4], d.MultiLabels[7] = dataset.Unknown, 1
	d.EdgeLabels = make([]int32, d.Edges.E())
	d.EdgeSplit.Train = []uint32{1, 70, 155}
	m, err := New("gcn", Options{Features: d.FeatureCols, Hidden: 4, Classes: 3, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	p, err := saga.Compile(m, d, saga.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if loss, err := p.Step(); err != nil || math.IsNaN(loss) {
		t.Errorf("loss %v: %v", loss, err)
	}
}
