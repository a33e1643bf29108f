package layers

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// sampledTasks are those that stand on more than one vertex.
func sampledTasks(t *testing.T) []struct {
	name string
	d    *dataset.Data
	o    Options
	n    int // items of an epoch
} {
	graphs, edges, links := triangles(t, 60), neighbours(t), linkData(t)
	nGraphs, nEdges, nLinks := len(graphs.GraphSplit.Train), len(edges.EdgeSplit.Train), links.Targets.Links.Train.Len()
	return []struct {
		name string
		d    *dataset.Data
		o    Options
		n    int
	}{
		{"sum", graphs, Options{Task: saga.GraphTask, Readout: saga.ReadoutSum}, nGraphs},
		{"mean", graphs, Options{Task: saga.GraphTask, Loss: saga.Loss{ClassWeights: []float32{1, 3}}}, nGraphs},
		{"max", graphs, Options{Task: saga.GraphTask, Readout: saga.ReadoutMax}, nGraphs},
		{"edges", edges, Options{Task: saga.EdgeTask}, nEdges},
		{"weighted edges", edges, Options{Task: saga.EdgeTask, Loss: saga.Loss{ClassWeights: []float32{1, 3}}}, nEdges},
		{"dot", links, Options{Task: saga.LinkTask, LinkHead: saga.LinkDot}, nLinks},
		{"bilinear", links, Options{Task: saga.LinkTask, LinkHead: saga.LinkBilinear}, nLinks},
		{"mlp", links, Options{Task: saga.LinkTask, LinkHead: saga.LinkMLP}, nLinks},
	}
}

func taskModel(t *testing.T, name string, d *dataset.Data, o Options) saga.Model {
	t.Helper()
	o.Features, o.Hidden, o.Classes, o.Layers = d.FeatureCols, 8, 2, 2
	m, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// firstStep is the loss of a step and the gradients of all parameters.
func firstStep(t *testing.T, p *saga.Program, err error) (loss float32, grads map[string][]float32) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x, err := p.Step()
	if err != nil {
		t.Fatal(err)
	}
	grads = map[string][]float32{}
	for _, q := range p.Params() {
		if grads[q.Name], err = p.Grad(q.Name); err != nil {
			t.Fatal(err)
		}
	}
	return float32(x), grads
}

// furthest is the largest absolute value of x.
func furthest(x []float32) (most float32) {
	for _, v := range x {
		most = max(most, v, -v)
	}
	return most
}

// A batch of all edges, links or graphs of the training split, with fan-outs above every degree, gives
// loss and gradients of the full graph.
func TestSampledTasks(t *testing.T) {
	for _, tc := range sampledTasks(t) {
		for _, name := range []string{"gcn", "sage", "gat", "gin"} {
			for _, drop := range []float32{0, 0.4} {
				t.Run(fmt.Sprint(tc.name, " ", name, " ", drop), func(t *testing.T) {
					tc.o.Dropout = drop
					m := taskModel(t, name, tc.d, tc.o)
					var loss [2]float32
					var grads [2]map[string][]float32
					for i := range 2 { // two orders of sums
						p, err := saga.Compile(m, tc.d, saga.Config{Seed: 4, Chunks: 1 + 2*i})
						loss[i], grads[i] = firstStep(t, p, err)
					}
					p, err := saga.CompileSampled(m, tc.d, saga.Config{Seed: 4}, saga.Sampling{Sampler: sample.Neighbours(everything, everything), Batch: tc.n})
					got, by := firstStep(t, p, err)
					compare(t, "loss", []float32{got}, loss[:1], 1e-5)
					most := float32(0)
					for _, want := range grads[0] {
						most = max(most, furthest(want))
					}
					for param, want := range grads[0] {
						if furthest(want) < 1e-7*most { // a_dst of gat is a sum that cancels
							continue
						}
						compare(t, "gradient of "+param, by[param], want, 1e-5+2*away(grads[1][param], want))
					}
				})
			}
		}
	}
}

// Batches of edges, links and graphs learn, and a run that goes on after any batch has the bits of one that did not stop.
func TestSampledTasksBits(t *testing.T) {
	for _, tc := range sampledTasks(t) {
		m := taskModel(t, "sage", tc.d, tc.o)
		for _, s := range []sample.Sampler{sample.Neighbours(5, 3), sample.ShaDow(2, 3)} {
			c := saga.Config{Seed: 4, Epochs: 4, Optimizer: saga.Optimizer{LR: 0.02}}
			run := func(o saga.TrainOptions) (list []float64, final saga.Scores) {
				t.Helper()
				p, err := saga.CompileSampled(m, tc.d, c, saga.Sampling{Sampler: s, Batch: (tc.n + 2) / 3})
				if err != nil {
					t.Fatal(tc.name, s.Name, err)
				}
				defer p.Close()
				save := o.Checkpoint
				o.OnBatch = func(b saga.Batch) error {
					if list = append(list, b.Loss); len(list) == 5 && save != "" {
						if err := p.Save(save, ""); err != nil {
							t.Fatal(err)
						}
						return errStop
					}
					return nil
				}
				o.Checkpoint = ""
				r, err := p.Train(t.Context(), o)
				if err != nil && err != errStop {
					t.Fatal(tc.name, s.Name, err)
				}
				if r != nil {
					final = r.Final
				}
				return list, final
			}
			want, final := run(saga.TrainOptions{})
			if n := len(want); n != 12 || !(want[n-1]+want[n-2]+want[n-3] < want[0]+want[1]+want[2]) {
				t.Errorf("%s: losses %v", tc.name, want)
			}
			path := filepath.Join(t.TempDir(), "c.safetensors")
			first, _ := run(saga.TrainOptions{Checkpoint: path})
			rest, again := run(saga.TrainOptions{Resume: path})
			if !slices.Equal(append(first, rest...), want) || final != again {
				t.Errorf("%s: resumed %v %v, straight %v", tc.name, first, rest, want)
			}
		}
	}
}
