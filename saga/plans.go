package saga

import (
	"errors"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/device"
)

func (p *Program) makePlans() error {
	var err error
	o := p.planOptions()
	o.Beside, o.Near = p.eval.low.Spec, p.near
	if p.machine != nil {
		o.Quick = p.guess.low == nil && (p.cfg.Save == "" || p.cfg.Save == SaveAuto) // chooseSave has the last word
		if p.guess.low != nil {
			p.train.low, o.Like = p.guess.low, p.guess.plan
		}
		p.train.plan, p.predicted, err = plan.Search(p.train.low.Spec, p.cells, o, p.machine)
		var small *plan.BudgetError
		if o.Near > 0 && errors.As(err, &small) { // other numbers than expected cells let hope for
			o.Near = 0
			p.train.plan, p.predicted, err = plan.Search(p.train.low.Spec, p.cells, o, p.machine)
		}
	} else {
		p.train.plan, err = plan.New(p.train.low.Spec, p.cells, o)
	}
	if err != nil {
		return err
	}
	if p.guess.low != nil {
		p.saved, p.store = p.guess.save, p.guess.store
	} else {
		if err := p.chooseSave(o); err != nil {
			return err
		}
		if p.machine != nil {
			if p.train.plan, p.predicted, err = plan.Grouped(p.train.low.Spec, p.cells, o, p.machine, p.train.plan, p.predicted); err != nil {
				return err
			}
		}
	}
	o.Like = nil
	o.Schedule = p.train.plan.Schedule
	if p.shape == nil && p.expected == nil {
		p.orderFor(p.train.plan.Cells.P)
	}
	o.Beside, o.Near, o.Base = nil, 0, p.train.plan
	p.eval.plan, err = plan.New(p.eval.low.Spec, p.cells, o)
	return err
}

func (p *Program) planOptions() plan.Options {
	o := plan.Options{Budget: p.planBudget(), Devices: p.cfg.devices(), Ring: !p.cfg.NoRing, Topology: p.topology, P: p.cfg.Chunks, MinP: p.cfg.MinChunks, Schedule: p.cfg.Schedule,
		Stream: p.cfg.Stream || p.cfg.without("residency"), Serial: p.cfg.without("stream"), Straight: p.cfg.without("serpentine"),
		Whole: p.cfg.without("row-gather")}
	if p.guess.p > 0 {
		if o.P = p.guess.p; o.Schedule == plan.Auto {
			o.Schedule = p.guess.schedule
		}
	}
	if p.machine != nil {
		o.HostMem, o.Staging = p.cfg.HostMem, device.Staging(p.cfg.Device)
	}
	if o.Groups = p.cfg.Groups; p.cfg.without("group") {
		o.Group, o.Groups = 1, nil
	}
	if p.cfg.Prefetch > 0 {
		o.Slots = p.cfg.Prefetch + 1
	}
	return o
}

// budget completes a *plan.BudgetError: the smallest budget must do for the training
// and the evaluation plan and for what is computed once.
func (p *Program) budget(err error, once []*dataflow.Lowered) error {
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		return err
	}
	o := p.planOptions()
	schedules := []string{o.Schedule}
	if o.Schedule == plan.Auto {
		schedules = []string{plan.Sag, plan.Stage, plan.DestOrder}
	}
	trains := []*dataflow.Lowered{p.train.low}
	if other, wrong := p.otherSave(); wrong != nil {
		return wrong
	} else if other != nil {
		trains = append(trains, other)
	}
	var least *plan.BudgetError
	for _, o.Schedule = range schedules {
		for _, train := range trains {
			all := &plan.BudgetError{Budget: p.cfg.Mem}
			ask := func(s *plan.Spec, o plan.Options) {
				var e *plan.BudgetError
				if _, err := plan.New(s, p.cells, o); errors.As(err, &e) && e.Smallest > all.Smallest {
					all.Smallest, all.P = e.Smallest, e.P
				}
			}
			o.Budget, o.Beside = 1, p.eval.low.Spec
			ask(train.Spec, o)
			for k, l := range once {
				ask(l.Spec, p.onceOptions(1, k))
			}
			if least == nil || all.Smallest < least.Smallest {
				least = all
			}
		}
	}
	if least.Smallest, err = p.withScratch(least.Smallest, func() error { return p.reserveScratch(once) }); err != nil {
		return err
	}
	least.Smallest += p.kept
	if least.Budget += p.kept; p.asked > 0 { // what is kept may be more
		least.Budget = p.asked
	}
	return least
}
