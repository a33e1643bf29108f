package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow/exec"
	"sagann/dataset"
)

// Metrics of one split.
type Metrics struct {
	Loss     float64 // mean over the split's vertices, edges or graphs
	Accuracy float64 // single-label
	MicroF1  float64 // multi-label
	MacroF1  float64 // multi-label: mean over classes, 0 for a class without any
	MSE, MAE float64 // regression: mean squared and absolute error over rows and columns
	// R2 is 1 minus the squared error over that of the split's mean, the mean over the columns of
	// regression; of a column of equal targets 1 where they are met, else 0.
	R2 float64
	// Of links: areas under the ROC and the precision-recall curve (average precision), mean
	// reciprocal rank, and the share of edges above the 10th, 50th and 100th best pair without one.
	AUC, AP, MRR float64
	Hits         [3]float64
}

// Scores are the metrics of all splits.
type Scores struct{ Train, Val, Test Metrics }

// Evaluate scores the parameters of the checkpoint at path on every split of d within
// c.Mem, by training's plan of the evaluation. With early stopping these are the parameters of the
// best epoch. Like Predict it takes checkpoints that training cannot go on from.
func Evaluate(m Model, d *dataset.Data, c Config, path string) (s Scores, err error) {
	param, err := readParams(m, path)
	if err != nil {
		return Scores{}, err
	}
	if d != nil && !d.Labelled(m.Task) {
		return Scores{}, fmt.Errorf("saga: %s has no labels to score with", d.Name)
	}
	p, err := Compile(m, d, c)
	if err != nil {
		return Scores{}, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, q := range p.params {
		x, err := param(q.Name, q.Rows, q.Cols)
		if err != nil {
			return Scores{}, err
		}
		if err := p.SetParam(q.Name, x); err != nil {
			return Scores{}, err
		}
	}
	return p.Evaluate()
}

// Evaluate runs the forward pass without dropout and scores every split, by sampling if Sampling.Eval says so.
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

// scoresIn are the metrics of all splits, from what a step of evaluation over the full graph has left.
func (p *Program) scoresIn(run *exec.Runner) Scores {
	return p.scoresOf(func(i int) []float64 {
		list := make([]float64, len(run.Result(i)))
		for k, x := range run.Result(i) {
			list[k] = float64(x)
		}
		return list
	})
}

// scoresOf are the metrics of all splits, from the results of evaluation: sums by split.
func (p *Program) scoresOf(result func(i int) []float64) (s Scores) {
	for k, split := range p.data.Splits(p.model.Task) {
		m := [3]*Metrics{&s.Train, &s.Val, &s.Test}[k]
		n := float64(len(split))
		if n == 0 {
			continue
		}
		m.Loss = result(0)[k] / n
		c := p.dims.classes
		row := func(i int) []float64 { return result(i)[k*c : (k+1)*c] }
		switch {
		case p.model.Loss.numbers():
			m.fit(row(1), row(2), p.data.Targets.Of(p.dims.taskName()).Spread(split), n)
		case p.dims.multi:
			m.MicroF1, m.MacroF1 = f1(row(1), row(2), row(3))
		default:
			m.Accuracy = result(1)[k] / n
		}
	}
	return s
}

// f1 is micro- and macro-F1 from counts by class: true positives, predicted, actual.
func f1(hits, said, truth []float64) (micro, macro float64) {
	score := func(h, s, t float64) float64 {
		if s+t == 0 {
			return 0
		}
		return 2 * h / (s + t)
	}
	var h, s, t float64
	for i := range hits {
		a, b, c := hits[i], said[i], truth[i]
		macro += score(a, b, c)
		h, s, t = h+a, s+b, t+c
	}
	return score(h, s, t), macro / float64(len(hits))
}

// fit is regression's part of m, from sums by column over n rows: of squared and absolute errors,
// and of squared distances of the targets from their mean.
func (m *Metrics) fit(squares, absolutes []float64, spread []float64, n float64) {
	c := float64(len(squares))
	for k, s := range spread {
		square := squares[k]
		m.MSE += square / n / c
		m.MAE += absolutes[k] / n / c
		switch {
		case s > 0:
			m.R2 += (1 - square/s) / c
		case square == 0:
			m.R2 += 1 / c
		}
	}
}
