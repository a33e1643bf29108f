package planner

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
	"sagann/dataflow/plan/order"
)

// Blocks plans s, a program over sampled blocks, with the capacities in z, and sets the addresses in z.
// All data of a batch is in device memory at once. If the budget is too small, the error is a *plan.BudgetError.
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

// Beside plans s, a program over the full graph that shares the parameters of base, a plan over sampled
// blocks. It takes the first number of intervals that fits (o.P, if that is not 0), and sets base.Cells to the
// cells of that number. If none fits, the error is a *plan.BudgetError.
func Beside(s *plan.Spec, cells func(p int) (*plan.Cells, error), o plan.Options, base *plan.Plan) (*plan.Plan, error) {
	try := intervalCounts
	if o.P > 0 {
		try = []int{o.P}
	}
	o.Base = base
	var least *plan.BudgetError
	for _, n := range try {
		c, err := cells(n)
		if err != nil {
			return nil, err
		}
		base.Cells = c
		p, err := New(s, func(int) (*plan.Cells, error) { return c, nil }, o)
		var small *plan.BudgetError
		if !errors.As(err, &small) {
			return p, err
		}
		if least == nil || small.Smallest < least.Smallest {
			least = small
		}
		if n > c.V {
			break
		}
	}
	return nil, least
}
