package saga

import (
	"errors"
	"fmt"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/tune"
	"sagann/dataset"
	"sagann/internal/units"
	"sagann/kernel"
	"sagann/net"
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
func (p *Program) choose() (err error) {
	if p.in != nil && p.in.link != nil && p.in.link.links.NotYet() != nil {
		return fmt.Errorf("saga: the links of %s have times, and a step over the whole graph sees edges after them; they are trained in batches that do not (Sampling.Times)", p.data.Name)
	}
	if err := p.on.openMachine(); err != nil {
		return err
	}
	if err := p.on.findCards(false); err != nil {
		return fmt.Errorf("saga: %w", err)
	}
	c := p.chooser()
	host := hostBudget{p, c}
	lean, err := host.leanest()
	var x *choice
	if err == nil {
		x, err = host.take(lean)
	}
	if err = c.budget(err); err == nil {
		err = affords(p, c, x)
	}
	if err := together(p, err); err != nil {
		return err
	}
	if p.data != nil {
		p.chosen.endAhead = compileAhead(p.cfg.Device, x.programs())
		defer func() {
			if err != nil {
				p.chosen.end()
			}
		}()
	}
	if err := p.precompute(x.once, func(err error) error { return together(p, p.leastHost(c.budget(err), x.once)) }); err != nil {
		return err
	}
	if p.shape == nil {
		p.grids.orderFor(gridIs(x.plan.Cells))
	}
	return together(p, p.placeFinal(x.once))
}

// compileAhead begins compiling the kernels of programs, next to what is still planned and computed.
// end leaves out what has not begun.
func compileAhead(spec string, programs []*dataflow.Lowered) (end func()) {
	var list [][]*kernel.Program
	for _, l := range programs {
		list = append(list, l.Kernels)
	}
	return exec.CompileAhead(spec, list...)
}

// adopt makes x the program's training, and plans evaluation in the same memory.
func (p *Program) adopt(x *choice) (err error) {
	p.train = &unit{x.train, x.plan}
	p.chosen = chosen{Key: x.decision.Key, once: make([]int, len(x.once)), want: x.want, memory: x.memory, predicted: x.line}
	if x.eval == nil {
		return nil
	}
	o := p.on.planOptions()
	o.Budget, o.Schedule, o.Base = x.memory.plans(), x.plan.Schedule, x.plan
	p.eval = &unit{low: x.eval}
	if p.eval.plan, err = planner.New(x.eval.Spec, p.grids.cells(p.chosen.want), o); err != nil || x.ahead == nil {
		return err
	}
	p.in.link.ahead = &unit{low: x.ahead}
	p.in.link.ahead.plan, err = planner.New(x.ahead.Spec, p.grids.cells(p.chosen.want), o)
	return err
}

// Plan compiles m for a graph of shape s and plans it within c, from statistics alone. The
// program can be explained but not run. Errors are those of Compile, or say which number of
// s is out of range.
func Plan(m Model, s Shape, c Config) (*Program, error) {
	return compile(request{model: m, shape: &s, cfg: c})
}

// Planner plans several times from statistics, on one machine model or several, as comparisons of configurations do. Its searches share
// what they find out about equal plans; each result is what it is without the others. Several goroutines may use it at the same time.
type Planner struct {
	work int
	memo *tune.Memo
}

// NewPlanner returns a Planner whose searches end when they have simulated about so many tasks; 0: as many as those of Compile.
func NewPlanner(work int) *Planner { return &Planner{work, tune.NewMemo()} }

// Plan is the function Plan, by a search of q.
func (q *Planner) Plan(m Model, s Shape, c Config) (*Program, error) {
	return compile(request{model: m, shape: &s, cfg: c, of: q})
}

// lean is the choice by which Config.HostMem is judged.
type lean struct {
	*choice
	need int64 // the smallest Config.HostMem that works for it
}

// hostBudget judges Config.HostMem of a program, by what c chooses from.
type hostBudget struct {
	p *Program
	c *chooser
}

// leanest is the lean choice, nil if host memory is not bounded: of the plans with the fewest intervals for every key and schedule,
// the one that needs the least host memory. It does not depend on Config.HostMem, which is refused exactly if it is less than that.
// A search finds other plans with every bound, so what it finds cannot say which bound is the smallest.
func (h hostBudget) leanest() (best *lean, err error) {
	p, c := h.p, h.c
	if p.cfg.HostMem == 0 {
		return nil, nil
	}
	o := c.goal.options(c)
	var small error
	for _, k := range c.goal.keys(c) {
		if x, err := c.lower(k); err != nil {
			return nil, err
		} else if x == nil { // nothing can be sliced so
			continue
		}
		for _, o.Schedule = range schedulesOf(o.Schedule) {
			x, err := c.one(k, o)
			var e *plan.BudgetError
			if errors.As(err, &e) {
				small = err
				continue
			}
			if err == nil {
				err = p.adopt(x)
			}
			if err != nil {
				return nil, err
			}
			need, err := h.needs(x)
			if err != nil {
				return nil, err
			}
			if best == nil || need < best.need {
				best = &lean{x, need}
			}
		}
	}
	if best == nil {
		return nil, small
	}
	best.need = max(best.need, passesNeedHost(p)) // who trains also predicts
	return best, nil
}

// passesNeed is the smallest budget that works for every forward pass that is made of p and planned apart; nil: there is none.
func passesNeed(p *Program) (most *plan.BudgetError, err error) {
	for _, what := range passes[p.output] {
		q, err := passOf(p, what)
		if err != nil {
			continue // it says so when it is asked for
		}
		e, err := q.chooser().least()
		if err != nil {
			return nil, err
		}
		if most == nil || e.Smallest > most.Smallest {
			most = e
		}
	}
	return most, nil
}

// roomy is how many times what training needs a budget is that is certainly enough for forward passes: they hold what evaluation does, and
// chunks of the rows that they give. Only logits of edges and graphs, and readouts, are in device memory as a whole.
const roomy = 2

// affords is an error if the budget suffices for x, which c chose for p, and not for the forward passes. Errors name what works for
// all of them, so less is refused: who trains also predicts.
func affords(p *Program, c *chooser, x *choice) error {
	if p.on.mem() == 0 {
		return nil
	}
	if task := p.dims.taskName(); task != EdgeTask && task != GraphTask && c.hasRoom(x) {
		return nil
	}
	e, err := passesNeed(p)
	if err == nil && e != nil && e.Smallest > p.on.mem() {
		return e
	}
	return err
}

// hasRoom tells whether the budget is so large that forward passes certainly fit. If x's number of intervals does not tell, it tries more where
// cells can be estimated, since passes have as many as they need; to count cells of as many as need the least memory would take long. An eighth is for what estimates miss.
func (c *chooser) hasRoom(x *choice) bool {
	o := c.goal.options(c)
	if o.Budget, o.P, o.Schedule = 1, x.plan.Cells.P, x.plan.Schedule; x.eval != nil {
		o.Beside = x.eval.Spec
	}
	fits := func(want chunk.Wants, n, of int64) bool {
		var own *plan.BudgetError
		_, err := planner.New(x.train.Spec, c.cellsOf(want), o)
		return errors.As(err, &own) && x.memory.plans()/roomy >= own.Smallest*n/of
	}
	if fits(x.want, 1, 1) {
		return true
	}
	if !c.estimates() {
		return false
	}
	defer func() { c.expected = nil }()
	for o.P *= 2; o.P <= 128; o.P *= 2 {
		if fits(x.want.Widened(0), 9, 8) {
			return true
		}
	}
	return false
}

// passesNeedHost is passesNeed for host memory; 0: there is no pass.
func passesNeedHost(p *Program) (most int64) {
	for _, what := range passes[p.output] {
		q, err := passOf(p, what)
		if err != nil {
			continue // it says so when it is asked for
		}
		l, err := hostBudget{q, q.chooser()}.leanest()
		if err != nil {
			continue // of device memory: said when it is asked for
		}
		most = max(most, l.need)
	}
	return most
}

// take chooses what runs and adopts it: l, if that is not nil and what is faster needs more host memory than there is.
func (h hostBudget) take(l *lean) (*choice, error) {
	p := h.p
	if l != nil && p.cfg.HostMem < l.need {
		return nil, &plan.HostError{Budget: p.cfg.HostMem, Smallest: l.need}
	}
	x, err := h.c.choose()
	if err == nil {
		err = p.adopt(x)
	}
	if l == nil || err != nil && !errors.Is(err, tune.ErrHostMemory) {
		return x, err
	}
	if err == nil {
		if need, err := h.needs(x); err != nil || need <= p.cfg.HostMem {
			return x, err
		}
	}
	return l.choice, p.adopt(l.choice)
}

// needs is the smallest Config.HostMem that works for x, which is adopted.
func (h hostBudget) needs(x *choice) (int64, error) {
	return h.p.least(x.once, h.p.extraBytes(x.once...), h.p.plans()...)
}

// passOf is the program of the forward pass for an output of p's model, before anything of it is planned.
func passOf(p *Program, what string) (*Program, error) {
	q, err := newProgram(request{model: p.model, data: p.data, shape: p.given, cfg: p.cfg.forForward(), output: what})
	if err != nil {
		return nil, err
	}
	if q.on.cards = p.on.cards; q.data != nil && q.data.Shard != nil {
		return nil, errors.New("saga: shards are evaluated and not predicted from")
	}
	_, err = q.goal.trace(q.definition)
	return q, err
}

// together is err of this rank's plan, told to all ranks: one that cannot plan must not let others wait for its messages.
func together(p *Program, err error) error {
	if p.data == nil || p.cfg.Net.Ranks() == 1 || net.Known(err) {
		return err
	}
	return p.agreed("plan", forAll(p, err))
}

// forAll raises the smallest budget of err, of device or host memory, to what Predict and Embed need, and says where a budget
// comes from that is free memory.
func forAll(p *Program, err error) error {
	var small *plan.BudgetError
	var host *plan.HostError
	if net.Known(err) || !errors.As(err, &small) && !errors.As(err, &host) {
		return err
	}
	if small != nil {
		e, wrong := passesNeed(p)
		if wrong != nil {
			return wrong
		}
		if e != nil && e.Smallest > small.Smallest {
			small.Smallest, small.P = e.Smallest, e.P
		}
	} else {
		host.Smallest = max(host.Smallest, passesNeedHost(p))
	}
	if c := &p.on.cards; small != nil && p.cfg.Mem == 0 && c.free > 0 && c.free < c.whole {
		return fmt.Errorf("%w; the budget is what is free now of the %s of %s", err, units.Size(c.whole), p.cfg.Device)
	}
	return err
}

// passes are the outputs of the forward passes that are made of a program with a given output. They are planned apart.
var passes = map[string][]string{"": {"logits", "hidden"}}
