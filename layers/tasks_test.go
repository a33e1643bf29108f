package layers

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
)

// taskFile is testdata/tasks.json, written by bench/peer/tasks.py.
type taskFile struct {
	Vertices         int
	Src, Dst         []uint32
	Features         []float32
	Cols             int
	Hidden           int
	Classes          int
	Train, Val, Test []uint32
	Labels           []int32
	Several          []float32
	Targets          []float32
	Params           map[string][]float32
	Cases            []taskCase
	Numbers          struct { // of edges and of graphs
		Cols      int
		GraphOf   []uint32             `json:"graph_of"`
		Params    map[string][]float32 // with the head of edges
		GraphHead map[string][]float32 `json:"graph_head"`
		Things    map[saga.Task]struct {
			Targets          []float32
			Train, Val, Test []uint32
		}
		Cases []taskCase
	}
}

type taskCase struct {
	Task         saga.Task
	Readout      saga.Readout
	Loss         saga.LossKind
	Delta        float32
	ClassWeights []float32 `json:"class_weights"`
	PosWeights   []float32 `json:"pos_weights"`
	Several      bool
	Norm         string
	Residual     bool
	Activation   string
	Optimizer    string
	LR           float32
	Schedule     scheduleCase
	Want         wanted `json:"want"`
}

type scheduleCase struct {
	Kind     saga.ScheduleKind
	Epochs   int
	WarmUp   int `json:"warm_up"`
	Least    float32
	Factor   float32
	Patience int
}

type wanted struct {
	Losses, Rates, Val []float64
	Grads              map[string][]float32
	First, Test        map[string]float64
	Running            map[string][]float32
}

func readTasks(t *testing.T) *taskFile {
	t.Helper()
	text, err := os.ReadFile("testdata/tasks.json")
	if err != nil {
		t.Fatal(err)
	}
	f := &taskFile{}
	if err := json.Unmarshal(text, f); err != nil {
		t.Fatal(err)
	}
	return f
}

// taskDevice is the device that SAGANN_DEVICE names for these tests, such as cuda; "": the CPU.
func taskDevice() string { return os.Getenv("SAGANN_DEVICE") }

// data is the graph with the labels that a case has.
func (f *taskFile) data(c *taskCase) *dataset.Data {
	d := &dataset.Data{Name: "tasks", Edges: &chunk.Edges{V: f.Vertices, Src: f.Src, Dst: f.Dst}, Features: f.Features, FeatureCols: f.Cols,
		Train: f.Train, Val: f.Val, Test: f.Test}
	switch {
	case c.Loss != "":
		d.Targets = dataset.Targets{Vertex: f.Targets, Cols: f.Classes}
	case c.Several:
		d.MultiLabels, d.Classes = f.Several, f.Classes
	default:
		d.Labels, d.Classes = f.Labels, f.Classes
	}
	return d
}

// program compiles a case and sets the parameters of the reference.
func (f *taskFile) program(t *testing.T, c *taskCase, cfg saga.Config) *saga.Program {
	t.Helper()
	m, err := New("commnet", Options{Features: f.Cols, Hidden: f.Hidden, Classes: f.Classes, Layers: 2, Between: Between{Norm: c.Norm, Residual: c.Residual, Activation: c.Activation},
		Loss: saga.Loss{Kind: c.Loss, Delta: c.Delta, ClassWeights: c.ClassWeights, PosWeights: c.PosWeights}})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Schedule
	cfg.Epochs = 20
	cfg.Optimizer = saga.Optimizer{Kind: c.Optimizer, LR: c.LR, Schedule: saga.Schedule{Kind: s.Kind, Epochs: s.Epochs, WarmUp: s.WarmUp, Least: s.Least, Factor: s.Factor, Patience: s.Patience}}
	if c.LR == 0 {
		cfg.Optimizer.LR = 0.02
	}
	p, err := saga.Compile(m, f.data(c), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, q := range p.Params() {
		if q.Average > 0 {
			continue
		}
		if err := p.SetParam(q.Name, f.Params[q.Name]); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// Losses, norms, weights, activations and schedules give PyTorch's numbers over 20 epochs, with
// everything resident and over four streamed intervals.
func TestTasksGolden(t *testing.T) {
	f := readTasks(t)
	for i := range f.Cases {
		c := &f.Cases[i]
		configs := []saga.Config{{}, {Chunks: 4, Stream: true}, {Device: "cpu:2", Chunks: 4}}
		if spec := taskDevice(); spec != "" {
			configs = []saga.Config{{Device: spec}, {Device: spec, Chunks: 4, Stream: true}}
		}
		for _, cfg := range configs {
			t.Run(fmt.Sprintf("%d/%s%d", i, cfg.Device, cfg.Chunks), func(t *testing.T) {
				t.Parallel()
				f.hold(t, c, f.program(t, c, cfg))
			})
		}
	}
}

// hold trains p and compares what comes of it.
func (f *taskFile) hold(t *testing.T, c *taskCase, p *saga.Program) {
	t.Helper()
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-4*max(1, math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	fits := func(what string, m saga.Metrics, want map[string]float64, tol float64) {
		t.Helper()
		for name, got := range map[string]float64{"mse": m.MSE, "mae": m.MAE, "r2": m.R2} {
			if !(math.Abs(got-want[name]) <= tol*max(1, math.Abs(want[name]))) {
				t.Errorf("%s: %s is %v, want %v", what, name, got, want[name])
			}
		}
	}
	if c.Want.First != nil { // metrics are scikit-learn's, before rounding in training makes a difference
		s, err := p.Evaluate()
		if err != nil {
			t.Fatal(err)
		}
		fits("before training", s.Test, c.Want.First, 1e-6)
	}
	rates := []float64{float64(p.LearningRate())}
	res, err := p.Train(t.Context(), saga.TrainOptions{OnEpoch: func(e saga.Epoch) error {
		n := e.Epoch - 1
		near(fmt.Sprintf("loss of epoch %d", n), e.Loss, c.Want.Losses[n])
		near(fmt.Sprintf("validation loss of epoch %d", n), e.Scores.Val.Loss, c.Want.Val[n])
		if n == 0 {
			for name, want := range c.Want.Grads {
				got, err := p.Grad(name)
				if err != nil {
					return err
				}
				compare(t, "gradient of "+name, got, want, 1e-5)
			}
		}
		rates = append(rates, float64(p.LearningRate()))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range c.Want.Rates {
		if math.Abs(rates[n]-want) > 1e-6*want {
			t.Errorf("the learning rate of epoch %d is %v, want %v", n, rates[n], want)
		}
	}
	if c.Want.Test != nil {
		fits("after training", res.Final.Test, c.Want.Test, 1e-4)
	}
	for name, want := range c.Want.Running {
		got, err := p.Param("layer1.norm." + name)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "running "+name, got, want, 1e-4)
	}
}
