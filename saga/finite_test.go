package saga_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// overflowing is a model with a bias b of zeros that counts 1e25 times: the loss is finite, and
// b's gradient is so large that the first update writes Inf, to b or to the second moment of
// adam, with which b never changes again.
func overflowing(d *dataset.Data) saga.Model {
	m := sessionModel(d)
	last := &m.Layers[1]
	vertex := last.ApplyVertex
	last.ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
		return ops.Add(vertex(v, p), ops.Scale(p.Bias("b", d.Classes), 1e25))
	}
	return m
}

// TestNotFinite: training ends with an error that names epoch and tensor when an update
// writes a number that is not finite though the loss is; the checkpoint written before
// stays, and can be restored.
func TestNotFinite(t *testing.T) {
	d := dataset.Karate()
	m := overflowing(d)
	for _, x := range []struct {
		device, want string
		o            saga.Optimizer
	}{
		{"", "moment2:layer2.b has 2 of 2 numbers", saga.Optimizer{}},
		{"", "moment2:layer2.b has 2 of 2 numbers", saga.Optimizer{Kind: "adamw"}},
		{"", "after the update layer2.b has 2 of 2 numbers", saga.Optimizer{Kind: "sgd", LR: 1e20}},
		{"", "layer2.b has 2 of 2 numbers", saga.Optimizer{Kind: "sgd", LR: 1e20, Momentum: 0.5}},
		{"cpu:2", "layer2.b has 2 of 2 numbers", saga.Optimizer{Kind: "sgd", LR: 1e20}},
		{"cpu:2", "moment2:layer2.b has 2 of 2 numbers", saga.Optimizer{}},
	} {
		c := saga.Config{Chunks: 2, Device: cmp.Or(x.device, os.Getenv("SAGANN_DEVICE")), Epochs: 9, Optimizer: x.o}
		p := compiled(t, m, d, c)
		path := filepath.Join(t.TempDir(), "c.safetensors")
		if err := p.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Train(context.Background(), saga.TrainOptions{Checkpoint: path, CheckpointEvery: 1})
		if text := fmt.Sprint(err); !strings.Contains(text, "epoch 1: ") || !strings.Contains(text, x.want) {
			t.Errorf("%+v: %v", x, err)
		}
		if err := p.Save(path, ""); err == nil || !strings.Contains(err.Error(), "layer2.b") {
			t.Errorf("%+v: a checkpoint is written: %v", x, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, good) {
			t.Errorf("%+v: the checkpoint has changed, %v", x, err)
		}
		if err := compiled(t, m, d, c).Restore(path); err != nil {
			t.Error(err)
		}
	}
}

// TestNotFiniteGiven: numbers that are not finite when training begins, or that a function of
// the user's sets, end it, too.
func TestNotFiniteGiven(t *testing.T) {
	d := dataset.Karate()
	c := saga.Config{Chunks: 2, Epochs: 9, Device: os.Getenv("SAGANN_DEVICE")}
	spoil := func(p *saga.Program, name string) error {
		w, err := p.Param(name)
		if err != nil {
			return err
		}
		w[1] = float32(math.NaN())
		return p.SetParam(name, w)
	}
	for _, name := range []string{"layer1.W", "layer1.unused"} { // the loss does not depend on the second
		p := compiled(t, sessionModel(d), d, c)
		if err := spoil(p, name); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Train(context.Background(), saga.TrainOptions{}); err == nil || !strings.Contains(err.Error(), "before epoch 1 "+name+" has 1 of ") {
			t.Errorf("%s is NaN before training: %v", name, err)
		}
		p = compiled(t, sessionModel(d), d, c)
		path := filepath.Join(t.TempDir(), "c.safetensors")
		_, err := p.Train(context.Background(), saga.TrainOptions{Checkpoint: path, CheckpointEvery: 1, OnEpoch: func(e saga.Epoch) error {
			if e.Epoch < 3 {
				return nil
			}
			return spoil(p, name)
		}})
		if err == nil || !strings.Contains(err.Error(), "epoch 3: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is NaN after epoch 3: %v", name, err)
		}
		if ck, err := saga.ReadCheckpoint(path); err != nil || ck.Epoch != 2 {
			t.Errorf("the checkpoint is %+v, %v", ck, err)
		}
	}
}
