package planner_test

import (
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/internal/draw"
)

// Wide cells find all of what they read at the far end on the device, in every interleaving of the queues, also with the smallest budget, and
// every own interval has one launch a gather.
func TestWideCells(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.Wide(plantest.DrawCells(t))
		o := plantest.DrawOptions(t, c)
		o.Devices, o.Ring = 1, false
		if o.Schedule == plan.DestOrder {
			o.Schedule = plan.Sag
		}
		p := checked(t, s, c, o)
		for _, k := range p.Tasks {
			if k.Kind == plan.Run && k.Other > 0 {
				t.Fatalf("%s: a cell with interval %d", p.Describe(0), k.Other)
			}
		}
	})
}
