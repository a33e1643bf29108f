package saga

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/dataflow/tune"
)

// This file has a budget that is too small name one that does for all that is done with a model: training and
// evaluation, and the forward passes of Predict and Embed, which are planned apart.

// forwardOutputs are the outputs of forward passes.
var forwardOutputs = []string{"logits", "hidden"}

// passes calls f with the program of every forward pass of the model and its chooser. A pass that the model does not
// have is left out: it says so when it is asked for.
func (p *Program) passes(f func(q *Program, c *chooser) error) error {
	if p.output != "" || p.data != nil && p.data.Shard != nil {
		return nil
	}
	for _, what := range forwardOutputs {
		cfg := p.cfg.forForward()
		q, err := newProgram(request{model: p.model, data: p.data, shape: p.shape, cfg: cfg, output: what})
		if err != nil {
			continue
		}
		q.on.cards = p.on.cards
		if _, err := q.traceForward(); err != nil {
			continue
		}
		c := q.chooser()
		c.expected = p.shape
		if err := f(q, c); err != nil {
			return err
		}
	}
	return nil
}

// forForward is c for a forward pass: without what was chosen for training, which may not suit it.
func (c Config) forForward() Config {
	c.Chunks, c.Outcome.Once, c.Outcome.Groups = 0, nil, nil
	return c
}

// withPasses raises e to what forward passes need.
func (p *Program) withPasses(e *plan.BudgetError) (*plan.BudgetError, error) {
	err := p.passes(func(q *Program, c *chooser) error {
		packed := c.packed()
		own, err := q.smallestOf(c, tune.Key{Slices: max(1, q.cfg.Outcome.Slices), Packed: packed[len(packed)-1]})
		if err == nil && own != nil {
			e.Smallest = max(e.Smallest, own.Smallest)
		}
		return err
	})
	return e, err
}

// hostOfPasses is the most host memory that a forward pass needs at least.
func (p *Program) hostOfPasses() (most int64, err error) {
	err = p.passes(func(q *Program, c *chooser) error {
		x, err := c.choose()
		var small *plan.BudgetError
		if errors.As(err, &small) { // of device memory: another error, said when it is asked for
			return nil
		}
		if err == nil {
			err = q.adopt(x)
		}
		if err != nil {
			return err
		}
		least, err := q.least(x.once, q.extraBytes(x.once...), q.plans()...)
		most = max(most, least)
		return err
	})
	return most, err
}
