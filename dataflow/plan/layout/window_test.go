package layout_test

import (
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
	"sagann/dataflow/plan/order"
	"sagann/dataflow/plan/plantest"
)

// A window may keep intervals in the middle of those that are visited together: the rows of
// those before and behind it lie in slots of their own.
func TestWindowAmongGroup(t *testing.T) {
	s := plantest.StreamSpec()
	rows := &s.Phases[0].Steps[1].Calls[0]
	rows.Operands = append([]plan.Operand{{ID: 0}}, rows.Operands...) // own rows of x, too
	const p = 6
	c := plantest.FullCells(10*p, p, 20, 0)
	for group := 1; group <= p; group++ {
		for first := range p {
			for n := 1; first+n <= p; n++ {
				l := layout.Windowed(s, c, group, plan.Window{Key: 0, First: first, N: n})
				order.Emit(l, plan.Options{}, nil)
				if err := plantest.Check(l.Plan, nil); err != nil {
					t.Fatalf("%d at a time, a window of %d from %d on: %v", group, n, first, err)
				}
			}
		}
	}
}
