package plantest

import (
	"errors"
	"slices"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
)

// Asked is how a plan is made.
type Asked struct {
	plan.Options
	rule plan.Rule
	on   *sim.Machine // nil: no loads pass each other
}

// Plan plans s.
func (o *Asked) Plan(s *plan.Spec, cells func(int) (*plan.Cells, error)) (*plan.Plan, error) {
	return planner.NewDecoder(o.on).New(s, cells, o.Options, o.rule)
}

// DrawOptions draws how a plan is made.
func DrawOptions(t *rapid.T, c *plan.Cells) Asked {
	var m *sim.Machine
	if name := rapid.SampledFrom([]string{"", "h200", "p100x8", "h200x4", "cpu"}).Draw(t, "early on"); name != "" {
		var err error
		if m, err = sim.LoadMachine(name); err != nil {
			t.Fatal(err)
		}
	}
	o := Asked{on: m}
	o.Options = plan.Options{Group: rapid.IntRange(0, 6).Draw(t, "group"), More: rapid.Bool().Draw(t, "more slots"), P: c.P, Slots: rapid.IntRange(0, 4).Draw(t, "slots"), Serial: rapid.IntRange(0, 4).Draw(t, "serial") == 0,
		Devices: rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "devices"), Ring: rapid.Bool().Draw(t, "ring"),
		Whole: rapid.IntRange(0, 3).Draw(t, "whole chunks only") == 0, Windows: rapid.Bool().Draw(t, "windows"), Diagonal: rapid.Bool().Draw(t, "diagonal"),
		Stream: rapid.Bool().Draw(t, "stream"), Straight: rapid.Bool().Draw(t, "straight"),
		Schedule: rapid.SampledFrom([]string{"", plan.Sag, plan.Stage, plan.DestOrder}).Draw(t, "schedule")}
	o.rule = plan.Rule{Over: rapid.Bool().Draw(t, "over"), Move: rapid.Bool().Draw(t, "move"), Ahead: rapid.IntRange(0, 8).Draw(t, "ahead"), Brief: rapid.Bool().Draw(t, "brief"), First: plan.First(rapid.IntRange(0, 2).Draw(t, "first"))}
	if rapid.Bool().Draw(t, "groups") {
		o.Groups = rapid.SliceOfN(rapid.IntRange(1, 6), 1, 4).Draw(t, "group of phase")
	}
	return o
}

// NewPlan plans s with drawn options.
func NewPlan(t *rapid.T, s *plan.Spec, c *plan.Cells) (*plan.Plan, error) {
	o := DrawOptions(t, c)
	return o.Plan(s, Always(c))
}

// Smallest asks for a budget of one byte and returns the smallest that would do.
func Smallest(t *rapid.T, s *plan.Spec, c *plan.Cells, o Asked) int64 {
	o.Budget = 1
	_, err := o.Plan(s, Always(c))
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		t.Fatalf("a budget of one byte: %v", err)
	}
	return small.Smallest
}

// SumOrder lists kernels over cells by own interval, as they come.
func SumOrder(p *plan.Plan) [][3]int32 {
	var out [][3]int32
	for _, k := range p.Tasks {
		if k.Kind == plan.Run && k.Other >= 0 {
			out = append(out, [3]int32{k.Own, k.Kernel, k.Other})
		}
	}
	slices.SortStableFunc(out, func(a, b [3]int32) int { return slices.Compare(a[:2], b[:2]) })
	return out
}
