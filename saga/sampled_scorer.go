package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/safetensors"
	"sagann/saga/batches"
	"sagann/sample"
)

// The program that evaluates where a program does not by itself. Sampling.Eval asks for one that draws batches. Over shards it is
// exact, the forward pass over the whole graph. Each rank computes the
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
	q.output, q.goal = outputScores, scores{}
	err = q.choose()
	var small *plan.HostError
	if errors.As(err, &small) {
		err = &plan.HostError{Budget: p.cfg.HostMem, Smallest: small.Smallest + used}
	}
	return q, err
}

// withExact returns err. If err says that host memory is too small for p, it returns an error whose least size counts
// exact evaluation, too. All ranks call it: their memory may differ, and a plan is made by all of them.
func (p *Program) withExact(err error) error {
	least := 0
	var small *plan.HostError
	if errors.As(err, &small) {
		least = int(small.Smallest)
	}
	most, wrong := batches.MostOf(p.cfg.Net, []int{least})
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	if most[0] > 0 {
		if _, wrong := p.exactBeside(int64(most[0])); wrong != nil {
			return wrong
		}
	}
	return err
}

// evaluate scores all splits exactly, with the parameters held.
func (p whole) evaluate(held []safetensors.Tensor) (s Scores, err error) {
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

// checkEval is an error if evaluation by sampling does not suit the model, its task, the configuration or the sampler.
func (p *definition) checkEval(s *Sampling) error {
	switch n := p.model.gathers(); {
	case len(s.Eval) == 0:
		return nil
	case len(s.Eval) != n:
		return fmt.Errorf("evaluation has %d fan-outs and the model %d layers that gather: it takes %d (--eval-sample), the last layer's first", len(s.Eval), n, n)
	case p.dims.taskName() == GraphTask || p.dims.taskName() == LinkTask && s.Times == "":
		return fmt.Errorf("evaluation by sampling is for labels of vertices and edges and for links by time, not for %s; leave out --eval-sample", p.dims.taskName().Plural())
	case p.cfg.HostMem > 0 && p.data.Shard == nil: // with shards, evaluation draws from what training holds
		return errors.New("evaluation by sampling does not count host memory; leave out --eval-sample or --host-mem")
	case batches.Weighs(&s.Sampler):
		return fmt.Errorf("the sampler %s weighs the edges that it draws, and evaluation by sampling draws neighbours, which have no such weights; leave out --eval-sample", s.Sampler.Name)
	}
	return nil
}

// scorer returns the program that evaluates p by sampling, or exactly over shards. It is nil if p evaluates exactly by
// itself.
func (p *Program) scorer(s *Sampling) (*Program, error) {
	if len(s.Eval) == 0 {
		if p.data.Shard != nil {
			return p.exactScorer()
		}
		return nil, nil
	}
	if p.in.link != nil {
		return pairScorer(p, s)
	}
	c := p.cfg
	c.Seed ^= drawsOfEvaluation
	c.Chunks, c.Outputs, c.Optimizer = 0, nil, Optimizer{Kind: "sgd"} // sgd has no moments
	q, err := newProgram(request{model: p.model, data: p.data, cfg: c})
	if err != nil {
		return nil, err
	}
	q.output, q.goal, q.on.cards = outputScores, scores{}, p.on.cards
	x := Sampling{Sampler: sample.Neighbours(s.Eval...), Batch: s.Batch, Norm: s.Norm, Times: s.Times, Accumulate: p.cfg.Net.Ranks()} // ranks share batches as they share those of an update
	q.mode = scoring{batched{q}}
	if q.sampled, err = q.newSampled(x, evaluated(p.data, p.dims.taskName()), p.sampled.draws.Graph()); err != nil {
		return nil, err
	}
	if q.rooms, err = q.sampled.draws.Presample(); err != nil {
		return nil, err
	}
	return q, q.compileSampled(func(err error) error { return together(q, err) })
}

// evaluated lists the vertices or edges of all splits, ascending.
func evaluated(d *dataset.Data, task Task) (list []uint32) {
	for _, split := range d.Splits(task) {
		list = append(list, split...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// pairScorer returns the program that evaluates p, whose links have times. Training links are ranked against the pairs without an edge of the
// first epoch.
func pairScorer(p *Program, s *Sampling) (*Program, error) {
	l := p.in.link.links
	not := p.negatives(0)
	not.Time = l.Train.Time
	list, src, dst := endsAtTimes(p.data, &l.Train, &not, &l.Val, &l.NotVal, &l.Test, &l.NotTest)
	var far *Program
	for i := len(list) - 1; i >= 0; i-- {
		q, err := endScorer(p, s, &list[i])
		if err != nil {
			return nil, err
		}
		q.mode = scoringPairs{scoring{batched{q}}, p.model.LinkHead, src, dst, far}
		if q.rooms, err = q.sampled.draws.Presample(); err != nil {
			return nil, err
		}
		if err := q.compileSampled(func(err error) error { return together(q, err) }); err != nil {
			return nil, err
		}
		far = q
	}
	return far, nil
}

// endScorer is a program, not planned yet, that computes the rows of an end of pairs.
func endScorer(p *Program, s *Sampling, end *endAt) (*Program, error) {
	c := p.cfg.forBlocks()
	c.Seed ^= drawsOfEvaluation
	q, err := newProgram(request{model: p.model.rowsOnly(), data: end.data, cfg: c, output: "logits", at: end.at, ends: end.ends})
	if err != nil {
		return nil, err
	}
	q.on.cards = p.on.cards
	q.mode = scoring{batched{q}}
	x := *s
	x.Sampler, x.Relations, x.Norm, x.Eval, x.Accumulate = sample.Neighbours(s.Eval...), nil, "", nil, p.cfg.Net.Ranks()
	q.sampled, err = q.newSampled(x, upTo(len(end.at.Vertex)), p.sampled.draws.Graph())
	return q, err
}
