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
