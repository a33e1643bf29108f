package layers

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/saga"
)

// A run that is resumed after 7 of 20 epochs goes on bit for bit: schedules, what the plateau has
// seen, and running statistics are in the checkpoint.
func TestTasksResume(t *testing.T) {
	f := readTasks(t)
	for i := range f.Cases {
		c := &f.Cases[i]
		if c.Schedule == (scheduleCase{}) && c.Norm != NormBatch {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			train := func(p *saga.Program, from string, to string, until int) (losses []float64) {
				t.Helper()
				_, err := p.Train(t.Context(), saga.TrainOptions{Resume: from, Checkpoint: to, CheckpointEvery: 7, OnEpoch: func(e saga.Epoch) error {
					losses = append(losses, e.Loss, e.Scores.Val.Loss)
					if e.Epoch == until {
						return errStop
					}
					return nil
				}})
				if err != nil && !strings.Contains(err.Error(), errStop.Error()) {
					t.Fatal(err)
				}
				return losses
			}
			path := filepath.Join(t.TempDir(), "c.safetensors")
			want := train(f.program(t, c, saga.Config{Chunks: 2, Device: taskDevice()}), "", "", 20)
			first := train(f.program(t, c, saga.Config{Chunks: 2, Device: taskDevice()}), "", path, 9) // checkpoint after 7
			rest := train(f.program(t, c, saga.Config{Chunks: 2, Device: taskDevice()}), path, "", 20)
			if got := append(first[:14], rest...); !slices.Equal(got, want) {
				t.Errorf("resumed: %v\nstraight: %v", got, want)
			}
		})
	}
}

var errStop = fmt.Errorf("stop here")

// Batch norm in a quarter of the memory of the resident run gives its losses, for one device and two.
// The loss does not depend on the bias that sage has before the norm: its gradient is rounding, Adam
// steps along its sign, and evaluation sees that, for running means lag behind. Its losses of
// training are compared alone.
func TestBatchNormStreams(t *testing.T) {
	d := graphs(t)["synthetic"]
	for _, name := range []string{"gcn", "gat", "sage"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := New(name, Options{Features: d.FeatureCols, Hidden: 8, Classes: d.Classes, Layers: 3, Heads: 2, Between: Between{Norm: NormBatch, Residual: true}, Dropout: 0.2})
			if err != nil {
				t.Fatal(err)
			}
			p, err := saga.Compile(m, d, saga.Config{Seed: 5, Device: taskDevice()})
			if err != nil {
				t.Fatal(err)
			}
			resident := p.Summary().Peak
			losses := func(c saga.Config) []float32 {
				all := epochs(t, m, d, c, 6)
				if name == "sage" {
					all = all[:6]
				}
				return all
			}
			want := losses(saga.Config{Seed: 5, Device: taskDevice()})
			quarter := saga.Config{Seed: 5, Mem: resident / 4, Device: taskDevice()}
			var small *plan.BudgetError
			if _, err := saga.Compile(m, d, quarter); errors.As(err, &small) && taskDevice() != "" {
				quarter.Mem = small.Smallest // a GPU's context takes more than this graph
			} else if err != nil {
				t.Fatal(err)
			}
			compare(t, "losses in a quarter of the memory", losses(quarter), want, 1e-4)
			for _, schedule := range []string{"sag", "stage", "dest-order"} {
				c := saga.Config{Seed: 5, Device: "cpu:2", Chunks: 4, Stream: true, Schedule: schedule}
				compare(t, "losses of two devices, "+schedule, losses(c), want, 1e-4)
			}
		})
	}
}

// What does not fit the labels is an error that says so.
func TestBadTasks(t *testing.T) {
	f := readTasks(t)
	numbers, classes, several := &taskCase{Loss: saga.LossMSE}, &taskCase{}, &taskCase{Several: true}
	for _, c := range []struct {
		want string
		data *dataset.Data
		loss saga.Loss
		opt  saga.Optimizer
	}{
		{"has targets, which are numbers, and no labels, which are classes", f.data(numbers), saga.Loss{}, saga.Optimizer{}},
		{"are classes, and the loss mse compares numbers", f.data(classes), saga.Loss{Kind: saga.LossMSE}, saga.Optimizer{}},
		{"are classes, and the loss huber compares numbers", f.data(several), saga.Loss{Kind: saga.LossHuber}, saga.Optimizer{}},
		{`unknown loss "rmse"; there are cross-entropy, mse, mae, huber`, f.data(classes), saga.Loss{Kind: "rmse"}, saga.Optimizer{}},
		{"2 class weights for 3 classes", f.data(classes), saga.Loss{ClassWeights: []float32{1, 2}}, saga.Optimizer{}},
		{"give class 1 the weight -1", f.data(classes), saga.Loss{ClassWeights: []float32{1, -1, 2}}, saga.Optimizer{}},
		{"the class weights are all 0", f.data(classes), saga.Loss{ClassWeights: []float32{0, 0, 0}}, saga.Optimizer{}},
		{"positive weights are for several labels", f.data(several), saga.Loss{ClassWeights: []float32{1, 1, 1}}, saga.Optimizer{}},
		{"class weights are for one class each", f.data(classes), saga.Loss{PosWeights: []float32{1, 1, 1}}, saga.Optimizer{}},
		{"the positive weights are all 0", f.data(several), saga.Loss{PosWeights: []float32{0, 0, 0}}, saga.Optimizer{}},
		{"the delta of the loss is -1", f.data(numbers), saga.Loss{Kind: saga.LossHuber, Delta: -1}, saga.Optimizer{}},
		{`unknown learning-rate schedule "linear"`, f.data(classes), saga.Loss{}, saga.Optimizer{Schedule: saga.Schedule{Kind: "linear"}}},
		{"20 epochs of warm-up leave nothing of 20 epochs", f.data(classes), saga.Loss{}, saga.Optimizer{Schedule: saga.Schedule{Kind: saga.ScheduleCosine, WarmUp: 20}}},
		{"the lowest rate 1 is above the learning rate 0.1", f.data(classes), saga.Loss{}, saga.Optimizer{LR: 0.1, Schedule: saga.Schedule{Kind: saga.ScheduleCosine, Least: 1}}},
		{"the factor is 2", f.data(classes), saga.Loss{}, saga.Optimizer{Schedule: saga.Schedule{Kind: saga.ScheduleReduce, Factor: 2}}},
	} {
		m, err := New("mlp", Options{Features: f.Cols, Hidden: 4, Classes: 3, Layers: 2, Loss: c.loss})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := saga.Compile(m, c.data, saga.Config{Epochs: 20, Optimizer: c.opt}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	d := f.data(numbers)
	d.Targets.Vertex = slices.Clone(d.Targets.Vertex)
	nan := d.Targets.Vertex[0] - d.Targets.Vertex[0]
	for c := range 3 {
		d.Targets.Vertex[3*int(d.Val[0])+c] = nan / nan
	}
	m, err := New("mlp", Options{Features: f.Cols, Hidden: 4, Classes: 3, Layers: 2, Loss: saga.Loss{Kind: saga.LossMSE}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := saga.Compile(m, d, saga.Config{}); err == nil || !strings.Contains(err.Error(), "has no label") {
		t.Errorf("a validation vertex without targets: %v", err)
	}
	for _, o := range []Options{{Between: Between{Activation: "swish"}}, {Between: Between{Norm: "group"}}, {Alpha: 1}} {
		o.Features, o.Hidden, o.Classes, o.Layers = 2, 2, 2, 2
		if _, err := New("appnp", o); err == nil {
			t.Errorf("%+v: accepted", o)
		}
	}
}
