package plan_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/internal/draw"
)

// asked is how a plan is made.
type asked struct {
	plan.Options
	how plan.How
	on  *plan.Machine // for how.EDF
}

// plan plans s.
func (o *asked) plan(s *plan.Spec, cells func(int) (*plan.Cells, error)) (*plan.Plan, error) {
	return plan.NewDecoder(o.on).New(s, cells, o.Options, o.how)
}

func drawOptions(t *rapid.T, c *plan.Cells) asked {
	var m *plan.Machine
	if name := rapid.SampledFrom([]string{"", "h200", "p100x8", "h200x4", "cpu"}).Draw(t, "early on"); name != "" {
		var err error
		if m, err = plan.LoadMachine(name); err != nil {
			t.Fatal(err)
		}
	}
	o := asked{on: m, how: plan.How{EDF: m != nil}}
	o.Options = plan.Options{Group: rapid.IntRange(0, 6).Draw(t, "group"), More: rapid.Bool().Draw(t, "more slots"), P: c.P, Slots: rapid.IntRange(0, 4).Draw(t, "slots"), Serial: rapid.IntRange(0, 4).Draw(t, "serial") == 0,
		Devices: rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "devices"), Ring: rapid.Bool().Draw(t, "ring"),
		Whole: rapid.IntRange(0, 3).Draw(t, "whole chunks only") == 0, Windows: rapid.Bool().Draw(t, "windows"), Diagonal: rapid.Bool().Draw(t, "diagonal"),
		Stream: rapid.Bool().Draw(t, "stream"), Straight: rapid.Bool().Draw(t, "straight"),
		Schedule: rapid.SampledFrom([]string{"", plan.Sag, plan.Stage, plan.DestOrder}).Draw(t, "schedule")}
	if rapid.Bool().Draw(t, "groups") {
		o.Groups = rapid.SliceOfN(rapid.IntRange(1, 6), 1, 4).Draw(t, "group of phase")
	}
	o.how.Rule = plan.Rule{Lasting: rapid.Bool().Draw(t, "lasting")}
	if m != nil && rapid.Bool().Draw(t, "balanced") {
		o.how.Rule.Balance, o.how.Kernels = drawBalance(t)
	}
	return o
}

// drawBalance draws parameters of the estimate and the kernels' times, more than there are phases.
func drawBalance(t *rapid.T) (plan.Balance, []float64) {
	return plan.Balance{Ahead: rapid.Float64Range(0, 1).Draw(t, "ahead"), Hidden: rapid.Float64Range(0.01, 1).Draw(t, "hidden")},
		rapid.SliceOfN(rapid.Float64Range(0, 1e4), 64, 64).Draw(t, "kernels")
}

// newPlan plans s with drawn options.
func newPlan(t *rapid.T, s *plan.Spec, c *plan.Cells) (*plan.Plan, error) {
	o := drawOptions(t, c)
	return o.plan(s, always(c))
}

// smallest asks for a budget of one byte and returns the smallest that would do.
func smallest(t *rapid.T, s *plan.Spec, c *plan.Cells, o asked) int64 {
	o.Budget = 1
	_, err := o.plan(s, always(c))
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		t.Fatalf("a budget of one byte: %v", err)
	}
	return small.Smallest
}

// Every operand of every task is where the task looks for it, in every interleaving of
// the queues that the dependences allow, and stays until it has been read.
func TestEveryInterleaving(t *testing.T) {
	for _, part := range []string{"a", "b"} {
		t.Run(part, draw.Each(func(t *rapid.T) {
			s, c := drawSpec(t), drawCells(t)
			o := drawOptions(t, c)
			if rapid.Bool().Draw(t, "bounded") {
				o.Budget = smallest(t, s, c, o) + rapid.Int64Range(0, 1<<14).Draw(t, "slack")
			}
			p, err := o.plan(s, always(c))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Verify(); err != nil {
				t.Fatal(err)
			}
			if err := check(p, nil); err != nil {
				t.Fatalf("%+v\n%v", o, err)
			}
			checkSizes(t, p, o.Options)
		}))
	}
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
		s, c := drawSpec(t), drawCells(t)
		o := drawOptions(t, c)
		o.Budget = smallest(t, s, c, o)
		if p, err := o.plan(s, always(c)); err != nil || p.Peak > o.Budget {
			t.Fatalf("the smallest budget, %d bytes: %v", o.Budget, err)
		}
		o.Budget--
		var small *plan.BudgetError
		if _, err := o.plan(s, always(c)); !errors.As(err, &small) {
			t.Fatalf("%d bytes do, a byte less than the smallest budget", o.Budget)
		} else if small.Smallest != o.Budget+1 {
			t.Fatalf("with %d bytes the smallest budget is %d, before it was %d", o.Budget, small.Smallest, o.Budget+1)
		}
	})
}

// With an automatic P the smallest budget is that of some P, and does.
func TestSmallestBudgetOfAnyP(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		v := rapid.IntRange(1, 40).Draw(t, "vertices")
		cells := func(p int) (*plan.Cells, error) {
			c := &plan.Cells{V: v, P: p, Width: (v + p - 1) / p}
			for range p * p {
				for d := range 2 {
					c.NNZ[d], c.Bytes[d] = append(c.NNZ[d], 3), append(c.Bytes[d], 256)
				}
			}
			return c, nil
		}
		o := plan.Options{Budget: 1, MinP: rapid.IntRange(0, 9).Draw(t, "at least")}
		_, err := plan.New(s, cells, o)
		var small *plan.BudgetError
		if !errors.As(err, &small) {
			t.Fatal(err)
		}
		o.Budget = small.Smallest
		p, err := plan.New(s, cells, o)
		if err != nil || p.Peak > o.Budget || p.Cells.P < o.MinP {
			t.Fatalf("the smallest budget, %d bytes: %v", o.Budget, err)
		}
		o.Budget--
		if _, err := plan.New(s, cells, o); err == nil {
			t.Fatalf("%d bytes do, a byte less than the smallest budget", o.Budget)
		}
	})
}

// A plan made beside another leaves its parameters, inputs and cells alone, and fits
// where the first was told of it.
func TestBasePlan(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := drawSpec(t), drawCells(t)
		eval := drawSpec(t)
		o := drawOptions(t, c)
		o.Beside = eval
		o.Budget = smallest(t, s, c, o) + rapid.Int64Range(0, 1<<14).Draw(t, "slack")
		base, err := o.plan(s, always(c))
		if err != nil {
			t.Fatal(err)
		}
		o.Beside, o.Base = nil, base
		p, err := o.plan(eval, always(c))
		if err != nil {
			t.Fatalf("the plan beside: %v", err)
		}
		if p.Peak > o.Budget {
			t.Fatalf("the plan beside takes %d bytes of %d", p.Peak, o.Budget)
		}
		if err := check(p, base); err != nil {
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
		s, c := drawSpec(t), drawCells(t)
		o := drawOptions(t, c)
		o.Budget = smallest(t, s, c, o) + rapid.Int64Range(0, 1<<14).Draw(t, "slack")
		p, err := o.plan(s, always(c))
		if err != nil {
			t.Fatal(err)
		}
		o.Groups, o.Group = p.Groups, 0
		o.Budget += rapid.Int64Range(0, 1<<14).Draw(t, "more")
		again, err := o.plan(s, always(c))
		if err != nil {
			t.Fatal(err)
		}
		if err := check(again, nil); err != nil {
			t.Fatalf("%+v\n%v", o, err)
		}
		if a, b := sumOrder(p), sumOrder(again); !slices.Equal(p.Groups, again.Groups) || !slices.Equal(a, b) {
			t.Fatalf("groups %v, then %v; sums\n%v\n%v", p.Groups, again.Groups, a, b)
		}
	})
}

// Choices that are measured one after the other take what they take when they are laid out.
func TestSizes(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := drawSpec(t), drawCells(t)
		o := plan.Options{Devices: rapid.IntRange(1, 2).Draw(t, "devices"),
			Schedule: rapid.SampledFrom([]string{plan.Sag, plan.Stage, plan.DestOrder}).Draw(t, "schedule")}
		if err := plan.CheckSizes(s, c, o, rapid.Uint64().Draw(t, "seed")); err != nil {
			t.Fatal(err)
		}
	})
}

// The best move is found without working out what all of them gain.
func TestGains(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := drawSpec(t), drawCells(t)
		o := asked{Options: plan.Options{Devices: 1, Schedule: plan.Sag}}
		o.Budget = smallest(t, s, c, o) + rapid.Int64Range(0, 1<<15).Draw(t, "slack")
		b, kernels := drawBalance(t)
		if err := plan.CheckGains(s, c, o.Options, kernels, b); err != nil {
			t.Fatal(err)
		}
	})
}
