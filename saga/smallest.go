package saga

import (
	"errors"
	"fmt"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/tune"
	"sagann/internal/units"
)

// The smallest budgets that work, for errors.

// budget corrects a *plan.BudgetError: the smallest budget must work for training and evaluation
// of one of the programs that may be chosen, and for its programs of invariants.
func (c *chooser) budget(err error) error {
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		return err
	}
	least, wrong := c.least()
	if wrong != nil {
		return wrong
	}
	if c.machine == nil {
		return least
	}
	whole := int64(c.machine.Kind(0).Memory.Value)
	if least.Budget == 0 || least.Budget > whole {
		least.Budget = whole
	}
	if least.Smallest > whole {
		return fmt.Errorf("%w; machine %s has %s", least, c.cfg.Machine, units.Size(whole))
	}
	return least
}

// least is the smallest budget that works for one of the programs that may be chosen.
func (c *chooser) least() (least *plan.BudgetError, err error) {
	for _, k := range c.goal.keys(c) {
		if x, err := c.lower(k); x == nil && err == nil {
			continue // nothing can be sliced so
		}
		e, err := c.smallestOf(k)
		if err != nil {
			return nil, err
		}
		if least == nil || e.Smallest < least.Smallest {
			least = e
		}
	}
	return least, nil
}

// keys are those that a search may choose, or of all packings and save policies.
func (learning) keys(c *chooser) (list []tune.Key) {
	k, sliced := tune.Key{}.With(c.cfg.Outcome.Store), []int{max(1, c.cfg.Outcome.Slices)}
	if c.searches() {
		sliced = c.slices()
	}
	for _, k.Inside = range c.inside() {
		for _, k.Slices = range sliced {
			for _, k.Save = range c.saves() {
				for _, k.Packed = range c.packed() {
					list = append(list, k)
				}
			}
		}
	}
	return list
}

// keys are those that may need the least memory.
func (pass) keys(c *chooser) (list []tune.Key) {
	packed := c.packed()
	for _, save := range passSaves {
		list = append(list, tune.Key{Slices: max(1, c.cfg.Outcome.Slices), Packed: packed[len(packed)-1], Save: save})
	}
	return list
}

// passSaves are the save policies of forward passes. The later ones are for budgets that are too small for those before.
var passSaves = []string{dataflow.SaveSome, SaveNone}

func (learning) options(c *chooser) plan.Options { return c.planOptions() }

func (pass) options(c *chooser) plan.Options { return c.onceOptions(1, 0) }

// smallestOf is the smallest budget that works for the program of k with one of the schedules.
func (c *chooser) smallestOf(k tune.Key) (least *plan.BudgetError, err error) {
	x, err := c.lower(k)
	if err != nil {
		return nil, err
	}
	o := c.goal.options(c)
	for _, o.Schedule = range schedulesOf(o.Schedule) {
		if o.Budget = 1; x.eval != nil {
			o.Beside = x.eval.Spec
		}
		list := []asked{{x.train.Spec, o}}
		for i, l := range x.once {
			list = append(list, asked{l.Spec, c.onceOptions(1, i)})
		}
		c.settle(list, x.want)
		e, err := c.smallest(x.train.Spec, x.want.Any(), x.programs(), c.cellsOf(x.want), list...)
		if err != nil {
			return nil, err
		}
		if least == nil || e.Smallest < least.Smallest {
			least = e
		}
	}
	return least, nil
}

// settle sets the number of intervals of all plans in list to the one with which they need the least memory, where cells can be estimated: they are
// counted for that one only.
func (c *chooser) settle(list []asked, want chunk.Wants) {
	if !c.estimates() {
		return
	}
	defer func() { c.expected = nil }()
	for i := range list {
		var e *plan.BudgetError
		if _, err := planner.New(list[i].spec, c.cellsOf(want), list[i].options); errors.As(err, &e) {
			list[i].options.P = e.P
		}
	}
}

// schedulesOf lists the schedules that a setting allows.
func schedulesOf(setting string) []string {
	if setting == plan.Auto {
		return []string{plan.Sag, plan.Stage, plan.DestOrder}
	}
	return []string{setting}
}
