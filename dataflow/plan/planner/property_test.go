package planner_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
	"sagann/internal/draw"
)

// Every operand of every task is where the task looks for it, in every interleaving of
// the queues that the dependences allow, and stays until it has been read.
func TestEveryInterleaving(t *testing.T) {
	for _, part := range []string{"a", "b"} {
		t.Run(part, draw.Each(func(t *rapid.T) {
			s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
			o := plantest.DrawOptions(t, c)
			checked(t, s, c, o)
		}))
	}
}

// checked plans s, with the smallest budget at times and a little more, and checks the plan.
func checked(t *rapid.T, s *plan.Spec, c *plan.Cells, o plantest.Asked) *plan.Plan {
	if rapid.Bool().Draw(t, "bounded") {
		o.Budget = plantest.Smallest(t, s, c, o) + rapid.Int64Range(0, 1<<14).Draw(t, "slack")
	}
	p, err := o.Plan(s, plantest.Always(c))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	if err := plantest.Check(p, nil); err != nil {
		t.Fatalf("%+v\n%v", o, err)
	}
	checkSizes(t, p, o.Options)
	return p
}

// The peak is the end of the buffer that ends last, and within the budget; the bytes
// moved are those of the tasks.
func checkSizes(t *rapid.T, p *plan.Plan, o plan.Options) {
	var end, h2d, d2h, d2d, once int64
	for _, b := range p.Places.Memory {
		end = max(end, b.At+b.Bytes)
	}
	if end != p.Peak || o.Budget > 0 && p.Peak > o.Budget {
		t.Errorf("peak %d, buffers end at %d, budget %d", p.Peak, end, o.Budget)
	}
	for _, k := range p.Tasks {
		switch k.Kind {
		case plan.Load:
			h2d += k.Bytes
		case plan.Save:
			d2h += k.Bytes
		case plan.Copy:
			d2d += k.Bytes
		}
	}
	for _, k := range p.Setup {
		once += k.Bytes
	}
	if h2d != p.H2D || d2h != p.D2H || d2d != p.D2D || once != p.Once {
		t.Errorf("tasks move %d, %d, %d and %d bytes, the plan says %d, %d, %d and %d", h2d, d2h, d2d, once, p.H2D, p.D2H, p.D2D, p.Once)
	}
}

// The smallest budget of a BudgetError is exact: it does, and a byte less does not.
func TestSmallestBudget(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		o := plantest.DrawOptions(t, c)
		o.Budget = plantest.Smallest(t, s, c, o)
		if p, err := o.Plan(s, plantest.Always(c)); err != nil || p.Peak > o.Budget {
			t.Fatalf("the smallest budget, %d bytes: %v", o.Budget, err)
		}
		o.Budget--
		var small *plan.BudgetError
		if _, err := o.Plan(s, plantest.Always(c)); !errors.As(err, &small) {
			t.Fatalf("%d bytes do, a byte less than the smallest budget", o.Budget)
		} else if small.Smallest != o.Budget+1 {
			t.Fatalf("with %d bytes the smallest budget is %d, before it was %d", o.Budget, small.Smallest, o.Budget+1)
		}
	})
}

// With an automatic P the smallest budget is that of some P, and does.
func TestSmallestBudgetOfAnyP(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s := plantest.DrawSpec(t)
		v := rapid.IntRange(1, 40).Draw(t, "vertices")
		cells := func(p int) (*plan.Cells, error) {
			c := plan.NewCells(v, p, (v+p-1)/p, 2)
			for range p * p {
				for d := range 2 {
					c.NNZ[d], c.Bytes[d] = append(c.NNZ[d], 3), append(c.Bytes[d], 256)
				}
			}
			return c, nil
		}
		o := plan.Options{Budget: 1, MinP: rapid.IntRange(0, 9).Draw(t, "at least")}
		_, err := planner.New(s, cells, o)
		var small *plan.BudgetError
		if !errors.As(err, &small) {
			t.Fatal(err)
		}
		o.Budget = small.Smallest
		p, err := planner.New(s, cells, o)
		if err != nil || p.Peak > o.Budget || p.Cells.P < o.MinP {
			t.Fatalf("the smallest budget, %d bytes: %v", o.Budget, err)
		}
		o.Budget--
		if _, err := planner.New(s, cells, o); err == nil {
			t.Fatalf("%d bytes do, a byte less than the smallest budget", o.Budget)
		}
	})
}

// A plan made beside another leaves its parameters, inputs and cells alone, and fits
// where the first was told of it.
func TestBasePlan(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		eval := plantest.DrawSpec(t)
		s.Between = rapid.Bool().Draw(t, "between steps")
		o := plantest.DrawOptions(t, c)
		o.Beside = eval
		o.Budget = plantest.Smallest(t, s, c, o) + rapid.Int64Range(0, 1<<14).Draw(t, "slack")
		base, err := o.Plan(s, plantest.Always(c))
		if err != nil {
			t.Fatal(err)
		}
		o.Beside, o.Base = nil, base
		p, err := o.Plan(eval, plantest.Always(c))
		if err != nil {
			t.Fatalf("the plan beside: %v", err)
		}
		if p.Peak > o.Budget {
			t.Fatalf("the plan beside takes %d bytes of %d", p.Peak, o.Budget)
		}
		if err := plantest.Check(p, base); err != nil {
			t.Fatalf("%+v\n%v", o, err)
		}
		lent := map[int]bool{}
		for id, of := range p.Host.Lent {
			if of < 0 {
				continue
			}
			if lent[of] || !p.HasPlace(id) || p.OnHost(id) || !base.OnHost(of) || s.Values[of].Output || eval.Values[id].Output || p.HostBytesOf(id) > base.HostBytesOf(of) {
				t.Fatalf("%s lies in the place of %s", eval.Values[id].Name, s.Values[of].Name)
			}
			lent[of] = true
		}
	})
}

// With the groups of a plan another budget sums in the same order.
func TestGroupsAgain(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		o := plantest.DrawOptions(t, c)
		o.Budget = plantest.Smallest(t, s, c, o) + rapid.Int64Range(0, 1<<14).Draw(t, "slack")
		p, err := o.Plan(s, plantest.Always(c))
		if err != nil {
			t.Fatal(err)
		}
		o.Groups, o.Group = p.Groups, 0
		o.Budget += rapid.Int64Range(0, 1<<14).Draw(t, "more")
		again, err := o.Plan(s, plantest.Always(c))
		if err != nil {
			t.Fatal(err)
		}
		if err := plantest.Check(again, nil); err != nil {
			t.Fatalf("%+v\n%v", o, err)
		}
		if a, b := plantest.SumOrder(p), plantest.SumOrder(again); !slices.Equal(p.Groups, again.Groups) || !slices.Equal(a, b) {
			t.Fatalf("groups %v, then %v; sums\n%v\n%v", p.Groups, again.Groups, a, b)
		}
	})
}
