package layers

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/ops"
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
	graphs, edges, links, triples := triangles(t, 60), neighbours(t), linkData(t), tripleData(t)
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
		{"several labels of graphs", partly(graphs, saga.GraphTask), Options{Task: saga.GraphTask}, nGraphs},
		{"several labels of edges", partly(edges, saga.EdgeTask), Options{Task: saga.EdgeTask, Loss: saga.Loss{PosWeights: []float32{1, 3}}}, nEdges},
		{"numbers of graphs", valued(graphs, saga.GraphTask), Options{Task: saga.GraphTask, Loss: saga.Loss{Kind: saga.LossMSE}}, nGraphs},
		{"numbers of edges", valued(edges, saga.EdgeTask), Options{Task: saga.EdgeTask, Loss: saga.Loss{Kind: saga.LossHuber}}, nEdges},
		{"several labels of vertices", partly(graphs, saga.VertexTask), Options{}, graphs.Edges.V},
		{"dot", links, Options{Task: saga.LinkTask, LinkHead: saga.LinkDot}, nLinks},
		{"bilinear", links, Options{Task: saga.LinkTask, LinkHead: saga.LinkBilinear}, nLinks},
		{"mlp", links, Options{Task: saga.LinkTask, LinkHead: saga.LinkMLP}, nLinks},
		{"triples", triples, Options{Task: saga.LinkTask, LinkHead: saga.LinkDistMult}, triples.Targets.Links.Train.Len()},
	}
}

// tripleData is a graph with links of nine relations.
func tripleData(t *testing.T) *dataset.Data {
	t.Helper()
	d := *linkData(t)
	e := *d.Edges
	e.Types, e.Type = 9, make([]uint32, e.E())
	for k := range e.Type {
		e.Type[k] = (e.Src[k] + e.Dst[k]) % 9
	}
	d.Edges, d.Targets.Links = &e, nil
	x, err := dataset.SplitTriples(&d, dataset.LinkShares{Val: 0.2, Test: 0.2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// partly is d with two labels of 0 and 1 for each thing, of which a part is not known.
func partly(d *dataset.Data, task saga.Task) *dataset.Data {
	x := *d
	x.GraphLabels, x.EdgeLabels, x.Labels = nil, nil, nil
	n := dataset.Numbers{Cols: 2}
	for i := range max(d.Edges.V, d.Edges.E()) {
		n.Rows = append(n.Rows, []float32{0, 1, 1, dataset.Unknown, 0}[i*7%5], []float32{dataset.Unknown, 1, 0, 1}[i*3%4])
		if s := n.Row(i); s[0] < 0 && s[1] < 0 {
			s[0] = 1
		}
	}
	switch task {
	case saga.VertexTask:
		x.MultiLabels, x.Classes = n.Rows[:2*d.Edges.V], 2
		x.Train, x.Val, x.Test, x.GraphOf, x.GraphSplit = nil, nil, nil, nil, dataset.Split{}
		for v := range d.Edges.V {
			x.Train = append(x.Train, uint32(v))
		}
	case saga.EdgeTask:
		n.Rows = n.Rows[:2*d.Edges.E()]
		x.Targets.EdgeSets = n
	case saga.GraphTask:
		n.Rows = n.Rows[:2*len(d.GraphLabels)]
		x.Targets.GraphSets = n
	}
	return &x
}

// valued is d with two numbers to predict for each edge or graph.
func valued(d *dataset.Data, task saga.Task) *dataset.Data {
	x := *d
	x.GraphLabels, x.EdgeLabels = nil, nil
	n := dataset.Numbers{Cols: 2}
	for i := range max(len(d.GraphLabels), d.Edges.E()) {
		n.Rows = append(n.Rows, float32(i*7%11)/4-1, float32(i*5%13)/2)
	}
	if task == saga.EdgeTask {
		x.Targets.Edge = dataset.Numbers{Rows: n.Rows[:2*d.Edges.E()], Cols: 2}
	} else {
		x.Targets.Graph = dataset.Numbers{Rows: n.Rows[:2*len(d.GraphLabels)], Cols: 2}
	}
	return &x
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
	t.Parallel()
	for _, tc := range sampledTasks(t) {
		names := []string{"gcn", "sage", "gat", "gin"}
		if tc.name == "triples" {
			names = []string{"sage", "rgcn"}
		}
		for _, name := range names {
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
					s := saga.Sampling{Sampler: sample.Neighbours(everything, everything), Batch: tc.n}
					if drop > 0 { // by one, as all edges are drawn
						s.Norm = saga.NormFull
					}
					p, err := saga.CompileSampled(m, tc.d, saga.Config{Seed: 4}, s)
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

// Batch norm over batches of all vertices gives loss, gradients and running statistics of the full graph, and
// over smaller ones learns.
func TestSampledBatchNorm(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Kind: dataset.Communities, Vertices: 300, Edges: 3000, Features: 12, Classes: 4, Seed: 3, Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.RandomSplit(d, 0.5, 0.2, 1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sage", "gcn", "gin"} {
		m, err := New(name, Options{Features: d.FeatureCols, Hidden: 8, Classes: d.Classes, Layers: 3, Between: Between{Norm: NormBatch}})
		if err != nil {
			t.Fatal(err)
		}
		whole := *d
		whole.Train, whole.Val, whole.Test = nil, nil, nil
		for v := range d.Edges.V {
			whole.Train = append(whole.Train, uint32(v))
		}
		c := saga.Config{Seed: 4, Epochs: 3, Optimizer: saga.Optimizer{Kind: "sgd", LR: 0.01}}
		all := sample.Neighbours(everything, everything, everything)
		step := func(p *saga.Program, err error) (float32, map[string][]float32, map[string][]float32) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			x, err := p.Step()
			if err != nil {
				t.Fatal(err)
			}
			grads, params := map[string][]float32{}, map[string][]float32{}
			for _, q := range p.Params() {
				g, err := p.Grad(q.Name)
				if err != nil {
					t.Fatal(err)
				}
				if grads[q.Name], params[q.Name] = g, nil; q.Average > 0 {
					if params[q.Name], err = p.Param(q.Name); err != nil {
						t.Fatal(err)
					}
				}
			}
			return float32(x), grads, params
		}
		loss, grads, running := step(saga.Compile(m, &whole, c))
		got, by, stats := step(saga.CompileSampled(m, &whole, c, saga.Sampling{Sampler: all, Batch: d.Edges.V}))
		compare(t, name+" loss", []float32{got}, []float32{loss}, 1e-5)
		most := float32(0)
		for _, g := range grads {
			most = max(most, furthest(g))
		}
		for param, want := range grads {
			if furthest(want) > 1e-5*most { // a bias before a norm has no gradient but rounding
				compare(t, name+" gradient of "+param, by[param], want, 1e-5)
			}
			if running[param] != nil {
				compare(t, name+" "+param, stats[param], running[param], 1e-5)
			}
		}
		c = saga.Config{Seed: 4, Epochs: 10}
		norm := ""
		if name == "gcn" { // whose sums are others over sampled neighbours, and batch norm keeps their scale
			norm = saga.NormFull
		}
		p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(5, 4, 3), Batch: 32, Norm: norm})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Train(t.Context(), saga.TrainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Final.Test.Accuracy < 0.6 {
			t.Errorf("%s: %+v", name, r.Final)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Edge vectors that layers update are, over blocks, what they are over the full graph, dropout included: for later layers and an
// edge head, with and without vectors that the data has.
func TestSampledUpdateEdge(t *testing.T) {
	d := neighbours(t)
	for _, drop := range []float32{0, 0.4} {
		for _, edgeTask := range []bool{false, true} {
			for _, cols := range []int{0, 3} {
				g := *d
				e := *d.Edges
				g.Edges = &e
				if e.DataCols = cols; cols > 0 {
					for k := range e.E() * cols {
						e.Data = append(e.Data, float32(k%7)/7)
					}
				}
				if !edgeTask {
					if err := dataset.RandomSplit(&g, 0.6, 0.2, 1); err != nil {
						t.Fatal(err)
					}
				}
				m := saga.Model{Name: "edges"}
				for l := range 3 {
					l, out := l, []int{8, 8, 3}[l]
					if edgeTask && l == 2 {
						out = 8
					}
					m.Layers = append(m.Layers, saga.Layer{Dropout: drop,
						ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
							y := ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), out))
							if e.Data != nil {
								y = ops.Mul(y, ops.MatMul(e.Data, p.Weight("D", e.Data.Cols(), out)))
							}
							return y
						},
						Gather: saga.Mean,
						UpdateEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
							y := ops.Add(ops.MatMul(e.Src, p.Weight("US", e.Src.Cols(), 4)), ops.MatMul(e.Dst, p.Weight("UD", e.Src.Cols(), 4)))
							if e.Data != nil {
								y = ops.Add(y, ops.MatMul(e.Data, p.Weight("UE", e.Data.Cols(), 4)))
							}
							return e.Dropout(ops.Tanh(y), drop)
						}})
				}
				items := len(g.Train)
				if edgeTask {
					m.Task, items = saga.EdgeTask, len(g.EdgeSplit.Train)
					m.EdgeHead = func(e saga.Edge, p saga.Params) saga.Tensor {
						return ops.Add(ops.MatMul(ops.Mul(e.Src, e.Dst), p.Weight("H", 8, 2)), ops.MatMul(e.Data, p.Weight("HD", 4, 2)))
					}
				}
				what := fmt.Sprint(drop, edgeTask, cols)
				p, err := saga.Compile(m, &g, saga.Config{Seed: 4, Chunks: 1})
				loss, want := firstStep(t, p, err)
				p, err = saga.Compile(m, &g, saga.Config{Seed: 4, Chunks: 3})
				_, other := firstStep(t, p, err)
				p, err = saga.CompileSampled(m, &g, saga.Config{Seed: 4}, saga.Sampling{Sampler: sample.Neighbours(everything, everything, everything), Batch: items})
				got, by := firstStep(t, p, err)
				compare(t, what+" loss", []float32{got}, []float32{loss}, 1e-5)
				for param, x := range want {
					compare(t, what+" gradient of "+param, by[param], x, 1e-5+2*away(other[param], x))
				}
			}
		}
	}
}
