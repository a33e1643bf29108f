package saga_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// tasks is graph with labels of edges, 1 inside a community, with labels of graphs of
// a few vertices each, and with data on the edges. Two graphs have no vertices.
func tasks(t *testing.T) *dataset.Data {
	t.Helper()
	d := graph(t)
	e := d.Edges
	e.DataCols = 2
	for k := range e.Src {
		same := int32(0)
		if d.Labels[e.Src[k]] == d.Labels[e.Dst[k]] {
			same = 1
		}
		d.EdgeLabels = append(d.EdgeLabels, same)
		e.Data = append(e.Data, float32(k%7)/7, float32(k%3))
	}
	const graphs = 40
	for v := range e.V {
		d.GraphOf = append(d.GraphOf, uint32(v*11)%(graphs-2))
	}
	for g := range graphs {
		d.GraphLabels = append(d.GraphLabels, int32(g%3))
	}
	for _, k := range []dataset.LabelKind{dataset.EdgeLabels, dataset.GraphLabels} {
		if err := dataset.RandomSplitOf(d, k, 0.5, 0.25, 1); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func taskModel(t *testing.T, name string, d *dataset.Data, task saga.Task, r saga.Readout) saga.Model {
	t.Helper()
	classes := map[saga.Task]int{saga.EdgeTask: 2, saga.GraphTask: 3}[task]
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 8, Classes: classes, Layers: 2, Dropout: 0.2, Task: task, Readout: r})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPredictTasks: what is predicted for edges and for graphs scores as the evaluation
// says, also with self loops that the data does not have, whole and streamed; a
// resumed run goes on bit for bit.
func TestPredictTasks(t *testing.T) {
	d := tasks(t)
	for _, tc := range []struct {
		task    saga.Task
		readout saga.Readout
		rows    int
		labels  []int32
	}{
		{saga.EdgeTask, "", d.Edges.E(), d.EdgeLabels},
		{saga.GraphTask, saga.ReadoutMean, 40, d.GraphLabels},
		{saga.GraphTask, saga.ReadoutMax, 40, d.GraphLabels},
	} {
		m := taskModel(t, "gcn", d, tc.task, tc.readout)
		path := filepath.Join(t.TempDir(), "c.safetensors")
		p := must(saga.Compile(m, d, streamed(6)))(t)
		defer p.Close()
		train(t, p, saga.TrainOptions{Checkpoint: path})
		s := must(p.Evaluate())(t)
		whole, cols, err := saga.Predict(m, d, saga.Config{}, path)
		if err != nil || len(whole) != tc.rows*cols {
			t.Fatalf("%s: %d logits of %d columns, %v", tc.task, len(whole), cols, err)
		}
		hits, test := 0, d.Splits(tc.task)[2]
		said := saga.Classes(whole, cols)
		for _, i := range test {
			if said[i] == tc.labels[i] {
				hits++
			}
		}
		if got := float64(hits) / float64(len(test)); got != s.Test.Accuracy {
			t.Errorf("%s: %v of the test split are right, evaluation says %v", tc.task, got, s.Test.Accuracy)
		}
		x, _, err := saga.Predict(m, d, saga.Config{Stream: true, MinChunks: 3}, path)
		if err != nil {
			t.Fatal(err)
		}
		near(t, string(tc.task), x, whole)
		live, _, err := p.Predict()
		if err != nil {
			t.Fatal(err)
		}
		near(t, string(tc.task), live, whole)
		rows, hidden, err := p.Embed()
		if want := map[saga.Task]int{saga.EdgeTask: d.Edges.V, saga.GraphTask: 40}[tc.task]; err != nil || hidden != 8 || len(rows) != want*8 {
			t.Errorf("%s: embedding of %d numbers, %d columns, %v", tc.task, len(rows), hidden, err)
		}
		// Epochs 7 and 8, in one go and after a restart.
		var straight, resumed [2]float64
		for i := range straight {
			straight[i] = must(p.Step())(t)
		}
		q := must(saga.Compile(m, d, streamed(6)))(t)
		defer q.Close()
		if err := q.Restore(path); err != nil {
			t.Fatal(err)
		}
		for i := range resumed {
			resumed[i] = must(q.Step())(t)
		}
		if straight != resumed {
			t.Errorf("%s: losses %v, resumed %v", tc.task, straight, resumed)
		}
	}
}

func must[T any](x T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// updating makes edge data in its first layer, which the second layer and the edge head
// read.
func updating(in int) saga.Model {
	message := func(e saga.Edge, p saga.Params) saga.Tensor {
		return ops.Mul(ops.MatMul(e.Src, p.Weight("A", e.Src.Cols(), e.Data.Cols())), e.Data)
	}
	vertex := func(v saga.Vertex, p saga.Params) saga.Tensor {
		return ops.Tanh(ops.Add(ops.MatMul(v.Accum, p.Weight("W", v.Accum.Cols(), 6)), ops.MatMul(v.Self, p.Weight("S", v.Self.Cols(), 6))))
	}
	return saga.Model{Name: "updating", Task: saga.EdgeTask, Layers: []saga.Layer{
		{Name: "first", ApplyEdge: message, ApplyVertex: vertex,
			UpdateEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
				ends := ops.Mul(ops.MatMul(e.Src, p.Weight("U", in, 5)), ops.MatMul(e.Dst, p.Weight("V", in, 5)))
				return ops.Tanh(ops.Add(ends, ops.MatMul(e.Data, p.Weight("D", 2, 5))))
			}},
		{Name: "second", ApplyEdge: message, ApplyVertex: vertex},
	}, EdgeHead: func(e saga.Edge, p saga.Params) saga.Tensor {
		return ops.MatMul(ops.Concat(e.Src, e.Dst, e.Data), p.Weight("W", 17, 2))
	}}
}

// TestUpdateEdge: edge data of a layer feeds the next; gradients go back through it, to
// its own weights too; the grid and the passes change nothing.
func TestUpdateEdge(t *testing.T) {
	d := tasks(t)
	m := updating(d.FeatureCols)
	run := func(c saga.Config, epochs int) (losses []float64, grad []float32) {
		c.Seed, c.Optimizer = 2, saga.Optimizer{LR: 0.02}
		p := must(saga.Compile(m, d, c))(t)
		defer p.Close()
		for range epochs {
			losses = append(losses, must(p.Step())(t))
		}
		for _, name := range []string{"layer1.U", "layer1.V", "layer1.D", "layer2.A", "head.W"} {
			grad = append(grad, must(p.Grad(name))(t)...)
		}
		return append(losses, must(p.Evaluate())(t).Test.Loss), grad
	}
	want, grad := run(saga.Config{}, 4)
	for _, c := range []saga.Config{{Chunks: 4, Stream: true}, {Chunks: 3, Without: []string{"fuse"}},
		{Chunks: 2, Schedule: "stage", Without: []string{"hoist", "factor", "commute"}}, {Chunks: 4, Device: "cpu:2"}} {
		losses, g := run(c, 4)
		near(t, fmt.Sprintf("gradients, P=%d", c.Chunks), g, grad)
		for i := range want {
			if math.Abs(losses[i]-want[i]) > 1e-4*want[i] {
				t.Errorf("%+v: losses %v, want %v", c, losses, want)
				break
			}
		}
	}
	if losses, _ := run(saga.Config{}, 100); losses[99] > 0.6*losses[0] {
		t.Errorf("the loss falls from %v to %v only", losses[0], losses[99])
	}
}

// The gradient of a weight that makes edge data is the change of the loss.
func TestUpdateEdgeGradient(t *testing.T) {
	d := tasks(t)
	p := must(saga.Compile(updating(d.FeatureCols), d, saga.Config{Seed: 3, Optimizer: saga.Optimizer{Kind: "sgd", LR: 1e-12}}))(t)
	defer p.Close()
	for _, name := range []string{"layer1.U", "layer1.D", "layer2.A"} {
		w := must(p.Param(name))(t)
		must(p.Step())(t)
		g := must(p.Grad(name))(t)
		loss := func(step float32) float64 { // along the gradient
			moved := make([]float32, len(w))
			for i := range w {
				moved[i] = w[i] + step*g[i]
			}
			if err := p.SetParam(name, moved); err != nil {
				t.Fatal(err)
			}
			return must(p.Evaluate())(t).Train.Loss
		}
		square := 0.0
		for _, x := range g {
			square += float64(x) * float64(x)
		}
		h := float32(0.02 / math.Sqrt(square))
		got := (loss(h) - loss(-h)) / float64(2*h)
		loss(0)
		if math.Abs(got-square) > 0.02*square {
			t.Errorf("%s: the loss changes by %v, the gradient says %v", name, got, square)
		}
	}
}

func TestTaskErrors(t *testing.T) {
	d := tasks(t)
	edge, mean := taskModel(t, "sage", d, saga.EdgeTask, ""), taskModel(t, "sage", d, saga.GraphTask, "")
	with := func(m saga.Model, f func(m *saga.Model)) saga.Model { f(&m); return m }
	for _, tc := range []struct {
		text string
		m    saga.Model
		d    func(d *dataset.Data)
		c    saga.Config
	}{
		{"needs an EdgeHead", with(edge, func(m *saga.Model) { m.EdgeHead = nil }), nil, saga.Config{}},
		{"has no head", with(edge, func(m *saga.Model) { m.Task = "" }), nil, saga.Config{}},
		{"has no EdgeHead", with(mean, func(m *saga.Model) { m.EdgeHead = edge.EdgeHead }), nil, saga.Config{}},
		{`unknown task "x"`, with(mean, func(m *saga.Model) { m.Task = "x" }), nil, saga.Config{}},
		{`unknown readout "x"`, with(mean, func(m *saga.Model) { m.Readout = "x" }), nil, saga.Config{}},
		{": Head(): returned nil", with(mean, func(m *saga.Model) {
			m.Head = func(saga.Tensor, saga.Params) saga.Tensor { return nil }
		}), nil, saga.Config{}},
		{"layer 2 (sage): the readout gives rows 8 wide; the data has 3 classes", with(mean, func(m *saga.Model) { m.Head = nil }), nil, saga.Config{}},
		{"the head gives rows 4 wide", with(mean, func(m *saga.Model) { m.Head = layers.GraphHead(8, 4) }), nil, saga.Config{}},
		{"layer 3 (head): head.go:", with(mean, func(m *saga.Model) { m.Head = layers.GraphHead(9, 3) }), nil, saga.Config{}},
		{"must give a row for each of the edges", with(edge, func(m *saga.Model) {
			m.EdgeHead = func(e saga.Edge, _ saga.Params) saga.Tensor { return ops.Sum(e.Src) }
		}), nil, saga.Config{}},
		{"UpdateEdge(): returned nil", with(edge, func(m *saga.Model) {
			m.Layers = append([]saga.Layer{}, m.Layers...)
			m.Layers[0].UpdateEdge = func(saga.Edge, saga.Params) saga.Tensor { return nil }
		}), nil, saga.Config{}},
		{"does not say which graph", mean, func(d *dataset.Data) {
			d.GraphOf, d.GraphLabels, d.GraphSplit.Train, d.GraphSplit.Val, d.GraphSplit.Test = nil, nil, nil, nil, nil
		}, saga.Config{}},
		{"at most 16777216", mean, func(d *dataset.Data) {
			d.GraphLabels, d.GraphSplit.Train, d.GraphSplit.Val, d.GraphSplit.Test, d.GraphOf[0] = nil, nil, nil, nil, 1<<31
		}, saga.Config{}},
		{`no output "logits"`, edge, nil, saga.Config{Outputs: []string{"logits"}}},
	} {
		data := *d
		data.GraphOf = append([]uint32{}, d.GraphOf...)
		if tc.d != nil {
			tc.d(&data)
		}
		if _, err := saga.Compile(tc.m, &data, tc.c); err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("error %v, want %q", err, tc.text)
		}
	}
	if _, err := saga.Plan(mean, saga.Shape{Vertices: 10, Edges: 20, Features: 3, Classes: 3}, saga.Config{}); err == nil {
		t.Error("planned graphs from statistics")
	}
	for _, tc := range []struct {
		text string
		m    saga.Model
		d    func(d *dataset.Data)
	}{
		{"no edge labels to train on", edge, func(d *dataset.Data) {
			d.EdgeLabels, d.EdgeSplit.Train, d.EdgeSplit.Val, d.EdgeSplit.Test = nil, nil, nil, nil
		}},
		{"no training graphs", mean, func(d *dataset.Data) { d.GraphSplit.Train = nil }},
		{"no graph labels", mean, func(d *dataset.Data) {
			d.GraphLabels, d.GraphSplit.Train, d.GraphSplit.Val, d.GraphSplit.Test = nil, nil, nil, nil
		}},
	} {
		data := *d
		tc.d(&data)
		p := must(saga.Compile(tc.m, &data, saga.Config{Epochs: 1}))(t)
		if _, err := p.Train(t.Context(), saga.TrainOptions{}); err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("error %v, want %q", err, tc.text)
		}
	}
}

// A graph without edges trains, too; the edges of a graph may all lack a label.
func TestTaskWithoutEdges(t *testing.T) {
	d := tasks(t)
	d.Edges = &chunk.Edges{V: d.Edges.V}
	d.EdgeLabels, d.EdgeSplit.Train, d.EdgeSplit.Val, d.EdgeSplit.Test = nil, nil, nil, nil
	p := must(saga.Compile(taskModel(t, "sage", d, saga.GraphTask, saga.ReadoutSum), d, saga.Config{Chunks: 3, Stream: true}))(t)
	defer p.Close()
	if l := must(p.Step())(t); math.IsNaN(l) || l <= 0 {
		t.Errorf("loss %v", l)
	}
}
