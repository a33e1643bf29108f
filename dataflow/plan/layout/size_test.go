package layout_test

import (
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
	"sagann/dataflow/plan/plantest"
	"sagann/internal/draw"
)

// Choices that are measured one after the other take what they take when they are laid out.
func TestSizes(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		o := plan.Options{Devices: rapid.IntRange(1, 2).Draw(t, "devices"),
			Schedule: rapid.SampledFrom([]string{plan.Sag, plan.Stage, plan.DestOrder}).Draw(t, "schedule")}
		if err := layout.CheckSizes(s, c, o, rapid.Uint64().Draw(t, "seed")); err != nil {
			t.Fatal(err)
		}
	})
}

// What a move is said to gain the step then takes less.
func TestGains(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		o := plantest.Asked{Options: plan.Options{Devices: 1, Schedule: plan.Sag}}
		o.Budget = plantest.Smallest(t, s, c, o) + rapid.Int64Range(0, 1<<15).Draw(t, "slack")
		hidden, kernels := plantest.DrawEstimate(t)
		if err := layout.CheckGains(s, c, o.Options, kernels, hidden); err != nil {
			t.Fatal(err)
		}
	})
}
