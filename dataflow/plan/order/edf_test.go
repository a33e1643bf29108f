package order_test

import (
	"slices"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
)

// What loads in the order of their deadlines save, and that they move the same bytes
// through the same memory.
func TestEarly(t *testing.T) {
	s := plantest.Synthetic(3, 32)
	c := plan.NewCells(64e3, 8, 8e3, 2)
	for d := range 2 {
		for range 64 {
			c.NNZ[d], c.Bytes[d] = append(c.NNZ[d], 20e3), append(c.Bytes[d], 160e3)
		}
	}
	cells := func(int) (*plan.Cells, error) { return c, nil }
	m := plantest.Toy(1.5, 100)
	faster := 0
	for budget := int64(7e6); budget < 30e6; budget += 1e6 {
		o := plan.Options{P: 8, Budget: budget, Windows: true}
		was, err := planner.New(s, cells, o)
		if err != nil {
			continue
		}
		p, err := planner.NewDecoder(m).New(s, cells, o, plan.Rule{})
		if err != nil {
			t.Fatal(err)
		}
		before, after := sim.Simulate(was, m), sim.Simulate(p, m)
		if after.Wall > before.Wall || p.H2D != was.H2D || p.D2H != was.D2H || p.Peak != was.Peak {
			t.Errorf("budget %d: %v and %d, %d bytes, peak %d; in the order of use %v and %d, %d bytes, peak %d",
				budget, after, p.H2D, p.D2H, p.Peak, before, was.H2D, was.D2H, was.Peak)
		}
		if 100*after.Wall < 99*before.Wall {
			faster++
		}
		for q := range plan.Queues { // all but loads keep their order
			if a, b := orderOf(was, q), orderOf(p, q); q != plan.H2D && !slices.Equal(a, b) {
				t.Errorf("budget %d: the %v queue has another order", budget, q)
			}
		}
		if again, err := planner.NewDecoder(m).New(s, cells, o, plan.Rule{}); err != nil || !slices.Equal(again.Tasks, p.Tasks) || !slices.Equal(again.Deps, p.Deps) {
			t.Errorf("budget %d: another plan the second time (%v)", budget, err)
		}
	}
	if faster < 1 {
		t.Errorf("faster by a hundredth nowhere")
	}
}

// orderOf is the order of a queue by what its tasks do.
func orderOf(p *plan.Plan, q plan.Queue) []plan.Task {
	var out []plan.Task
	for _, k := range p.Tasks {
		if k.Queue == q {
			k.Deps, k.Is.Event = [2]int32{}, false
			out = append(out, k)
		}
	}
	return out
}
