package saga_test

import (
	"testing"

	"sagann/dataflow/plan/sim"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestBetween: where evaluations are seldom, windows that stay from one step to the next are loaded again after one, as it runs in their memory. The forward pass
// of a link task runs before every step, and leaves them alone.
func TestBetween(t *testing.T) {
	s := dataset.DefaultSpec()
	s.Vertices, s.Edges, s.Features, s.Classes = 1100, 14_000, 96, 5
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("gcn", layers.Options{Hidden: 12, Classes: 5, Layers: 2, Features: s.Features})
	if err != nil {
		t.Fatal(err)
	}
	of := lasting(t, m, d)
	p, q := of(), of()
	loaded := false
	for range 4 {
		x, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		y, err := q.Step()
		if err != nil {
			t.Fatal(err)
		}
		if x != y {
			t.Errorf("loss %g after an evaluation, %g without one", x, y)
		}
		if loaded = !loaded; loaded { // then two steps in a row
			if _, err := p.Evaluate(); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.Task, m.LinkHead = saga.LinkTask, saga.LinkDot
	if d, err = dataset.SplitLinks(d, dataset.LinkShares{Val: 0.1, Test: 0.1}, 3); err != nil {
		t.Fatal(err)
	}
	if p, err = saga.Compile(m, d, saga.Config{EvalEvery: 10}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if !p.TrainPlan().Spec.Between {
		t.Error("a forward pass before each step may overwrite windows")
	}
}

// lasting makes programs of m whose plan has windows that stay from one step to the next.
func lasting(t *testing.T, m saga.Model, d *dataset.Data) func() *saga.Program {
	t.Helper()
	machine, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	aside := int64(machine.Kind(0).Memory.Value) - machine.Budget(0)
	for mem := int64(200 << 10); mem < 4<<20; mem += 40 << 10 {
		of := func() (*saga.Program, error) {
			return saga.Compile(m, d, saga.Config{Seed: 1, Machine: "h200", Mem: aside + mem, EvalEvery: 10, Without: []string{"invariant"}})
		}
		p, err := of()
		if err != nil {
			continue
		}
		for _, w := range p.TrainPlan().Places.Windows {
			if w.From <= w.To {
				continue
			}
			return func() *saga.Program {
				p, err := of()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { p.Close() })
				return p
			}
		}
		p.Close()
	}
	t.Fatal("no plan has windows that last")
	return nil
}
