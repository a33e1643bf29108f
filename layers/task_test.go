package layers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
)

// triangles is a set of small graphs, rings of a few vertices; of class 1 are those with
// a chord, which closes a triangle. Their vertices are dealt over all numbers.
func triangles(t *testing.T, graphs int) *dataset.Data {
	t.Helper()
	r := rand.New(rand.NewPCG(4, 4))
	d := &dataset.Data{Name: "rings", Edges: &chunk.Edges{}, FeatureCols: 2}
	for g := range graphs {
		n, class := 5+r.IntN(4), int32(r.IntN(2))
		first := d.Edges.V
		tie := func(a, b int) {
			u, v := uint32(first+a%n), uint32(first+b%n)
			d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, u, v), append(d.Edges.Dst, v, u)
		}
		for i := range n {
			tie(i, i+1)
			d.GraphOf = append(d.GraphOf, uint32(g))
			d.Features = append(d.Features, 1, float32(r.NormFloat64()))
		}
		if class == 1 {
			tie(0, 2)
		}
		d.Edges.V += n
		d.GraphLabels = append(d.GraphLabels, class)
	}
	d.GraphOf, d.Edges = shuffled(r, d.GraphOf, d.Edges)
	if err := dataset.RandomSplitOf(d, dataset.GraphLabels, 0.6, 0.2, 1); err != nil {
		t.Fatal(err)
	}
	return d
}

// shuffled renumbers the vertices.
func shuffled(r *rand.Rand, graphOf []uint32, e *chunk.Edges) ([]uint32, *chunk.Edges) {
	to := r.Perm(e.V)
	of, out := make([]uint32, e.V), &chunk.Edges{V: e.V}
	for v, g := range graphOf {
		of[to[v]] = g
	}
	for k := range e.Src {
		out.Src, out.Dst = append(out.Src, uint32(to[e.Src[k]])), append(out.Dst, uint32(to[e.Dst[k]]))
	}
	return of, out
}

// neighbours is a community graph whose edges have a label: 1 within a community.
func neighbours(t *testing.T) *dataset.Data {
	t.Helper()
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 600, Edges: 9000, Features: 16, Classes: 3, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 4000 { // more edges between communities than the generator draws
		d.Edges.Src = append(d.Edges.Src, uint32(r.IntN(600)))
		d.Edges.Dst = append(d.Edges.Dst, uint32(r.IntN(600)))
	}
	for k := range d.Edges.Src {
		same := int32(0)
		if d.Labels[d.Edges.Src[k]] == d.Labels[d.Edges.Dst[k]] {
			same = 1
		}
		d.EdgeLabels = append(d.EdgeLabels, same)
	}
	if err := dataset.RandomSplitOf(d, dataset.EdgeLabels, 0.6, 0.2, 1); err != nil {
		t.Fatal(err)
	}
	d.EdgeLabels[d.EdgeSplit.Test[0]], d.EdgeSplit.Test = -1, d.EdgeSplit.Test[1:]
	return d
}

// fitted trains model name for a task and returns the scores.
func fitted(t *testing.T, name string, d *dataset.Data, o Options, c saga.Config) saga.Scores {
	t.Helper()
	o.Features, o.Classes = d.FeatureCols, 2
	m, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	res, err := p.Train(t.Context(), saga.TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Final
}

func TestGraphLabels(t *testing.T) {
	d := triangles(t, 400)
	for _, r := range []saga.Readout{saga.ReadoutSum, saga.ReadoutMean, saga.ReadoutMax} {
		s := fitted(t, "gin", d, Options{Hidden: 16, Layers: 2, Task: saga.GraphTask, Readout: r},
			saga.Config{Epochs: 150, Seed: 3, EvalEvery: 50, Optimizer: saga.Optimizer{LR: 0.02}})
		t.Logf("%s: %+v", r, s)
		if s.Test.Accuracy < 0.9 {
			t.Errorf("readout %s: test accuracy %.3f, want 0.9", r, s.Test.Accuracy)
		}
	}
}

func TestEdgeLabels(t *testing.T) {
	s := fitted(t, "sage", neighbours(t), Options{Hidden: 16, Layers: 2, Task: saga.EdgeTask},
		saga.Config{Epochs: 80, Seed: 3, EvalEvery: 80, Optimizer: saga.Optimizer{LR: 0.01}})
	t.Logf("%+v", s)
	if s.Test.Accuracy < 0.9 {
		t.Errorf("test accuracy %.3f, want above 0.9", s.Test.Accuracy)
	}
}

// Losses and scores are those of one interval with four that stream, on several
// devices, and without any pass.
func TestTasksEveryWay(t *testing.T) {
	graphs, edges := triangles(t, 60), neighbours(t)
	for _, tc := range []struct {
		name string
		d    *dataset.Data
		o    Options
	}{
		{"sum", graphs, Options{Task: saga.GraphTask, Readout: saga.ReadoutSum}},
		{"mean", graphs, Options{Task: saga.GraphTask}},
		{"max", graphs, Options{Task: saga.GraphTask, Readout: saga.ReadoutMax}},
		{"edges", edges, Options{Task: saga.EdgeTask}},
	} {
		for _, name := range []string{"gcn", "gin", "ggcn"} {
			o := tc.o
			o.Features, o.Hidden, o.Classes, o.Layers, o.Dropout = tc.d.FeatureCols, 8, 2, 2, 0.3
			m, err := New(name, o)
			if err != nil {
				t.Fatal(err)
			}
			base := saga.Config{Seed: 5, Chunks: 1, Optimizer: saga.Optimizer{LR: 0.02}}
			want := epochs(t, m, tc.d, base, 5)
			for _, c := range []saga.Config{
				{Chunks: 4, Stream: true}, {Chunks: 4, Stream: true, Without: []string{"fuse"}}, {Chunks: 3, Schedule: "dest-order", Stream: true},
				{Chunks: 3, Without: []string{"hoist", "commute", "factor", "invariant"}}, {Chunks: 4, Stream: true, Device: "cpu:3"},
			} {
				c.Seed, c.Optimizer = base.Seed, base.Optimizer
				what := fmt.Sprintf("%s/%s P=%d %s %v %s", tc.name, name, c.Chunks, c.Schedule, c.Without, c.Device)
				compare(t, what, epochs(t, m, tc.d, c, 5), want, 1e-4)
			}
		}
	}
}
