package saga_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// graph is a small graph with something to learn.
func graph(t *testing.T) *dataset.Data {
	t.Helper()
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 300, Edges: 3000, Features: 12, Classes: 4, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// program compiles model NAME with dropout for d.
func program(t *testing.T, name string, d *dataset.Data, c saga.Config) *saga.Program {
	t.Helper()
	p, err := saga.Compile(model(t, name, d), d, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func model(t *testing.T, name string, d *dataset.Data) saga.Model {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 8, Classes: d.Classes, Layers: 2, Dropout: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// streamed is a configuration under which chunks stream.
func streamed(epochs int) saga.Config {
	return saga.Config{Seed: 7, Chunks: 3, Stream: true, Epochs: epochs,
		Optimizer: saga.Optimizer{WeightDecay: 1e-3, ClipNorm: 5, Gamma: 0.9, DecayEvery: 3}}
}

func train(t *testing.T, p *saga.Program, o saga.TrainOptions) *saga.Result {
	t.Helper()
	r, err := p.Train(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameParams fails unless both programs hold the same bits.
func sameParams(t *testing.T, a, b *saga.Program) {
	t.Helper()
	for _, q := range a.Params() {
		x, err := a.Param(q.Name)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Param(q.Name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
				t.Fatalf("%s[%d]: %v and %v", q.Name, i, x[i], y[i])
			}
		}
	}
}

func TestTrainReports(t *testing.T) {
	d, c := graph(t), streamed(9)
	c.EvalEvery = 4
	p := program(t, "ggcn", d, c)
	var evaluated []int
	last := 0
	r := train(t, p, saga.TrainOptions{OnEpoch: func(e saga.Epoch) error {
		if e.Epoch != last+1 || e.Seconds <= 0 || e.H2D != p.Summary().H2D || e.D2H != p.Summary().D2H {
			t.Errorf("epoch %d after %d: %+v, planned %+v", e.Epoch, last, e, p.Summary())
		}
		last = e.Epoch
		if e.Scores != nil {
			evaluated = append(evaluated, e.Epoch)
		}
		return nil
	}})
	if len(evaluated) != 3 || evaluated[0] != 4 || evaluated[1] != 8 || evaluated[2] != 9 {
		t.Errorf("evaluated after %v", evaluated)
	}
	s, err := p.Evaluate()
	if err != nil || s != r.Final {
		t.Errorf("final scores %+v, evaluation %+v, %v", r.Final, s, err)
	}
	if r.Epochs != 9 || r.H2D == 0 || r.D2H == 0 || r.Peak <= 0 || r.Peak > p.Summary().Peak || !(r.EpochSeconds > 0) {
		t.Errorf("%+v", r)
	}
}

// TestResume: ten epochs in one go are five, a checkpoint, and five in another program.
func TestResume(t *testing.T) {
	for _, name := range []string{"ggcn", "gat", "mpgcn", "ggnn"} {
		for _, kind := range []string{"adam", "adamw", "sgd"} {
			d, c := graph(t), streamed(10)
			c.Optimizer.Kind = kind
			if kind == "sgd" {
				c.Optimizer.Momentum, c.Optimizer.LR = 0.9, 1e-3
			}
			whole := program(t, name, d, c)
			train(t, whole, saga.TrainOptions{})
			path := filepath.Join(t.TempDir(), "c.safetensors")
			half := c
			half.Epochs = 5
			train(t, program(t, name, d, half), saga.TrainOptions{Checkpoint: path, ModelOptions: "{}"})
			rest := program(t, name, d, c)
			r := train(t, rest, saga.TrainOptions{Resume: path})
			if r.Epochs != 10 {
				t.Errorf("%s: %d epochs", name, r.Epochs)
			}
			sameParams(t, whole, rest)
			ck, err := saga.ReadCheckpoint(path)
			if err != nil || ck.Epoch != 5 || ck.Options != "{}" || ck.Chunks != 3 || ck.Optimizer != kind {
				t.Errorf("%+v, %v", ck, err)
			}
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	d := graph(t)
	path := filepath.Join(t.TempDir(), "c.safetensors")
	p := program(t, "gcn", d, streamed(2))
	train(t, p, saga.TrainOptions{Checkpoint: path})
	for _, x := range []struct {
		model  string
		change func(*saga.Config)
		want   string
	}{
		{"gcn", func(c *saga.Config) {}, ""},
		{"gcn", func(c *saga.Config) { c.Stream = false }, ""}, // what is resident does not change sums
		{"gcn", func(c *saga.Config) { c.Seed = 8 }, "seed 7; this one has 8"},
		{"gcn", func(c *saga.Config) { c.Chunks = 4 }, "over 3 intervals; this plan has 4"},
		{"gcn", func(c *saga.Config) { c.Optimizer.Kind = "sgd" }, `optimizer "adam"; this is "sgd"`},
		{"gcn", func(c *saga.Config) { c.Optimizer.LR, c.Optimizer.WeightDecay = 7, 0 }, "learning rate 0.01, weight decay 0.001, weight decay of the first layer; this one has learning rate 7, weight decay 0, weight decay of no layer"},
		{"gcn", func(c *saga.Config) { c.Optimizer.Beta1 = 0.8 }, "with beta1 0.9; this one has beta1 0.8"},
		{"gcn", func(c *saga.Config) { c.Optimizer.Beta2 = 0.8 }, "with beta2 0.999; this one has beta2 0.8"},
		{"gcn", func(c *saga.Config) { c.Optimizer.Eps = 1e-7 }, "with eps 1e-08; this one has eps 1e-07"},
		{"gcn", func(c *saga.Config) { c.Optimizer.Momentum = 0.3 }, ""}, // which adam does not use
		{"gcn", func(c *saga.Config) { c.Optimizer.DecayAll = true }, "with weight decay of the first layer; this one has weight decay of every layer"},
		{"gcn", func(c *saga.Config) { c.Optimizer.ClipNorm = 0 }, "gradient norm 5; this one has gradient norm 0"},
		{"gcn", func(c *saga.Config) { c.Optimizer.Gamma = 0.8 }, "learning-rate factor 0.9; this one has learning-rate factor 0.8"},
		{"gcn", func(c *saga.Config) { c.Optimizer.DecayEvery = 0 }, "epochs between learning rates 3; this one has learning-rate factor 1, epochs between learning rates 0"},
		{"gcn", func(c *saga.Config) { c.Patience = 4 }, "patience none; this one has patience 4 evaluations, one every 1 epochs"},
		{"gcn", func(c *saga.Config) { c.Device = "null" }, "device kind cpu; this one has device kind null"},
		{"gin", func(c *saga.Config) {}, `model "gcn"; this is "gin"`},
		{"gcn", func(c *saga.Config) { c.Without = []string{"invariant", "commute"} }, "order of sums"},
	} {
		c := streamed(2)
		x.change(&c)
		q := program(t, x.model, d, c)
		err := q.Restore(path)
		if x.want == "" {
			if err != nil {
				t.Error(err)
				continue
			}
			sameParams(t, p, q)
		} else if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v; want %q", err, x.want)
		}
	}
	other := graph(t)
	other.Features[17]++
	if err := program(t, "gcn", other, streamed(2)).Restore(path); err == nil || !strings.Contains(err.Error(), "other data") {
		t.Errorf("other features: %v", err)
	}
}

func TestCancel(t *testing.T) {
	d, c := graph(t), streamed(8)
	path := filepath.Join(t.TempDir(), "c.safetensors")
	ctx, cancel := context.WithCancel(context.Background())
	p := program(t, "ggcn", d, c)
	r, err := p.Train(ctx, saga.TrainOptions{Checkpoint: path, OnEpoch: func(e saga.Epoch) error {
		if e.Epoch == 3 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || r == nil || r.Epochs != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	rest := program(t, "ggcn", d, c)
	train(t, rest, saga.TrainOptions{Resume: path})
	whole := program(t, "ggcn", d, c)
	train(t, whole, saga.TrainOptions{})
	sameParams(t, whole, rest)
}

// TestPatience: training stops, keeps the best parameters, and does so too when it is
// interrupted and resumed on the way.
func TestPatience(t *testing.T) {
	d, c := graph(t), streamed(400)
	c.Patience, c.Optimizer = 5, saga.Optimizer{LR: 0.2}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	p := program(t, "gcn", d, c)
	best, at := math.Inf(1), 0
	r := train(t, p, saga.TrainOptions{OnEpoch: func(e saga.Epoch) error {
		if e.Scores.Val.Loss < best {
			best, at = e.Scores.Val.Loss, e.Epoch
		}
		return nil
	}})
	if !r.Stopped || r.BestEpoch != at || r.Epochs != at+5 || r.Best.Val.Loss != best || r.Final != r.Best {
		t.Fatalf("best is epoch %d with %v; %+v", at, best, r)
	}
	if s, err := p.Evaluate(); err != nil || s != r.Final {
		t.Errorf("the parameters score %+v, %v; the result says %+v", s, err, r.Final)
	}
	half := c
	half.Epochs = at + 2 // between the best epoch and the stop
	train(t, program(t, "gcn", d, half), saga.TrainOptions{Checkpoint: path})
	rest := program(t, "gcn", d, c)
	if r2 := train(t, rest, saga.TrainOptions{Resume: path, Checkpoint: path}); r2.Epochs != r.Epochs || r2.BestEpoch != r.BestEpoch {
		t.Errorf("resumed: %+v", r2)
	}
	sameParams(t, p, rest)
	// Predictions are made with the best parameters.
	logits, cols, err := saga.Predict(model(t, "gcn", d), d, c, path)
	if err != nil {
		t.Fatal(err)
	}
	if got := accuracy(d, saga.Classes(logits, cols), d.Test); got != r.Final.Test.Accuracy {
		t.Errorf("predictions are right in %v of the test vertices, not %v", got, r.Final.Test.Accuracy)
	}
}

// TestLastEvaluation: the evaluation after the last epoch, where it is none of every EvalEvery epochs, decides nothing: a run in two
// parts has the parameters of one in a whole, with early stopping and with the schedule plateau.
func TestLastEvaluation(t *testing.T) {
	d, path := graph(t), filepath.Join(t.TempDir(), "c.safetensors")
	for _, patience := range []int{0, 1, 2} {
		c := streamed(30)
		c.EvalEvery, c.Patience, c.Optimizer = 3, patience, saga.Optimizer{LR: 1}
		c.Optimizer.Schedule = saga.Schedule{Kind: saga.ScheduleReduce, Factor: 0.5, Patience: saga.None}
		whole := program(t, "gcn", d, c)
		want := train(t, whole, saga.TrainOptions{})
		for _, part := range []int{1, 3, 5, 6, 7, 9, 10, 11} {
			half := c
			half.Epochs = part
			r := train(t, program(t, "gcn", d, half), saga.TrainOptions{Checkpoint: path})
			if patience == 0 && r.Best.Val.Loss > r.Final.Val.Loss {
				t.Errorf("the best of %d epochs has a validation loss of %v, the last %v", part, r.Best.Val.Loss, r.Final.Val.Loss)
			}
			rest := program(t, "gcn", d, c)
			if got := train(t, rest, saga.TrainOptions{Resume: path}); got.Epochs != want.Epochs || got.BestEpoch != want.BestEpoch {
				t.Errorf("patience %d, %d epochs and the rest: %d epochs, best %d; in a whole %d, best %d", patience, part, got.Epochs, got.BestEpoch, want.Epochs, want.BestEpoch)
			}
			sameParams(t, whole, rest)
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	d := graph(t)
	d.Val = nil
	c := streamed(3)
	c.Patience = 2
	if _, err := program(t, "gcn", d, c).Train(context.Background(), saga.TrainOptions{}); err == nil {
		t.Error("early stopping without validation vertices")
	}
	d.Train = nil
	if _, err := program(t, "gcn", d, streamed(3)).Train(context.Background(), saga.TrainOptions{}); err == nil {
		t.Error("no training vertices")
	}
	d = graph(t)
	c = streamed(50)
	c.Optimizer = saga.Optimizer{Kind: "sgd", LR: 1e30}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	var bad *saga.NotFiniteError
	if _, err := program(t, "ggcn", d, c).Train(context.Background(), saga.TrainOptions{Checkpoint: path}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "loss") || bad.Epoch < 1 {
		t.Errorf("a loss that is not finite: %v", err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "missing", "c.safetensors"), t.TempDir(), filepath.Join(t.TempDir(), strings.Repeat("c", 250))} {
		p := program(t, "gcn", d, streamed(3))
		if _, err := p.Train(context.Background(), saga.TrainOptions{Checkpoint: path, OnEpoch: func(e saga.Epoch) error {
			t.Errorf("epoch %d was run", e.Epoch)
			return nil
		}}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("a checkpoint that cannot be written: %v", err)
		}
	}
	stop := errors.New("stop")
	if _, err := program(t, "gcn", d, streamed(3)).Train(context.Background(), saga.TrainOptions{OnEpoch: func(saga.Epoch) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("the error of OnEpoch: %v", err)
	}
}

// mlp has the layers of a model without its edges.
func mlp(widths ...int) saga.Model {
	m := saga.Model{Name: "mlp"}
	for i := range len(widths) - 1 {
		m.Layers = append(m.Layers, layers.Linear(widths[i], widths[i+1], ops.ReLU))
	}
	m.Layers[len(m.Layers)-1] = layers.Linear(widths[len(widths)-2], widths[len(widths)-1], nil)
	return m
}

func accuracy(d *dataset.Data, classes []int32, split []uint32) float64 {
	hits := 0
	for _, v := range split {
		if classes[v] == d.Labels[v] {
			hits++
		}
	}
	return float64(hits) / float64(len(split))
}
