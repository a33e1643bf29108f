package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/internal/runpage"
	"sagann/internal/words"
	"sagann/saga"
)

// metric is the number that stands for a split.
type metric struct {
	name string // in words
	key  string // in JSON
	of   func(saga.Metrics) float64
}

var (
	accuracy = metric{"accuracy", "accuracy", func(m saga.Metrics) float64 { return m.Accuracy }}
	microF1  = metric{"micro-F1", "f1", func(m saga.Metrics) float64 { return m.MicroF1 }}
	fitR2    = metric{"R²", "r2", func(m saga.Metrics) float64 { return m.R2 }}
)

// numbers tells whether a loss is one of numbers to predict.
func numbers(kind saga.LossKind) bool {
	return slices.Contains([]saga.LossKind{saga.LossMSE, saga.LossMAE, saga.LossHuber}, kind)
}

// onlyNumbers tells whether what task predicts has targets and no classes.
func onlyNumbers(d *dataset.Data, task saga.Task) bool {
	return !d.Classed(task) && d.Targets.Of(task).Rows != nil
}

// labelsOf is the labels of one class each of what task predicts, nil without.
func labelsOf(d *dataset.Data, task saga.Task) []int32 {
	return map[saga.Task][]int32{saga.VertexTask: d.Labels, saga.EdgeTask: d.EdgeLabels, saga.GraphTask: d.GraphLabels}[task]
}

// loss is what the flags say for the labels of d.
func (s *settings) loss(d *dataset.Data, task saga.Task, classes int) (l saga.Loss, err error) {
	f := &s.Training
	if l.Kind = saga.LossKind(f.Loss); f.Loss == "auto" || f.Loss == "" {
		l.Kind = ""
		if onlyNumbers(d, task) {
			l.Kind = saga.LossMSE
		}
	}
	if onlyNumbers(d, task) && !numbers(l.Kind) {
		return l, fmt.Errorf("%s has targets, which are numbers, and no labels, which are classes: --loss mse, mae or huber", d.Name)
	}
	if l.Kind == saga.LossHuber {
		l.Delta = f.HuberDelta
	}
	if numbers(l.Kind) && (f.ClassWeights != "" || f.PosWeights != "") {
		return l, cli.Usagef("--class-weights and --pos-weights are for classes, and --loss %s compares numbers", l.Kind)
	}
	if l.ClassWeights, err = weights("class-weights", f.ClassWeights, classes, func() ([]float32, error) { return balanced(d, task, classes) }); err != nil {
		return l, err
	}
	l.PosWeights, err = weights("pos-weights", f.PosWeights, classes, func() ([]float32, error) { return positives(d, task) })
	return l, err
}

// weights reads the value of a flag: numbers with commas between, or balanced.
func weights(flag, text string, classes int, even func() ([]float32, error)) (list []float32, err error) {
	switch text {
	case "":
		return nil, nil
	case "balanced":
		return even()
	}
	for part := range strings.SplitSeq(text, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 32)
		if err != nil {
			return nil, cli.Usagef("--%s %s: %q is not a number; balanced, or a number for each of the %d classes with commas between", flag, text, part, classes)
		}
		list = append(list, float32(x))
	}
	if len(list) != classes {
		return nil, cli.Usagef("--%s %s: %d numbers for %d classes", flag, text, len(list), classes)
	}
	return list, nil
}

// listsWeights tells whether a number is given for each class.
func (f *trainingFlags) listsWeights() bool {
	given := func(text string) bool { return text != "" && text != "balanced" }
	return given(f.ClassWeights) || given(f.PosWeights)
}

// balanced are weights by which all classes count alike in training: rows/(classes·rows of the class),
// as scikit-learn's. A class without training rows gets 0.
func balanced(d *dataset.Data, task saga.Task, classes int) ([]float32, error) {
	labels := labelsOf(d, task)
	if labels == nil {
		return nil, cli.Usagef("--class-weights balanced: the labels are not one class each; --pos-weights is for several")
	}
	train, count := d.Splits(task)[0], make([]int, classes)
	for _, r := range train {
		count[labels[r]]++
	}
	out := make([]float32, classes)
	for k, n := range count {
		if n > 0 {
			out[k] = float32(len(train)) / float32(classes*n)
		}
	}
	return out, nil
}

// positives are weights by which the ones of a class count as much as its zeros in training.
func positives(d *dataset.Data, task saga.Task) ([]float32, error) {
	sets := d.Sets(task)
	if sets.Rows == nil {
		return nil, cli.Usagef("--pos-weights balanced: the labels are one class each; --class-weights is for those")
	}
	out := make([]float32, sets.Cols)
	for k := range out {
		var of [2]int // zeros and ones
		for _, i := range d.Splits(task)[0] {
			if y := sets.Row(int(i))[k]; y >= 0 {
				of[int(y)]++
			}
		}
		if out[k] = 1; of[1] > 0 {
			out[k] = float32(of[0]) / float32(of[1])
		}
	}
	return out, nil
}

// schedule is what the flags say of the learning rate.
func (f *rateFlags) schedule() saga.Schedule {
	s := saga.Schedule{Kind: saga.ScheduleKind(f.LRSchedule), WarmUp: int(f.WarmUp), Least: f.LRMin}
	switch s.Kind {
	case "none":
		s.Kind, s.Least = "", 0
	case saga.ScheduleReduce:
		s.Factor, s.Patience = cmp.Or(f.LRFactor, saga.None), cmp.Or(int(f.LRPatience), saga.None)
	case saga.ScheduleCosine:
		s.Epochs = int(f.LREpochs)
	}
	return s
}

// metricNamed is the metric of a record.
func metricNamed(r *runpage.Record) metric {
	for _, m := range []metric{microF1, fitR2, auc} {
		if r != nil && r.Metric == m.name {
			return m
		}
	}
	return accuracy
}

// scoreText is a score for people; R² of one row is none.
func scoreText(x float64) string {
	if math.IsNaN(x) {
		return "undefined"
	}
	return fmt.Sprintf("%.4f", x)
}

// fit is how well numbers are predicted.
type fit struct {
	mse, mae float64
	r2       float64 // NaN of one row
	flat     int     // columns of equal targets
}

// fitText is R² in words.
func (f fit) fitText(rows int) string {
	switch {
	case math.IsNaN(f.r2):
		return words.Text("undefined: %d {row has|rows have} no spread", rows)
	case f.flat > 0:
		return words.Text("%.4f, where %d {column|columns} of equal targets {counts|count} 1 if all are met exactly, else 0", f.r2, f.flat)
	}
	return fmt.Sprintf("%.4f", f.r2)
}

// fitOf compares rows of x, all predictions, with their targets.
func fitOf(x []float32, t dataset.Numbers, rows []uint32) (f fit) {
	n, cols := float64(len(rows)), float64(t.Cols)
	spread := t.Spread(rows)
	squares := make([]float64, len(spread))
	for k := range spread {
		for _, v := range rows {
			at := int(v)*t.Cols + k
			e := float64(x[at]) - float64(t.Rows[at])
			squares[k] += e * e
			f.mae += math.Abs(e) / n / cols
		}
		f.mse += squares[k] / n / cols
		if spread[k] == 0 {
			f.flat++
		}
	}
	f.r2 = metrics.R2(squares, spread, len(rows))
	return f
}

// printFit prints what a regression is worth, for people or as JSON.
func (e *evaluation) printFit(a *app, x []float32, asJSON bool) error {
	t := e.data.Targets.Of(e.task())
	f := fitOf(x, t, e.rows)
	if asJSON {
		return cli.PrintJSON(a.Stdout, fields{{"checkpoint", e.path}, {"model", e.about.Model}, {"epoch", e.about.Kept}, {"epochs", e.about.Epoch}, {"data", e.name}, {"task", string(e.task())},
			{"on", e.on}, {"rows", len(e.rows)}, {"loss_kind", string(e.prep.Layers.Loss.Kind)}, {"mse", f.mse}, {"rmse", math.Sqrt(f.mse)}, {"mae", f.mae}, {"r2", f.r2}})
	}
	_, err := fmt.Fprint(a.Stdout, words.Text("model     %s %s, %s\ngraph     %s: %s\nscored    %s: %d {"+string(e.task())+"|"+e.task().Plural()+"}, %d {number|numbers} each\nR²        %s\nRMSE      %.6g\nMSE       %.6g\nMAE       %.6g\n",
		e.about.Model, when(e.about), e.path, e.data.Name, cli.Describe(e.data), splitNames[e.on], len(e.rows), t.Cols, f.fitText(len(e.rows)), math.Sqrt(f.mse), f.mse, f.mae))
	return err
}

// splitNames are what is scored, in words.
var splitNames = map[string]string{"train": "training split", "val": "validation split", "test": "test split", "all": "all with labels"}
