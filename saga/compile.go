package saga

import (
	"fmt"

	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataset"
	"sagann/kernel"
)

// Compile traces m, compiles it and plans it for d within c. A wrong shape in a user's function
// is a *LayerError that names layer, op, shapes, file and line. A budget that is too small is a
// *plan.BudgetError, or for host memory a *plan.HostError; both name the smallest one that works.
func Compile(m Model, d *dataset.Data, c Config) (*Program, error) {
	return compile(request{model: m, data: d, cfg: c})
}

// compile is the chain behind Compile, Plan and Predict: it checks the request, chooses the
// programs and their plans, computes the invariants, and decides what lies in host memory.
func compile(r request) (*Program, error) {
	p, err := newProgram(r)
	if err != nil {
		return nil, err
	}
	if err := p.choose(); err != nil {
		return nil, forAll(p, err)
	}
	return p, nil
}

// choose is compile after newProgram.
func (p *Program) choose() error {
	if n := p.cfg.Net.Ranks(); n > 1 && p.in != nil && p.in.link != nil { // whose loss needs the rows of all vertices in one process
		return fmt.Errorf("saga: links are learned on the whole graph by one process, and there are %d ranks; batches (--sample) may be shared", n)
	}
	if err := p.openMachine(); err != nil {
		return err
	}
	if err := p.findCards(false); err != nil {
		return fmt.Errorf("saga: %w", err)
	}
	c := p.chooser()
	x, err := c.choose()
	if err != nil {
		return p.budget(c, err)
	}
	if err := p.adopt(x); err != nil {
		return p.budget(c, err)
	}
	if p.data != nil {
		compileAhead(p.cfg.Device, x.programs())
	}
	if err := p.precompute(x.once); err != nil {
		return p.leastHost(p.budget(c, err), x.once)
	}
	if p.shape == nil {
		p.orderFor(x.plan.Cells.P)
	}
	return p.placeFinal(x.once)
}

// compileAhead begins compiling the kernels of programs, next to what is still planned and computed.
func compileAhead(spec string, programs []*dataflow.Lowered) {
	var list [][]*kernel.Program
	for _, l := range programs {
		list = append(list, l.Kernels)
	}
	exec.CompileAhead(spec, list...)
}

// adopt makes x the program's training, and plans evaluation in the same memory.
func (p *Program) adopt(x *choice) (err error) {
	p.train = &unit{x.train, x.plan}
	p.chosen = chosen{Key: x.decision.Key, once: make([]int, len(x.once)), want: x.want, memory: x.memory, predicted: x.line}
	if x.eval == nil {
		return nil
	}
	o := p.planOptions()
	o.Budget, o.Schedule, o.Base = x.memory.plans(), x.plan.Schedule, x.plan
	p.eval = &unit{low: x.eval}
	if p.eval.plan, err = planner.New(x.eval.Spec, p.cells, o); err != nil || x.ahead == nil {
		return err
	}
	p.in.link.ahead = &unit{low: x.ahead}
	p.in.link.ahead.plan, err = planner.New(x.ahead.Spec, p.cells, o)
	return err
}

// units are training, evaluation if it is planned, and for links the forward pass of training; or
// the one forward pass of the program.
func (p *Program) units() []*unit {
	if p.eval == nil {
		return []*unit{p.train}
	}
	if p.in != nil && p.in.link != nil && p.in.link.ahead != nil {
		return []*unit{p.train, p.eval, p.in.link.ahead}
	}
	return []*unit{p.train, p.eval}
}

// plans are the plans of units that go over the full graph.
func (p *Program) plans() (list []*plan.Plan) {
	for _, u := range p.units() {
		if u.plan.Places.Sets == nil { // not over sampled blocks
			list = append(list, u.plan)
		}
	}
	return list
}
