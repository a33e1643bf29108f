package saga

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/dataset"
	"sagann/saga/batches"
	"sagann/sample"
)

// Seldom is the least Config.EvalEvery with which windows that stay from one step to the next share memory with evaluation. They are loaded
// again after an evaluation, which takes several times what they save in an epoch.
const Seldom = 10

// Evaluate scores the parameters of the checkpoint at path on every split of d, within c.Mem, with
// the plan by which training evaluates. A checkpoint of early stopping gives the parameters of the
// best epoch. If training drew edges by time, all edges up to the time are read. Like Predict, it also accepts checkpoints from which training cannot go on.
func Evaluate(m Model, d *dataset.Data, c Config, path string) (s Scores, err error) {
	k, err := readParams(m, path)
	if err != nil {
		return Scores{}, err
	}
	if d != nil && !d.Labelled(m.Task) {
		return Scores{}, fmt.Errorf("saga: %s has no labels to score with", d.Name)
	}
	if d, err = k.apply(&m, d); err != nil {
		return Scores{}, err
	}
	if s := k.about.Schema; s != nil && d != nil && m.Task != LinkTask {
		if d, _, _, err = s.FitLabels(d, cmp.Or(m.Task, VertexTask), k.by(d)); err != nil {
			return Scores{}, err
		}
	}
	p, err := k.scoring(m, d, c)
	if err != nil {
		return Scores{}, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, q := range p.params {
		x, err := k.param(q.Name, q.Rows, q.Cols)
		if err != nil {
			return Scores{}, err
		}
		if err := p.SetParam(q.Name, x); err != nil {
			return Scores{}, err
		}
	}
	return p.Evaluate()
}

// scoring is a program that evaluates m on d as the run did, exactly.
func (k *Stored) scoring(m Model, d *dataset.Data, c Config) (*Program, error) {
	if !k.about.ByTime() {
		return Compile(m, d, c)
	}
	all := slices.Repeat([]int{math.MaxInt32}, m.gathers())
	return CompileSampled(m, d, c, Sampling{Sampler: sample.Neighbours(all...), Batch: answerBatch, Times: batches.UpTo})
}

// Evaluate runs the forward pass without dropout and scores every split. It is exact, over the whole graph,
// unless Sampling.Eval asks for sampling.
func (p *Program) Evaluate() (Scores, error) {
	if p.chosen.scorer != nil {
		return p.evaluateAside()
	}
	open, err := p.openEval()
	if err != nil {
		return Scores{}, err
	}
	if err := open.keepGrads(); err != nil {
		return Scores{}, err
	}
	if err := open.showTables(); err != nil {
		return Scores{}, err
	}
	if err := open.eval.Step(); err != nil {
		return Scores{}, err
	}
	if p.in.link != nil {
		return open.evaluateLinks()
	}
	return p.scoresIn(open.eval), nil
}
