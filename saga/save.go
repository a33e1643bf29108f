package saga

import (
	"errors"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// Save policies (Config.Save): what happens with values that the backward pass needs
// of the forward pass.
const (
	SaveAuto = "auto" // the fastest of the three by simulation; the default
	SaveAll  = dataflow.SaveAll
	SaveNone = dataflow.SaveNone
	saveSome = "some" // element-wise values are computed again: where auto starts
)

var saves = []string{"", SaveAuto, SaveAll, SaveNone, saveSome}

// saveOption is what the compiler is told: auto starts from its own rule.
func (c *Config) saveOption() string {
	if c.Save == SaveAll || c.Save == SaveNone {
		return c.Save
	}
	return dataflow.SaveSome
}

// plan makes the plans. Where the budget is too small for the policy that auto starts
// from, the one that stores least may do.
func (p *Program) plan() error {
	err := p.makePlans()
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		return err
	}
	other, wrong := p.otherSave()
	if wrong != nil || other == nil {
		return errors.Join(wrong, err)
	}
	asked, first := p.cfg.Save, p.train.low
	p.cfg.Save, p.train.low = SaveNone, other
	defer func() { p.cfg.Save = asked }()
	if again := p.makePlans(); !errors.As(again, &small) {
		return again
	}
	p.train.low = first
	return err
}

// otherSave is the training program that stores least, where auto may choose it; nil
// where it may not.
func (p *Program) otherSave() (*dataflow.Lowered, error) {
	if p.cfg.Save != "" && p.cfg.Save != SaveAuto {
		return nil, nil
	}
	return p.lowerSave(SaveNone)
}

// lowerSave is the training program of another policy, nil where it cannot take the place
// of the first: the cells and the kernels' scratch were made for that.
func (p *Program) lowerSave(save string) (*dataflow.Lowered, error) {
	asked := p.cfg.Save
	p.cfg.Save = save
	defer func() { p.cfg.Save = asked }()
	low, _, err := p.lowerTrain()
	if err != nil || union(p.want, low.Want) != p.want {
		return nil, err
	}
	if fits, err := p.scratchFits(low); err != nil || !fits {
		return nil, err
	}
	return low, nil
}

// chooseSave plans the other policies for the number of intervals of p's plan and keeps
// the one whose epoch is simulated fastest, by a hundredth at least. Without
// Config.Machine the machine is that of the kind of device.
func (p *Program) chooseSave(o plan.Options) error {
	p.saved = p.cfg.saveOption()
	if p.cfg.Save != "" && p.cfg.Save != SaveAuto {
		return nil
	}
	m := p.machine
	if m == nil {
		name, _, _ := strings.Cut(p.cfg.Device, ":")
		var err error
		if m, err = plan.LoadMachine(machineOf(name)); err != nil {
			return err
		}
	}
	if p.cfg.devices() > len(m.Devices) {
		return nil
	}
	best := plan.Simulate(p.train.plan, m)
	o.Near = p.train.plan.Cells.P
	if p.machine == nil { // the number of intervals is chosen already
		o.P, o.Schedule = p.train.plan.Cells.P, p.train.plan.Schedule
	}
	for _, save := range []string{SaveAll, SaveNone} {
		low, err := p.lowerSave(save)
		if err != nil {
			return err
		}
		if low == nil {
			continue
		}
		var pl *plan.Plan
		var t *plan.Timeline
		if p.machine != nil {
			pl, t, err = plan.Search(low.Spec, p.cells, o, m)
		} else if pl, err = plan.New(low.Spec, p.cells, o); err == nil {
			t = plan.Simulate(pl, m)
		}
		var small *plan.BudgetError
		if errors.As(err, &small) {
			continue
		}
		if err != nil {
			return err
		}
		if 100*t.Wall > 99*best.Wall {
			continue
		}
		best, p.saved = t, save
		p.train.low, p.train.plan = low, pl
		if p.machine != nil {
			p.predicted = t
		}
	}
	return nil
}
