package main

import (
	"log/slog"
	"testing"
)

// TestLateTrace: a run that is traced late has a trace of its last epochs, and before them
// no step is traced.
func TestLateTrace(t *testing.T) {
	j, err := prepare(&settings{Data: dataFlags{Path: "karate"}, Model: modelFlags{Name: "gcn", Hidden: 4, Layers: 2, Steps: 1, Heads: 1},
		Training: trainingFlags{Epochs: 5, LR: 0.01, LRDecay: 1, HuberDelta: 1, EvalEvery: 1, Optimizer: "adam"}, Memory: memoryFlags{Device: "cpu"}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer j.prog.Close()
	r := &running{job: j, epochs: 5, late: true}
	for epoch := range r.epochs {
		if err := r.startTrace(epoch); err != nil {
			t.Fatal(err)
		}
		if _, err := j.prog.Step(); err != nil {
			t.Fatal(err)
		}
		if want := epoch >= r.epochs-tracedEpochs; r.tracing != want || (j.prog.WriteTrace(t.TempDir()) == nil) != want {
			t.Errorf("epoch %d: traced %v, want %v", epoch+1, r.tracing, want)
		}
	}
}
