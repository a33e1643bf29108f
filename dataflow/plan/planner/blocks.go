package planner

import (
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
	"sagann/dataflow/plan/order"
)

// Blocks plans s, a program over sampled blocks, with the room of z, whose CellAt it sets: all of
// it is resident. Too small a budget is a *plan.BudgetError.
func Blocks(s *plan.Spec, z *plan.Sets, o plan.Options) (*plan.Plan, error) {
	l := layout.Blocks(s, z, o)
	p := l.Plan
	if o.Budget > 0 && p.Peak > o.Budget {
		return nil, &plan.BudgetError{Budget: o.Budget, Smallest: p.Peak, P: 1}
	}
	order.Blocks(l, o)
	if err := p.Verify(); err != nil {
		panic(err)
	}
	return p, nil
}
