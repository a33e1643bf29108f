package saga

import (
	"encoding/json"
	"math"

	"sagann/dataflow/exec"
	"sagann/internal/metrics"
)

// Metrics of one split.
type Metrics struct {
	Loss     float64 // mean over the split's vertices, edges or graphs; of several labels, over those that are known
	Accuracy float64 // one class each
	MicroF1  float64 // several labels each
	MacroF1  float64 // several labels each: mean over classes; a class that is neither predicted nor present counts 0
	MSE, MAE float64 // regression: mean squared and absolute error over rows and columns
	// R2 is the coefficient of determination of regression, the mean over columns: 1 minus the squared
	// error divided by that of predicting the split's mean. A column of equal targets counts 1 if all
	// are met exactly, else 0. NaN for a split of one row, which has no spread.
	R2 float64
	// For links: area under the ROC curve, average precision, mean reciprocal rank, and the share of
	// edges that score higher than the 10th, 50th and 100th best pair without an edge.
	AUC, AP, MRR float64
	Hits         [3]float64
}

// plainMetrics are Metrics without methods.
type plainMetrics Metrics

// nullable are Metrics whose R² may be null, as JSON has no NaN.
type nullable struct {
	*plainMetrics
	R2 *float64
}

// MarshalJSON writes an R² that is NaN as null.
func (m Metrics) MarshalJSON() ([]byte, error) {
	if math.IsNaN(m.R2) {
		return json.Marshal(nullable{plainMetrics: (*plainMetrics)(&m)})
	}
	return json.Marshal(plainMetrics(m))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Metrics) UnmarshalJSON(text []byte) error {
	x := nullable{plainMetrics: (*plainMetrics)(m)}
	err := json.Unmarshal(text, &x)
	if m.R2 = math.NaN(); x.R2 != nil {
		m.R2 = *x.R2
	}
	return err
}

// Scores are the metrics of all splits.
type Scores struct{ Train, Val, Test Metrics }

// scoresIn are the metrics of all splits, from the results of a step of evaluation over the full graph.
func (p *definition) scoresIn(run *exec.Runner) Scores {
	return p.scoresOf(func(i int) []float64 {
		list := make([]float64, len(run.Result(i)))
		for k, x := range run.Result(i) {
			list[k] = float64(x)
		}
		return list
	})
}

// scoresOf are the metrics of all splits, from the results of evaluation: sums by split.
func (p *definition) scoresOf(result func(i int) []float64) (s Scores) {
	for k, split := range p.data.Splits(p.model.Task) {
		m := [3]*Metrics{&s.Train, &s.Val, &s.Test}[k]
		n := float64(len(split))
		if n == 0 {
			continue
		}
		m.Loss = result(0)[k] / p.in.Known(split)
		c := p.dims.classes
		row := func(i int) []float64 { return result(i)[k*c : (k+1)*c] }
		switch {
		case p.model.Loss.numbers():
			m.fit(row(1), row(2), p.data.Targets.Of(p.dims.taskName()).Spread(split), n)
		case p.dims.labels.multi:
			m.MicroF1, m.MacroF1 = f1(row(1), row(2), row(3))
		default:
			m.Accuracy = result(1)[k] / n
		}
	}
	return s
}

// f1 is micro- and macro-F1 from counts by class: true positives, predicted labels, actual labels.
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

// fit sets the metrics of regression from sums over n rows, by column: squared errors, absolute errors,
// and squared distances of the targets from their mean (spread).
func (m *Metrics) fit(squares, absolutes []float64, spread []float64, n float64) {
	c := float64(len(squares))
	for k := range spread {
		square := squares[k]
		m.MSE += square / n / c
		m.MAE += absolutes[k] / n / c
	}
	m.R2 = metrics.R2(squares, spread, int(n))
}
