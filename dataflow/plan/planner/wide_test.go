package planner_test

import (
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/internal/draw"
)

// Wide cells find all of what they read at the far end on the device, in every interleaving of the queues, also with the smallest budget, and
// every own interval has one launch a gather for all intervals that they reach over.
func TestWideCells(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.Wide(plantest.DrawCells(t), rapid.SampledFrom([]int{1, 2, 3, 1000}).Draw(t, "wide"))
		o := plantest.DrawOptions(t, c)
		o.Devices, o.Ring = 1, false
		if o.Schedule == plan.DestOrder {
			o.Schedule = plan.Sag
		}
		p := checked(t, s, c, o)
		for _, k := range p.Tasks {
			if k.Kind == plan.Run && k.Other >= 0 && !c.Begins(c.Span(0), int(k.Other)) {
				t.Fatalf("%s: a cell with interval %d", p.Describe(0), k.Other)
			}
		}
	})
}
