package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow/exec"
	"sagann/saga/batches"
)

// A batch is given to a runner. If the plan has no room for it, a larger plan takes its place.

// setBatch sets what a step reads of batch b beside its inputs and cells, and what it reads of the step.
func (s *session) setBatch(b *batches.Batch) error {
	if err := s.setStep(s.p.train, s.train); err != nil {
		return err
	}
	for name, x := range s.p.sampled.maker.Globals(b) {
		if id, ok := s.p.train.low.Globals[name]; ok {
			if err := s.train.SetGlobal(id, x); err != nil {
				return err
			}
		}
	}
	return s.setLevels(b)
}

// fit gives the batch to the runner. If the plan has no room for it, a larger plan is made: parameters and moments move
// to a new session, which draws the batch again. fit returns the session and the batch to use.
func (p *Program) fit(open *session, b *batches.Batch) (*session, *batches.Batch, error) {
	err := open.train.SetBatch(&b.Batch)
	var over *exec.OverflowError
	if !errors.As(err, &over) {
		return open, b, err
	}
	if open, err = p.refit(open, b.Counts(), b.Edges()); err != nil {
		return open, b, err
	}
	if b, err = open.source.Take(b.At); err != nil {
		return open, b, err
	}
	return open, b, open.train.SetBatch(&b.Batch)
}

// refit plans again, with room for a batch with these numbers of vertices and edges, and returns the new session.
func (p *Program) refit(open *session, vertices, edges []int) (*session, error) {
	held, err := open.held()
	if err != nil {
		return open, err
	}
	open.rewind() // nothing is prepared any more for the plan that changes now
	p.rooms.Widen(vertices, edges)
	p.run.overflows++
	if err := p.planSampled(); err != nil {
		return open, fmt.Errorf("a batch has %v vertices by level, more than planned for: %w", vertices, err)
	}
	if err := p.placeFinal(nil); err != nil {
		return open, err
	}
	if err := p.release(); err != nil {
		return open, err
	}
	if err := p.takeUp(open, held); err != nil {
		return open, err
	}
	return p.session, nil
}
