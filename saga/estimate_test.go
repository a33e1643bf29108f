package saga_test

import (
	"math"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// Where statistics choose, one number of intervals is measured, the choice is about as
// good as that from all real cells, and training is training.
func TestEstimateChooses(t *testing.T) {
	d := mustSynthetic(t, "vertices=12000,edges=160000,features=64,classes=8,skew=0.5")
	m, err := layers.New("ggcn", layers.Options{Features: 64, Hidden: 32, Classes: 8, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, mem := range []int64{12 << 20, 18 << 20} {
		c := saga.Config{Seed: 1, Machine: "h200", Schedule: plan.Auto, Without: []string{"invariant"}}
		if c.Mem = mem; mem > 0 {
			c.Mem += int64(machine.Kind(0).Memory.Value) - machine.Budget(0)
		}
		all, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		restore := saga.EstimateFrom(1)
		p, err := saga.Compile(m, d, c)
		again, _ := saga.Compile(m, d, c)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := p.Predicted().Seconds(), all.Predicted().Seconds(); a > 1.1*b {
			t.Errorf("%d bytes: %g s with %d intervals, %g with %d by real cells", mem, a, p.TrainPlan().Cells.P, b, all.TrainPlan().Cells.P)
		}
		if p.Measured() > 2 || all.Measured() < 5 {
			t.Errorf("%d bytes: %d numbers of intervals measured, %d without statistics", mem, p.Measured(), all.Measured())
		}
		if p.Digest() != again.Digest() {
			t.Error("the same configuration gives two plans")
		}
		for _, q := range []*saga.Program{all, p} {
			if err := q.Open(); err != nil {
				t.Fatal(err)
			}
			defer q.Close()
		}
		x, err := all.Step()
		if err != nil {
			t.Fatal(err)
		}
		y, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x-y) > 1e-5*math.Abs(x) {
			t.Errorf("%d bytes: losses %g and %g", mem, x, y)
		}
	}
}

func mustSynthetic(t *testing.T, spec string) *dataset.Data {
	t.Helper()
	s, err := dataset.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
