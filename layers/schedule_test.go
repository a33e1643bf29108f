package layers_test

import (
	"fmt"
	"math"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestSchedules: sag, stage and dest-order move different bytes and give the same
// losses, with and without residency, serpentines and overlap.
func TestSchedules(t *testing.T) {
	forModels(t, func(name string, m saga.Model, d *dataset.Data, want []float64) {
		for _, schedule := range []string{"sag", "stage", "dest-order"} {
			for _, without := range [][]string{nil, {"residency"}, {"residency", "serpentine", "stream"}, {"residency", "fuse", "hoist", "factor", "commute"}} {
				t.Run(fmt.Sprint(name, "/", schedule, without), func(t *testing.T) {
					got := losses(t, m, d, saga.Config{Seed: 5, Chunks: 4, Schedule: schedule, Without: without})
					for i := range want {
						if math.Abs(got[i]-want[i]) > 1e-4*math.Abs(want[i]) {
							t.Errorf("epoch %d: loss %v, want %v", i, got[i], want[i])
						}
					}
				})
			}
		}
	})
}

func losses(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) []float64 {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var out []float64
	for range 3 {
		l, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	s, err := p.Evaluate()
	if err != nil {
		t.Fatal(err)
	}
	return append(out, s.Train.Loss, s.Test.Loss)
}

// TestDevices: several devices give the losses of one, with and without the ring, with
// everything resident and with nothing.
func TestDevices(t *testing.T) {
	forModels(t, func(name string, m saga.Model, d *dataset.Data, want []float64) {
		for _, device := range []string{"cpu:2", "cpu:3", "cpu:4"} {
			for _, c := range []saga.Config{
				{Chunks: 8}, {Chunks: 8, Stream: true}, {Chunks: 5, Stream: true, NoRing: true},
				{Chunks: 7, Schedule: "stage"}, {Chunks: 6, Schedule: "dest-order", Stream: true}, {Chunks: 3, Stream: true, Prefetch: 1},
			} {
				c.Device, c.Seed = device, 5
				t.Run(fmt.Sprint(name, "/", device, "/P=", c.Chunks, c.Schedule, c.Stream, c.NoRing), func(t *testing.T) {
					got := losses(t, m, d, c)
					for i := range want {
						if math.Abs(got[i]-want[i]) > 1e-4*math.Abs(want[i]) {
							t.Errorf("epoch %d: loss %v, want %v", i, got[i], want[i])
						}
					}
				})
			}
		}
	})
}

// forModels calls f for each model on one skewed graph, with its losses in one piece.
func forModels(t *testing.T, f func(name string, m saga.Model, d *dataset.Data, want []float64)) {
	t.Helper()
	spec, err := dataset.ParseSpec("vertices=400,edges=3000,features=12,classes=3,seed=3,skew=0.7")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gcn", "ggcn", "mpgcn", "gat", "ggnn", "edgemlp"} {
		m, err := layers.New(name, layers.Options{Features: 12, Hidden: 8, Classes: 3, Layers: 2, Steps: 2, Heads: 2})
		if err != nil {
			t.Fatal(err)
		}
		f(name, m, d, losses(t, m, d, saga.Config{Seed: 5}))
	}
}
