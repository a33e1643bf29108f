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

// Fits says what Fit finds, for budgets about the smallest that works.
func TestFits(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		o := plan.Options{Devices: rapid.IntRange(1, 2).Draw(t, "devices"), Group: rapid.IntRange(1, 3).Draw(t, "group"), Budget: 1,
			Schedule: rapid.SampledFrom([]string{plan.Sag, plan.Stage, plan.DestOrder}).Draw(t, "schedule")}
		if rapid.Bool().Draw(t, "beside") {
			o.Beside = s
		}
		p, err := o.Prepare(s)
		if err != nil {
			t.Fatal(err)
		}
		_, least := layout.NewFitting(p, c, o, plan.Rule{}, &layout.Scratch{}).Fit()
		for range 8 {
			o.Budget = max(1, least*rapid.Int64Range(4, 12).Draw(t, "eighths")/8)
			_, need := layout.NewFitting(p, c, o, plan.Rule{}, &layout.Scratch{}).Fit()
			if fits := layout.NewFitting(p, c, o, plan.Rule{}, &layout.Scratch{}).Fits(); fits != (need == 0) {
				t.Fatalf("within %d bytes: Fit needs %d, Fits says %t", o.Budget, need, fits)
			}
		}
	})
}
