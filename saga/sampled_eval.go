package saga

import (
	"errors"
	"fmt"

	"sagann/device"
	"sagann/internal/safetensors"
	"sagann/saga/batches"
)

// Evaluation by sampling: the forward pass over blocks that are drawn, in batches, for the vertices of all splits. It is
// a program of its own; training frees its device memory while it runs. Every evaluation draws the same blocks, so the
// scores of two epochs differ by the parameters alone. Batch i goes to rank i modulo the number of ranks. All ranks
// exchange their results and add them in the order of batches.

// drawsOfEvaluation is XORed into the seed, so that evaluation and training draw different blocks.
const drawsOfEvaluation = 0x65766173

// evaluateAside scores every split with the program p.chosen.scorer.
func (p *Program) evaluateAside() (s Scores, err error) {
	err = p.aside(func(held []safetensors.Tensor) error {
		s, err = p.chosen.scorer.mode.evaluate(held)
		return err
	})
	return s, err
}

// begin opens the program for an evaluation with the parameters held.
func (p batched) begin(held []safetensors.Tensor) (*session, error) {
	p.closed, p.run.number, p.epoch = false, 0, 0
	open, err := p.open()
	if err != nil {
		return nil, err
	}
	for _, t := range held {
		if q, wrong := p.param(t.Name); wrong == nil && readsParam(p.Program, q) {
			if err := open.setGlobal(t.Name, t.Data.([]float32)); err != nil {
				return nil, errors.Join(err, p.Close())
			}
		}
	}
	return open, nil
}

// evaluate runs all batches of evaluation with the parameters held, and adds up their results.
func (p batched) evaluate(held []safetensors.Tensor) (s Scores, err error) {
	open, err := p.begin(held)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	var mine []float32
	g := p.cfg.Net
	for i := g.Rank(); i < p.sampled.draws.Count() && err == nil; i += g.Ranks() {
		at := batches.Place{Batch: i}
		if open, err = p.scoreBatch(open, at, func(open *session, _ *batches.Batch) {
			for i := range p.evalNames() {
				mine = append(mine, open.train.Result(i)...)
			}
		}); err != nil {
			err = fmt.Errorf("evaluation, %v: %w", at, err)
		}
	}
	if err = p.agreed("evaluation", err); err != nil {
		return s, err
	}
	sums, err := p.addBatches(mine)
	return p.scoresOf(func(i int) []float64 { return sums[i] }), err
}

// scoreBatch runs the batch at a place and calls take, before the batch is released. It returns the session, which is a new
// one if the batch needed more room.
func (p *Program) scoreBatch(open *session, at batches.Place, take func(*session, *batches.Batch)) (*session, error) {
	b, err := open.source.Take(at)
	if err != nil {
		return open, err
	}
	if open, b, err = p.fit(open, b); err != nil {
		return open, err
	}
	defer b.Release()
	if err := open.setBatch(b); err != nil {
		return open, err
	}
	open.takeRows(b)
	next := p.sampled.draws.Next(at, open.turn())
	if err := open.train.StepBatch(func() error { return open.source.Stage(next) }); err != nil {
		return open, err
	}
	take(open, b)
	return open, nil
}

// addBatches adds up the results of all batches, in their order. mine are the results of this rank's batches. All ranks
// call it.
func (p *Program) addBatches(mine []float32) (sums [][]float64, err error) {
	var size int
	for _, id := range p.train.low.Spec.Results {
		g := p.train.low.Spec.Globals[id]
		sums, size = append(sums, make([]float64, g.Rows*g.Cols)), size+g.Rows*g.Cols
	}
	g, n := p.cfg.Net, p.sampled.draws.Count()
	of := make([][]float32, g.Ranks())
	for r := range of {
		if of[r] = mine; r != g.Rank() {
			of[r] = make([]float32, size*((n-r+len(of)-1)/len(of)))
		}
		if err := g.Bcast("scores of batches", device.Bytes(of[r]), r); err != nil {
			return nil, err
		}
	}
	for i := range n {
		r := i % len(of)
		for _, sum := range sums {
			for k := range sum {
				sum[k] += float64(of[r][k])
			}
			of[r] = of[r][len(sum):]
		}
	}
	return sums, nil
}
