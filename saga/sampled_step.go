package saga

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
	"sagann/dataflow/exec"
	"sagann/device"
	"sagann/saga/batches"
)

// rewind ends what prepares batches, of all devices.
func (s *session) rewind() {
	for _, x := range s.all() {
		if x.source != nil {
			x.source.Rewind()
		}
	}
}

// stepSampled runs the next update, of one batch or several, and returns its loss.
func (p *Program) stepSampled(open *session) (loss float64, err error) {
	s := p.sampled
	if s.draws.Parts > 1 {
		return p.stepParts(open)
	}
	at := s.run.Place
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
	s.run.loss += loss * b.Weight
	s.run.count++
	s.run.last = append(s.run.last[:0], b.Seeds...)
	if s.run.Place = next; next.Batch == 0 {
		p.epoch++
	}
	return loss, nil
}

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
	p.sampled.rooms.Widen(vertices, edges)
	p.sampled.run.overflows++
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

// epochLoss is the mean loss over the items of the epoch that has just ended. It begins the sum of the next.
func (s *sampled) epochLoss() float64 {
	loss := s.run.loss / s.draws.Total()
	s.run.loss = 0
	return loss
}

// clock is the number that dropout is keyed by: the number of updates so far.
func (p *Program) clock() uint64 { return uint64(min(p.updates(), math.MaxUint32)) }

// Seeds returns the seeds of the last update of sampled training, in the order of its rows: its training vertices, or the
// vertices of its edges, links or graphs. It is nil before the first update.
func (p *Program) Seeds() []uint32 {
	if p.sampled == nil {
		return nil
	}
	return slices.Clone(p.sampled.run.last)
}

// seedRows returns the rows of value id of the last update, one per seed, without padding: len(x)/cols rows.
func (s *session) seedRows(id int) (x []float32, cols int) {
	cols = s.p.train.low.Spec.Values[id].Cols
	rows, ld := s.p.sampled.run.rows[id], chunk.LD(cols)
	if rows == nil {
		rows = device.View[float32](s.train.OutputRows(id, len(s.p.sampled.run.last)))
	}
	for at := 0; at < len(rows); at += ld {
		x = append(x, rows[at:at+cols]...)
	}
	return x, cols
}
