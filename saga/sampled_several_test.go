package saga_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// four has four batches an update: of the graph's 240 training vertices five a epoch, so that the second update has one.
func four() saga.Sampling {
	return saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 50, Accumulate: 4}
}

// onDevices is a configuration for so many of the devices that SAGANN_DEVICE names.
func onDevices(t *testing.T, n int) saga.Config {
	t.Helper()
	c := sampledConfig()
	switch {
	case c.Device == "" && n > 1:
		c.Device = []string{"cpu", "cpu:2", "cpu:3"}[n-1]
	case n > 1 && strings.Count(c.Device, ",") < n-1:
		t.Skipf("SAGANN_DEVICE names no %d devices", n)
	case c.Device != "":
		kind, list, _ := strings.Cut(c.Device, ":")
		c.Device = kind + ":" + strings.Join(strings.SplitN(list+",", ",", n+1)[:n], ",")
		c.Device = strings.TrimSuffix(c.Device, ":")
	}
	return c
}

// However many devices share the batches of an update, losses, parameters and digest are the same, also where batches
// come ahead, overflow, or the run was stopped between.
func TestAccumulateBits(t *testing.T) {
	d := sampledGraph(t)
	for _, name := range []string{"sage", "gcn", "gat"} {
		whole := sampledProgram(t, name, d, onDevices(t, 1), four())
		want, r := batchLosses(t, whole, saga.TrainOptions{})
		if len(want) != 8 || !(want[7] < want[0]) {
			t.Errorf("%s: losses %v", name, want)
		}
		for _, n := range []int{2, 3} {
			if own := os.Getenv("SAGANN_DEVICE"); own != "" && strings.Count(own, ",") < n-1 {
				continue
			}
			c := onDevices(t, n)
			same := func(what string, p *saga.Program, got []float64, from int) {
				t.Helper()
				if !slices.Equal(got, want[from:]) {
					t.Errorf("%s, %d devices, %s: losses %v, want %v", name, n, what, got, want[from:])
				}
				sameParams(t, whole, p)
				if p.Digest() != whole.Digest() {
					t.Errorf("%s, %d devices, %s: another digest", name, n, what)
				}
			}
			p := sampledProgram(t, name, d, c, four())
			got, again := batchLosses(t, p, saga.TrainOptions{})
			same("at once", p, got, 0)
			if again.Final != r.Final {
				t.Errorf("%s, %d devices: %v, want %v", name, n, again.Final, r.Final)
			}
			p = sampledProgram(t, name, d, c, four())
			if err := p.ComeAhead(); err != nil {
				t.Fatal(err)
			}
			got, _ = batchLosses(t, p, saga.TrainOptions{})
			same("batches come ahead", p, got, 0)

			p = sampledProgram(t, name, d, c, four())
			if err := p.Cramp(64); err != nil {
				t.Fatal(err)
			}
			got, _ = batchLosses(t, p, saga.TrainOptions{})
			same("no room", p, got, 0)
			if p.SampledPlan().Overflows == 0 {
				t.Errorf("%s: no batch was run again", name)
			}

			path := filepath.Join(t.TempDir(), "c.safetensors")
			ctx, stop := context.WithCancel(context.Background())
			first, steps := sampledProgram(t, name, d, onDevices(t, 1), four()), 0
			if _, err := first.Train(ctx, saga.TrainOptions{Checkpoint: path, OnBatch: func(saga.Batch) error {
				if steps++; steps == 3 {
					stop()
				}
				return nil
			}}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			p = sampledProgram(t, name, d, c, four())
			got, _ = batchLosses(t, p, saga.TrainOptions{Resume: path})
			same("resumed", p, got, 3)
		}
	}
}

// Two batches an update are the batch of both, where every edge is drawn and nothing is dropped, for every kind of task.
func TestAccumulateIsOneBatch(t *testing.T) {
	for _, task := range []saga.Task{saga.VertexTask, saga.EdgeTask, saga.GraphTask, saga.LinkTask} {
		d, classes := tasks(t), 0
		switch task {
		case saga.VertexTask:
			classes = d.Classes
		case saga.EdgeTask:
			classes = 2
		case saga.GraphTask:
			classes = 3
		default:
			var err error
			if d, err = dataset.SplitLinks(graph(t), dataset.LinkShares{Val: 0.1, Test: 0.1}, 3); err != nil {
				t.Fatal(err)
			}
			classes = 4
		}
		run := func(batch, accumulate int) ([]float64, *saga.Result, *saga.Program) {
			m, err := layers.New("sage", layers.Options{Features: d.FeatureCols, Hidden: 5, Classes: classes, Layers: 2, Task: task})
			if err != nil {
				t.Fatal(err)
			}
			if task != saga.LinkTask {
				m.Loss.ClassWeights = []float32{1, 3, 0.5, 2}[:classes]
			}
			c := onDevices(t, 1)
			if accumulate > 1 {
				c = onDevices(t, 2)
			}
			c.Epochs, c.Optimizer = 2, saga.Optimizer{Kind: "sgd", LR: 0.05}
			p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(256, 256), Batch: batch, Accumulate: accumulate})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
			list, r := batchLosses(t, p, saga.TrainOptions{})
			return list, r, p
		}
		want, one, p := run(20, 1)
		got, two, q := run(10, 2)
		if len(got) != len(want) {
			t.Fatalf("%s: %d updates, want %d", task, len(got), len(want))
		}
		for i, x := range want {
			if math.Abs(got[i]-x) > 1e-5*math.Abs(x) {
				t.Errorf("%s, update %d: loss %v, of one batch %v", task, i, got[i], x)
			}
		}
		if x, y := two.Loss, one.Loss; math.Abs(x-y) > 1e-5*math.Abs(y) {
			t.Errorf("%s: the epoch's loss is %v, of one batch %v", task, x, y)
		}
		if !slices.Equal(p.Seeds(), q.Seeds()) && task == saga.VertexTask {
			t.Errorf("seeds %v, of one batch %v", q.Seeds(), p.Seeds())
		}
	}
}

// What several batches an update do not go with says so.
func TestAccumulateRefuses(t *testing.T) {
	d := sampledGraph(t)
	c := sampledConfig()
	c.Device = "cpu:3"
	s := sampling()
	s.Accumulate = 2
	if _, err := saga.CompileSampled(sampledModel(t, "sage", d), d, c, s); err == nil || !strings.Contains(err.Error(), "3 devices (cpu:3) and 2 batches an update") {
		t.Error(err)
	}
	s.Accumulate = -1
	if _, err := saga.CompileSampled(sampledModel(t, "sage", d), d, c, s); err == nil || !strings.Contains(err.Error(), "-1 batches an update") {
		t.Error(err)
	}
}
