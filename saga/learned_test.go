package saga_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// bare is a graph without features, dealt so that intervals differ.
func bare(t testing.TB) *dataset.Data {
	d := dataset.Karate()
	d.Features, d.FeatureCols = nil, 0
	return d
}

func modelFor(t testing.TB, name string, d *dataset.Data, embedding int, drop float32) saga.Model {
	features := d.FeatureCols
	if features == 0 {
		features = d.Edges.V
	}
	if embedding > 0 {
		features = embedding
	}
	m, err := layers.New(name, layers.Options{Features: features, Hidden: 8, Classes: d.Classes, Layers: 2, Heads: 2, Dropout: drop})
	if err != nil {
		t.Fatal(err)
	}
	m.Embedding = embedding
	return m
}

// losses are those of n steps, with the evaluation's after each.
func losses(t testing.TB, m saga.Model, d *dataset.Data, c saga.Config, n int) []float64 {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var out []float64
	for range n {
		x, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Evaluate()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x, s.Val.Loss)
	}
	return out
}

func far(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i])/max(1, math.Abs(b[i])))
	}
	return most
}

// The identity as features gives the losses of features that are one-hot.
func TestIdentityIsOneHot(t *testing.T) {
	for _, name := range []string{"gcn", "sage", "commnet", "gin", "gat", "gatv2", "sgc", "ggnn"} {
		for _, kind := range []string{"adam", "adamw", "sgd"} {
			for _, drop := range []float32{0, 0.5} {
				if name == "sgc" && drop > 0 { // drops from what is gathered, too, which is dense then
					continue
				}
				c := saga.Config{Epochs: 4, Seed: 3, Optimizer: saga.Optimizer{Kind: kind, WeightDecay: 0.01, Momentum: 0.5}}
				d, hot := bare(t), bare(t)
				if err := dataset.OneHotFeatures(hot); err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprint(name, " ", kind, " ", drop), func(t *testing.T) {
					want := losses(t, modelFor(t, name, hot, 0, drop), hot, c, 4)
					got := losses(t, modelFor(t, name, d, 0, drop), d, c, 4)
					if x := far(got, want); x > 1e-5 {
						t.Errorf("losses %v, one-hot %v", got, want)
					}
				})
			}
		}
	}
}

// Losses do not depend on how learned rows are kept: intervals, schedules, devices.
func TestLearnedRowsAnywhere(t *testing.T) {
	for _, embedding := range []int{0, 5} {
		for _, name := range []string{"gcn", "gat", "resgated"} {
			d := bare(t)
			m := modelFor(t, name, d, embedding, 0.3)
			if embedding == 0 && name == "resgated" {
				continue
			}
			want := losses(t, m, d, saga.Config{Epochs: 3}, 3)
			r := rand.New(rand.NewPCG(1, 2))
			for range 6 {
				c := saga.Config{Epochs: 3, Chunks: 1 + r.IntN(6), Stream: r.IntN(2) == 0, Schedule: []string{"sag", "stage", "dest-order"}[r.IntN(3)],
					Device: []string{"cpu", "cpu:2", "cpu:3"}[r.IntN(3)], Save: []string{"all", "none", "some"}[r.IntN(3)], Storage: "f32"}
				if r.IntN(3) == 0 {
					c.Without = []string{"fuse"}
				}
				if x := far(losses(t, m, d, c, 3), want); x > 1e-4 {
					t.Errorf("%s, embedding %d, %+v: losses differ by %v", name, embedding, c, x)
				}
			}
		}
	}
}

func TestLearnedRowsResume(t *testing.T) {
	d := bare(t)
	for _, stream := range []bool{false, true} {
		m := modelFor(t, "gcn", d, 5, 0.3)
		c := saga.Config{Epochs: 6, Chunks: 3, Stream: stream}
		path := filepath.Join(t.TempDir(), "c.safetensors")
		open := func() *saga.Program {
			p, err := saga.Compile(m, d, c)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		steps := func(p *saga.Program, n int) (x []float64) {
			for range n {
				l, err := p.Step()
				if err != nil {
					t.Fatal(err)
				}
				x = append(x, l)
			}
			return x
		}
		p := open()
		steps(p, 3)
		if err := p.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		rows, cols, err := p.Predict()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := saga.Predict(m, d, c, path)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(rows) != fmt.Sprint(again) || cols != d.Classes {
			t.Error("a checkpoint predicts otherwise than the program that wrote it")
		}
		want := steps(p, 3)
		q := open()
		if err := q.Restore(path); err != nil {
			t.Fatal(err)
		}
		if got := steps(q, 3); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("resumed losses %v, want %v", got, want)
		}
		p.Close()
		q.Close()
	}
}

// TestRowsThatNothingReads: what would fail in the first step, or when parameters are read, is refused by Compile.
func TestRowsThatNothingReads(t *testing.T) {
	dense := func(x func(v saga.Vertex) saga.Tensor) []saga.Layer {
		return []saga.Layer{{ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			y := x(v)
			return ops.MatMul(y, p.Weight("W", y.Cols(), 2))
		}}}
	}
	own, degree := func(v saga.Vertex) saga.Tensor { return v.Self }, func(v saga.Vertex) saga.Tensor { return v.InDegree }
	for _, x := range []struct {
		what      string
		embedding int
		read      func(v saga.Vertex) saga.Tensor
		outputs   []string
		want      string
	}{
		{"hidden rows that are the identity", 0, own, []string{"hidden"}, "never stored as rows"},
		{"the identity as it is multiplied", 0, own, []string{"logits"}, ""},
		{"hidden rows that are learned", 4, own, []string{"hidden"}, ""},
		{"learned rows that nothing reads", 4, degree, nil, "no layer reads the rows of Model.Embedding"},
	} {
		p, err := saga.Compile(saga.Model{Name: "m", Embedding: x.embedding, Layers: dense(x.read)}, bare(t), saga.Config{Outputs: x.outputs})
		if x.want != "" {
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s: %v, want %q", x.what, err, x.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", x.what, err)
			continue
		}
		if _, err := p.Step(); err != nil {
			t.Errorf("%s: %v", x.what, err)
		}
		if out, cols, err := p.Output(x.outputs[0]); err != nil || len(out) != 34*cols {
			t.Errorf("%s: %d numbers, %v", x.what, len(out), err)
		}
		p.Close()
	}
}
