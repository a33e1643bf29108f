package saga_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
	"sagann/sample"
)

// allOf draws the whole graph for n layers.
func allOf(n int) sample.Sampler { return sample.Neighbours(slices.Repeat([]int{1 << 20}, n)...) }

// trained are the losses of n steps, each with the evaluation's after it, and what the parameters are then.
func trained(t *testing.T, p *saga.Program, err error, n int) (list []float64, params map[string][]float32) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range n {
		x, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Evaluate()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x, s.Val.Loss)
	}
	params = map[string][]float32{}
	for _, q := range p.Params() {
		if params[q.Name], err = p.Param(q.Name); err != nil {
			t.Fatal(err)
		}
	}
	return list, params
}

// gap is the largest difference of two sets of parameters.
func gap(a, b map[string][]float32) float64 {
	most := 0.0
	for name, x := range a {
		for i, v := range x {
			most = max(most, math.Abs(float64(v-b[name][i])))
		}
	}
	return most
}

// Batches that have the whole graph learn rows as the full graph does, those of an embedding and
// those that stand for the identity, with every optimiser and with dropout. The first step has few training
// vertices, so that most rows have no gradient in some steps.
func TestSampledRows(t *testing.T) {
	for _, embedding := range []int{0, 5} {
		for _, name := range []string{"gcn", "sage", "gat", "gin"} {
			for _, kind := range []string{"adam", "adamw", "sgd"} {
				for _, drop := range []float32{0, 0.5} {
					t.Run(fmt.Sprint(embedding, " ", name, " ", kind, " ", drop), func(t *testing.T) {
						d := bare(t)
						d.Train = d.Train[:2]
						m := modelFor(t, name, d, embedding, drop)
						c := saga.Config{Epochs: 5, Seed: 3, Optimizer: saga.Optimizer{Kind: kind, WeightDecay: 0.01, Momentum: 0.5}}
						p, err := saga.Compile(m, d, c)
						want, at := trained(t, p, err, 5)
						p, err = saga.CompileSampled(m, d, c, saga.Sampling{Sampler: allOf(2), Batch: len(d.Train)})
						got, there := trained(t, p, err, 5)
						if x := far(got, want); x > 1e-5 {
							t.Errorf("losses %v, of the full graph %v", got, want)
						}
						if x := gap(at, there); kind == "sgd" && x > 1e-5 {
							t.Errorf("parameters differ by %v", x)
						}
					})
				}
			}
		}
	}
}

// Learned rows in batches: a run that goes on from any batch, one on one processor, and one whose
// batches overflow have the same bits.
func TestSampledRowsBits(t *testing.T) {
	d := sampledGraph(t)
	d.Features, d.FeatureCols = nil, 0
	c := sampledConfig()
	c.Optimizer.ClipNorm = 0
	for _, embedding := range []int{0, 6} {
		for _, s := range []saga.Sampling{sampling(), {Sampler: sample.ShaDow(2, 3), Batch: 100}} {
			compile := func() *saga.Program {
				p, err := saga.CompileSampled(modelFor(t, "sage", d, embedding, 0.3), d, c, s)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { p.Close() })
				return p
			}
			want, r := batchLosses(t, compile(), saga.TrainOptions{})
			if !(want[len(want)-1] < want[0]) {
				t.Errorf("losses %v: nothing is learned", want)
			}
			p := compile()
			if err := p.Cramp(64); err != nil {
				t.Fatal(err)
			}
			if got, _ := batchLosses(t, p, saga.TrainOptions{}); !slices.Equal(got, want) || p.SampledPlan().Overflows == 0 {
				t.Errorf("with %d overflows losses are %v, want %v", p.SampledPlan().Overflows, got, want)
			}
			path := filepath.Join(t.TempDir(), "c.safetensors")
			for stop := 1; stop < len(want); stop += 3 {
				q := compile()
				for i := range stop {
					if x, err := q.Step(); err != nil || x != want[i] {
						t.Fatalf("batch %d: %v, %v; want %v", i, x, err, want[i])
					}
				}
				if err := q.Save(path, ""); err != nil {
					t.Fatal(err)
				}
				rest, again := batchLosses(t, compile(), saga.TrainOptions{Resume: path})
				if !slices.Equal(rest, want[stop:]) || again.Final != r.Final {
					t.Errorf("after batch %d losses are %v, want %v", stop, rest, want[stop:])
				}
			}
		}
	}
}

// Sums that are scaled estimate those over all edges: the mean of logits over many epochs is the full graph's within
// six standard errors, and is not where sums are left as they are.
func TestSampledNormFull(t *testing.T) {
	d := sampledGraph(t)
	d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, 3, 5, 5), append(d.Edges.Dst, 3, 5, 5) // loops of the data
	for _, name := range []string{"gcn", "gin"} {
		m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: 8, Layers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if name == "gin" { // whose vertex function is not linear
			m.Layers[0].ApplyVertex = nil
			m.Layers[0].ApplyEdge = func(e saga.Edge, p saga.Params) saga.Tensor {
				return ops.MatMul(e.Src, p.Weight("W", d.FeatureCols, d.Classes))
			}
		}
		c := saga.Config{Seed: 5, Outputs: []string{"logits"}, Optimizer: saga.Optimizer{Kind: "sgd", LR: 1e-20}}
		full, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		defer full.Close()
		if _, err := full.Step(); err != nil {
			t.Fatal(err)
		}
		want, cols, err := full.Output("logits")
		if err != nil {
			t.Fatal(err)
		}
		for _, norm := range []string{"", saga.NormFull} {
			p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(4), Batch: 300, Norm: norm})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			const n = 300
			sum, square := make([]float64, len(want)), make([]float64, len(want))
			for range n {
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
				x, _, err := p.Output("logits")
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range p.Seeds() {
					for k := range cols {
						y := float64(x[i*cols+k])
						sum[int(v)*cols+k] += y / n
						square[int(v)*cols+k] += y * y / n
					}
				}
			}
			worst := 0.0
			for _, v := range d.Train {
				for i := int(v) * cols; i < (int(v)+1)*cols; i++ {
					error := math.Sqrt(max(square[i]-sum[i]*sum[i], 0)/n) + 1e-4
					worst = max(worst, math.Abs(sum[i]-float64(want[i]))/error)
				}
			}
			if (worst < 6) != (norm == saga.NormFull) {
				t.Errorf("%s, sums scaled %q: %.1f standard errors off", name, norm, worst)
			}
		}
	}
}

// Sparse features in batches give the losses of dense ones.
func TestSampledSparse(t *testing.T) {
	dense, sparse := words(t)
	c := saga.Config{Epochs: 4, Seed: 3}
	s := saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: 6}
	for _, name := range []string{"gcn", "sage", "gin", "gat"} {
		for _, drop := range []float32{0, 0.5} {
			m := modelFor(t, name, dense, 0, drop)
			p, err := saga.CompileSampled(m, dense, c, s)
			want, _ := trained(t, p, err, 6)
			p, err = saga.CompileSampled(m, sparse, c, s)
			if got, _ := trained(t, p, err, 6); far(got, want) > 1e-5 {
				t.Errorf("%s, dropout %v: losses %v, of dense rows %v", name, drop, got, want)
			}
		}
	}
}
