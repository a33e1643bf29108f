package planner

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/layout"
	"sagann/dataflow/plan/order"
	"sagann/dataflow/plan/sim"
)

// intervalCounts are the numbers of intervals that New tries if Options.P is 0.
var intervalCounts = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}

// New plans s by the zero Rule. cells returns the sizes of the grid for p intervals. Loads are in the order in
// which tasks use them. If no plan fits, the error is a *plan.BudgetError.
func New(s *plan.Spec, cells func(p int) (*plan.Cells, error), o plan.Options) (*plan.Plan, error) {
	return NewDecoder(nil).New(s, cells, o, plan.Rule{})
}

// New plans s by rule. If the machine is known, loads pass each other, earliest deadline first, if that makes the simulated
// step shorter.
func (d *Decoder) New(s *plan.Spec, cells func(p int) (*plan.Cells, error), o plan.Options, rule plan.Rule) (*plan.Plan, error) {
	if o.P < 0 || o.Slots < 0 || o.Budget < 0 {
		return nil, errors.New("plan: negative option")
	}
	s, err := o.Prepare(s)
	if err != nil {
		return nil, err
	}
	o.MinP = max(o.MinP, o.Devices)
	if o.P > 0 || o.Base != nil {
		p := o.P
		if o.Base != nil {
			p, o.Group, o.Groups = o.Base.Cells.P, o.Base.Groups[len(o.Base.Groups)-1], nil
		}
		return d.first(s, cells, o, rule, []int{p})
	}
	pl, err := d.first(s, cells, o, rule, evenly(intervalCounts, o.Devices))
	var small *plan.BudgetError
	if o.Devices > 1 && errors.As(err, &small) {
		return d.first(s, cells, o, rule, intervalCounts)
	}
	return pl, err
}

// evenly rounds numbers of intervals up to multiples of k, so that k devices own equally many.
func evenly(ps []int, k int) []int {
	var out []int
	for _, p := range ps {
		out = append(out, (p+k-1)/k*k)
	}
	return slices.Compact(out)
}

// first plans with the first number of intervals in try with which two slots fit, or everything is resident. If
// there is none, it takes the first number that fits with one slot.
func (d *Decoder) first(s *plan.Spec, cells func(p int) (*plan.Cells, error), o plan.Options, rule plan.Rule, try []int) (*plan.Plan, error) {
	var tooSmall *plan.BudgetError
	var only *Decoded // fits, but with one slot, so that copies and kernels do not overlap
	for _, p := range try {
		if o.P == 0 && o.Base == nil && p < o.MinP {
			continue
		}
		c, err := cells(p)
		if err != nil {
			return nil, err
		}
		x := d.Decode(s, c, o, rule)
		switch {
		case x.Need > 0:
			if tooSmall == nil || x.Need < tooSmall.Smallest {
				tooSmall = &plan.BudgetError{Budget: o.Budget, Smallest: x.Need, P: p}
			}
		case x.ch.Slots > 1 || x.ch.All || len(try) == 1 || o.Slots == 1:
			return x.Build(), nil
		case only == nil:
			only = x
		}
		if p > c.V {
			break
		}
	}
	if only != nil {
		return only.Build(), nil
	}
	if tooSmall == nil {
		return nil, fmt.Errorf("plan: at least %d intervals asked for; an automatic choice tries at most %d", o.MinP, intervalCounts[len(intervalCounts)-1])
	}
	return nil, tooSmall
}

// Build makes the plan with its tasks.
func (d *Decoded) Build() *plan.Plan {
	p, _, _ := d.Simulated(math.MaxInt64)
	return p
}

// Simulated makes the plan with its tasks. It simulates a step if the machine is known and has enough devices and host
// memory suffices; otherwise line is nil. inOrder is the time of the step in ns with loads in task order. Loads may pass
// each other only if inOrder is at most near.
func (d *Decoded) Simulated(near int64) (p *plan.Plan, line *sim.Timeline, inOrder int64) {
	l := layout.Place(d.spec, d.cells, d.o, d.ch)
	p = l.Plan
	var t *order.Trail
	if d.m != nil && !d.o.Serial && !d.o.Stream {
		t = &order.Trail{}
	}
	order.Emit(l, d.o, t)
	p.Host.Short = d.o.Host.Budget > 0 && !spill(p, &d.o)
	if d.m != nil && p.Devices <= len(d.m.Devices) && !p.Host.Short {
		line = sim.Simulate(p, d.m)
		if inOrder = line.Wall; t != nil && inOrder <= near {
			p, line = order.EDF(p, line, d.m, t)
		}
	}
	if err := p.Verify(); err != nil {
		panic(err)
	}
	return p, line, inOrder
}

// spill moves values that do not fit o.Host.Budget to files. It returns false if what must stay in memory does not fit.
func spill(p *plan.Plan, o *plan.Options) bool {
	h, err := plan.PlaceHost(plan.Tenants(o.Host.Ranks, p), o.Host.Budget, o.Host.Staging)
	if err == nil && h.Disk > 0 {
		plan.Settle(h.Tenants, p)
	}
	return err == nil
}
