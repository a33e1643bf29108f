package saga

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sagann/chunk"
	"sagann/device"
	"sagann/saga/batches"
)

// Several batches per update, on one device or several. Batch r of an update goes to device r modulo the number of
// devices. Each device has a session, which draws and computes its own batches. The gradients are added in host memory,
// in a tree that depends on the number of batches only. Then every device makes the same update. So no bit depends on
// the number of devices.

// part is what a batch contributes to its update.
type part struct {
	grads [][]float32 // by plan.Spec.Updates
	loss  float64
	total float64 // the weight of all items of the update
	seeds []uint32
	rows  map[int][]float32 // by output: rows of the seeds
	err   error

	vertices, edges []int // with err: sizes of a batch that did not fit its plan
}

// stepParts runs the batches of the next update, updates, and returns the loss of the update.
func (p batched) stepParts(open *session) (loss float64, err error) {
	at := fmt.Sprintf("epoch %d, update %d", p.epoch+1, p.run.number+1)
	var parts []part
	p.run.heard = 0
	for {
		parts = p.runParts(open)
		failed, err := p.firstFailed(parts)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", at, err)
		}
		if failed == nil {
			break
		}
		if failed.Vertices == nil {
			return 0, fmt.Errorf("%s, batch %d of it: %w", at, failed.Part+1, cmp.Or(parts[failed.Part].err, errors.New(failed.Text)))
		}
		if open, err = p.refit(open, failed.Vertices, failed.Edges); err != nil { // no parameter has changed yet, so all batches run again
			return 0, fmt.Errorf("%s: %w", at, err)
		}
	}
	if err := p.shareParts(parts); err != nil {
		return 0, fmt.Errorf("%s: %w", at, err)
	}
	open.grads, p.run.last, p.run.rows = nil, p.run.last[:0], map[int][]float32{}
	for _, x := range parts {
		loss += x.loss
		p.run.last = append(p.run.last, x.seeds...)
		for id, rows := range x.rows {
			p.run.rows[id] = append(p.run.rows[id], rows...)
		}
	}
	if err := open.apply(p.sumParts(parts)); err != nil {
		return 0, fmt.Errorf("%s: %w", at, err)
	}
	p.run.loss += loss * parts[0].total
	p.updated()
	return loss, nil
}

// runParts runs the batches of the next update, each on its device.
func (p batched) runParts(open *session) []part {
	list := make([]part, p.sampled.draws.PartsAt(p.run.number))
	first := p.at()
	var wg sync.WaitGroup
	for _, s := range open.all() {
		wg.Go(func() {
			for r := s.number; r < len(list); r += s.of() {
				at := first
				at.Batch += r
				wrong := chunk.Try(func() error { list[r] = s.runPart(at, r+s.of() < len(list)); return list[r].err })
				if list[r].err = wrong; wrong != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return list
}

// runPart runs the batch at a place. more tells whether the device has further batches of this update: then the gradients
// are copied before the next batch overwrites them.
func (s *session) runPart(at batches.Place, more bool) (x part) {
	p := s.p
	b, err := s.source.Take(at)
	if err != nil {
		return part{err: err}
	}
	defer b.Release()
	if err := s.train.SetBatch(&b.Batch); err != nil {
		return part{err: err, vertices: slices.Clone(b.Counts()), edges: b.Edges()} // copies: b's memory is used again soon
	}
	if err := s.setBatch(b); err != nil {
		return part{err: err}
	}
	next := p.sampled.draws.Next(at, s.turn())
	if err := s.train.StepBatch(func() error { return s.source.Stage(next) }); err != nil {
		return part{err: err}
	}
	x.loss, x.total = float64(s.train.Result(0)[0]), b.Total()
	for _, g := range s.train.Gradients() {
		if more {
			g = slices.Clone(g)
		}
		x.grads = append(x.grads, g)
	}
	x.seeds = slices.Clone(b.Seeds)
	for _, id := range p.train.outputRows() {
		if x.rows == nil {
			x.rows = map[int][]float32{}
		}
		x.rows[id] = slices.Clone(device.View[float32](s.train.OutputRows(id, len(x.seeds))))
	}
	return x
}

// sumParts adds the gradients of an update's batches in a binary tree, neighbours first. Statistics of batches, towards
// which running averages move (Param.Average), become their mean over the batches.
func (p *Program) sumParts(parts []part) [][]float32 {
	n := len(parts)
	for far := 1; far < n; far *= 2 {
		for r := 0; r+far < n; r += 2 * far {
			for i, to := range parts[r].grads {
				for k, x := range parts[r+far].grads[i] {
					to[k] += x
				}
			}
		}
	}
	sum, low := parts[0].grads, p.train.low
	for i, u := range low.Spec.Updates {
		if q, err := p.param(low.Spec.Globals[u.Param].Name); err == nil && q.Average > 0 {
			for k := range sum[i] {
				sum[i][k] /= float32(n)
			}
		}
	}
	return sum
}

// apply makes the update with the same gradients on every device.
func (s *session) apply(grads [][]float32) error {
	all := s.all()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, x := range all {
		wg.Go(func() { errs[i] = chunk.Try(func() error { return x.train.Apply(grads) }) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
