package saga

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/internal/safetensors"
	"sagann/saga/batches"
)

// Exact evaluation when batches are drawn over shards: the forward pass over the whole graph. Each rank computes the
// part of its devices, as in training over the full graph. It is a program of its own; training frees its device memory
// while it runs. It reads its rows and cells from the shards again.

// exactScorer returns the program that evaluates p exactly over its shards. All ranks call it.
func (p *Program) exactScorer() (*Program, error) {
	used, err := batches.MostOf(p.cfg.Net, []int{int(p.host.plan.Memory)})
	if err != nil {
		return nil, err
	}
	return p.exactBeside(int64(used[0]))
}

// exactBeside is exactScorer when used bytes of host memory are taken.
func (p *Program) exactBeside(used int64) (*Program, error) {
	c := p.cfg
	c.Outputs, c.Outcome, c.Optimizer = nil, Outcome{}, Optimizer{Kind: "sgd"} // sgd has no moments
	if c.HostMem > 0 {
		c.HostMem = max(1, c.HostMem-used)
	}
	q, err := newProgram(request{model: p.model, data: p.data, cfg: c})
	if err != nil {
		return nil, err
	}
	q.output = outputScores
	err = q.choose()
	var small *plan.HostError
	if errors.As(err, &small) {
		err = &plan.HostError{Budget: p.cfg.HostMem, Smallest: small.Smallest + used}
	}
	return q, err
}

// withExact returns err. If err says that host memory is too small for p, it returns an error whose least size counts
// exact evaluation, too.
func (p *Program) withExact(err error) error {
	var small *plan.HostError
	if !errors.As(err, &small) || len(p.sampled.Eval) > 0 {
		return err
	}
	if _, wrong := p.exactBeside(small.Smallest); wrong != nil {
		return wrong
	}
	return err
}

// exact scores all splits with the parameters held.
func (p *Program) exact(held []safetensors.Tensor) (s Scores, err error) {
	set := func(open *session) error {
		for _, t := range held {
			if _, wrong := p.param(t.Name); wrong != nil {
				continue
			}
			if err := open.setGlobal(t.Name, t.Data.([]float32)); err != nil {
				return err
			}
		}
		return nil
	}
	err = p.alone(p.train, set, func(open *session) error {
		s = p.scoresIn(open.train)
		return nil
	})
	return s, err
}
