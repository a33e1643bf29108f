package saga_test

import (
	"errors"
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

// A budget that is much too small is refused, and a forward pass planned, without counting the cells of every number of intervals. What the
// error names works, and a tenth less does not, counted or not.
func TestEstimatesRefuse(t *testing.T) {
	d := mustSynthetic(t, "vertices=12000,edges=160000,features=64,classes=8,skew=0.5")
	m, err := layers.New("ggnn", layers.Options{Features: 64, Hidden: 32, Classes: 8, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ output, machine string }{{"", "h200"}, {"", ""}, {"logits", ""}} {
		chosen := func(mem int64, from int) (int, *plan.BudgetError) {
			defer saga.EstimateFrom(from)()
			n, err := saga.Chosen(m, d, saga.Config{Seed: 1, Machine: x.machine, Mem: mem}, x.output)
			var small *plan.BudgetError
			if err != nil && !errors.As(err, &small) {
				t.Fatal(err)
			}
			return n, small
		}
		n, small := chosen(1<<10, 1)
		_, exact := chosen(1<<10, math.MaxInt)
		if small == nil || n > 2 || math.Abs(float64(small.Smallest-exact.Smallest)) > .01*float64(exact.Smallest) {
			t.Fatalf("%v: %d numbers of intervals counted: %v; by counting all: %v", x, n, small, exact)
		}
		if n, e := chosen(small.Smallest, 1); e != nil || n > 3 {
			t.Errorf("%v: %d counted with the budget that was named: %v", x, n, e)
		}
		less := small.Smallest - (exact.Smallest-exact.Budget)/100 // of what is planned, if not of the GPU's context
		if x.machine != "" {
			less = small.Smallest - 100<<10
		}
		if _, e := chosen(less, 1); e == nil {
			t.Errorf("%v: it works with %d bytes, too; %v", x, less, small)
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
