package saga

import (
	"fmt"

	"sagann/saga/batches"
)

// step runs the next update, of one batch or several, and returns its loss.
func (p batched) step(open *session) (loss float64, err error) {
	s := p.sampled
	if s.draws.Parts > 1 {
		return p.stepParts(open)
	}
	at := p.at()
	b, err := open.source.Take(at)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	if open, b, err = p.fit(open, b); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	defer b.Release()
	if err := open.setBatch(b); err != nil {
		return 0, err
	}
	open.takeRows(b)
	open.grads = nil
	next := s.draws.Next(at, batches.Turn{Number: 0, Of: 1})
	if err := open.train.StepBatch(func() error { return open.source.Stage(next) }); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	open.updateRows(b)
	loss = float64(open.train.Result(0)[0])
	p.run.loss += loss * b.Weight
	p.run.last = append(p.run.last[:0], b.Seeds...)
	p.updated()
	return loss, nil
}
