package saga

import (
	"cmp"
	"errors"
	"slices"
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
	return p.lowerSave(SaveNone, nil)
}

// lowerSave is the training program of another policy and of values stored beside, nil where it cannot take the place
// of the first: the cells and the kernels' scratch were made for that.
func (p *Program) lowerSave(save string, store []string) (*dataflow.Lowered, error) {
	asked, stored := p.cfg.Save, p.store
	p.cfg.Save, p.store = save, store
	defer func() { p.cfg.Save, p.store = asked, stored }()
	low, _, err := p.lowerTrain()
	if err != nil || union(p.want, low.Want) != p.want {
		return nil, err
	}
	if fits, err := p.scratchFits(low); err != nil || !fits {
		return nil, err
	}
	return low, nil
}

// near: another policy's plan that is not far behind y may be improved to be faster; a large one, of
// which that takes long, has to be closer.
func (x *saved) near(y *saved) bool {
	behind := int64(15) // percent
	if x.large() {
		behind = 10
	}
	return x == y || 100*x.ns() <= (100+behind)*y.ns() && len(x.plan.Tasks) <= glanceTasks
}

// hopeless: x is so far behind y that nothing makes it faster.
func (x *saved) hopeless(y *saved) bool { return 10*x.line.Wall > 13*y.line.Wall }

// large tells whether improving x takes long.
func (x *saved) large() bool { return len(x.plan.Tasks) > nearTasks }

// like: x and y have one plan, or their programs came out alike and so did their plans.
func (x *saved) like(y *saved) bool {
	p, q := x.plan, y.plan
	return p == q || x.line.Wall == y.line.Wall && p.Cells.P == q.Cells.P && p.Schedule == q.Schedule && p.H2D == q.H2D && p.D2H == q.D2H &&
		p.Peak == q.Peak && slices.Equal(p.Tasks, q.Tasks)
}

// Bounds of the tasks of a plan that is improved though another is faster, and of one that gets a glance.
const (
	nearTasks   = 5000
	glanceTasks = 10000
)

// chooseSave plans the other policies around the number of intervals of p's plan, then
// mixtures, and keeps what is simulated fastest, by a hundredth at least. Without
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
	s := &saving{p: p, o: o, asked: o, m: m}
	s.add(&saved{policy: p.saved, low: p.train.low, plan: p.train.plan, line: plan.Simulate(p.train.plan, m)})
	s.around(s.best.plan)
	var others []choice
	for _, save := range []string{SaveAll, SaveNone} {
		if save != p.saved {
			others = append(others, choice{save, nil})
		}
	}
	if err := s.tryAll(others...); err != nil {
		return err
	}
	best := s.best
	if p.machine != nil { // a mixture takes a compilation for every value that it tries
		var err error
		if best, err = s.refine(); err != nil {
			return err
		}
		p.predicted = best.line
	}
	p.saved, p.store = best.policy, best.store
	p.train.low, p.train.plan = best.low, best.plan
	return nil
}

// refine goes on from the policies: with values made where they are read first, with mixtures, and
// with a better choice of what stays.
func (s *saving) refine() (*saved, error) {
	s.around(s.best.plan)
	var late []choice
	for _, x := range s.all {
		if len(x.low.Early) > 0 && !x.hopeless(s.best) {
			late = append(late, choice{x.policy, x.low.Early})
		}
	}
	if err := s.tryAll(late...); err != nil {
		return nil, err
	}
	first, err := s.glance()
	if err != nil {
		return nil, err
	}
	mixed, err := s.mix(first)
	if err != nil {
		return nil, err
	}
	if mixed, err = s.again(mixed); err != nil {
		return nil, err
	}
	return s.improve(first, mixed)
}

// improve improves the first, the mixture and what is near the first, and returns the fastest. The
// first is improved as it is, if it is not large, and like the others from where a glance had come.
func (s *saving) improve(first, mixed *saved) (*saved, error) {
	list := []*saved{first}
	if first.large() {
		list[0] = cmp.Or(first.glance, first)
	}
	for _, x := range append([]*saved{first, mixed}, s.all...) {
		if x == nil || len(list) > 1 && x == first || x != mixed && !x.near(first) {
			continue
		}
		y := cmp.Or(x.glance, x)
		if !slices.ContainsFunc(list, y.like) {
			list = append(list, y)
		}
	}
	var best *saved
	for i, x := range list {
		o := s.asked
		o.Quick = i > 0
		var err error
		if x.plan, x.line, err = plan.Improve(x.low.Spec, s.p.cells, o, s.m, x.plan, x.line); err != nil {
			return nil, err
		}
		if best == nil || x.line.Wall < best.line.Wall {
			best = x
		}
	}
	return best, nil
}
