package main

import (
	"fmt"
	"math"
	"os"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/saga"
)

// evaluateCmd is saga evaluate.
type evaluateCmd struct {
	checkpointFlags
	inferFlags
	csvForm
	On      string `default:"auto" enum:"auto,train,val,test,all" placeholder:"SPLIT" help:"What is scored: train, val, test, all that have labels, or auto (test; all of other data without a split of their own, but of links the test split, drawn anew)."`
	Ranking bool   `help:"Of links: also rank every edge among all pairs with one of its ends, each end in turn, without the pairs that are edges (filtered): mean reciprocal rank and Hits@1, 3, 10; equal scores share their mean rank."`
	Out     string `placeholder:"FILE" help:"Write a line for everything that is scored, too, as .csv: label, class and probability; of several classes the label and the probability of each; of numbers each and the one predicted; of links the two ids, 1 or 0, and the probability."`
	JSON    bool   `name:"json" help:"Print one JSON object on the last line of standard output, instead of the tables."`
}

// Help is what stands under the usage line.
func (evaluateCmd) Help() string {
	return `Prints loss and accuracy, precision, recall and F1 of every class, the confusion matrix, and
the area under the ROC curve (AUC) for two classes and for multi-label data. Splits are
those of training, random ones too. Classes, relations and columns of other data are matched by
name, learned rows by the ids of vertices; what has a class that the run does not know is left out
and counted.

Examples:

  saga evaluate saga-run-0001
  saga evaluate saga-run-0001 --data other.saga --on all --json
  saga evaluate saga-run-0001 --on val --out val.csv`
}

// Run evaluates.
func (c *evaluateCmd) Run(a *app) error {
	path, err := c.checkpoint()
	if err != nil {
		return err
	}
	c.idle(a, c.Out)
	if c.Out != "" {
		if err := canWrite("out", c.Out, ".csv"); err != nil {
			return err
		}
	}
	cfg, err := c.config(c.Out)
	if err != nil {
		return err
	}
	t, err := c.load(a, path)
	if err != nil {
		return err
	}
	if t.task() == saga.LinkTask {
		return c.evaluateLinks(a, t, cfg)
	}
	if c.Ranking {
		return cli.Usagef("--ranking: %s was not trained with --task link", t.path)
	}
	e := &evaluation{trained: t, classes: t.prep.Layers.Classes}
	if err := e.choose(a, c.On); err != nil {
		return err
	}
	if text := e.otherSplit(); text != "" {
		a.Log.Warn(text)
	}
	x, cols, err := saga.Predict(t.model, t.data, cfg, t.path)
	if err != nil {
		return err
	}
	if cols != e.classes {
		return fmt.Errorf("%s gives %d classes; it was trained on %d", t.path, cols, e.classes)
	}
	if c.Out != "" {
		if err := e.write(c.Out, c.csvForm, x); err != nil {
			return err
		}
	}
	if numbers(e.prep.Layers.Loss.Kind) {
		return e.printFit(a, x, c.JSON)
	}
	e.score(x)
	if c.JSON {
		return cli.PrintJSON(a.Stdout, e.json())
	}
	return e.print(a.Stdout)
}

// evaluation is what the predictions for some rows are worth.
type evaluation struct {
	*trained
	classes int
	on      string          // what is scored
	rows    []uint32        // their numbers, ascending
	labels  []int32         // of all rows; nil when multi-label
	sets    dataset.Numbers // multi-label: labels of all rows
	unknown int             // how many labels of the rows are not known
	loss    float64         // mean
	auc     float64         // of two classes, or the mean over the classes of multi-label data; NaN: none
	aucs    []float64       // of multi-label data, by class; NaN where a class has all rows or none
	ap      float64         // average precision of multi-label data, the mean over classes; NaN: none
	aps     []float64       // by class; NaN where aucs is
	list    []metrics.Class
	counts  metrics.Confusion // nil when multi-label
	left    map[string]int    // rows of classes that the run does not know, which are not scored, by class
}

// choose finds the rows that are scored.
func (e *evaluation) choose(a *app, on string) error {
	task := e.task()
	if !e.data.Labelled(task) {
		return fmt.Errorf("%s has no labels of %s to score with; saga predict needs none", e.name, task.Plural())
	}
	same := sameFile(e.name, e.prep.Data)
	if on != "all" && (same || e.dividesByTime()) { // splits that were drawn for training, or the times by which they were made
		if err := e.redraw(); err != nil {
			if !same {
				err = fmt.Errorf("%w; --on all scores all that has labels", err)
			}
			return err
		}
	}
	if err := e.fitLabels(a); err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return err
	}
	splits := e.data.Splits(task)
	if on == "auto" {
		on = "test"
		if splits[0] == nil && splits[1] == nil && splits[2] == nil || e.data.Report.Drawn(task) && !same { // a store has drawn one
			on = "all"
		}
	}
	for k, name := range []string{"train", "val", "test"} {
		if name == on {
			e.on, e.rows = on, splits[k]
		}
	}
	if on == "all" {
		e.on = on
		for i := range e.count() {
			if t := e.data.Targets.Of(task); numbers(e.prep.Layers.Loss.Kind) && !t.Has(i) {
				continue // without targets
			}
			if e.sets.Rows != nil && e.sets.Known([]uint32{uint32(i)}) == 0 {
				continue // no label is known
			}
			if e.labels == nil || e.labels[i] >= 0 {
				e.rows = append(e.rows, uint32(i))
			}
		}
	}
	if len(e.rows) == 0 {
		return fmt.Errorf("%s has no %s to score (--on %s)", e.name, task.Plural(), on)
	}
	return nil
}

// sameFile tells whether two names, or paths, mean the same data.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}

// check looks whether the labels are such as the model knows.
func (e *evaluation) check() error {
	if numbers(e.prep.Layers.Loss.Kind) {
		switch t := e.data.Targets.Of(e.task()); {
		case t.Rows == nil:
			return fmt.Errorf("%s has no targets of %s; the model in %s predicts numbers", e.name, e.task().Plural(), e.path)
		case t.Cols != e.classes:
			return fmt.Errorf("%s has %d targets for each of the %s; the model in %s predicts %d", e.name, t.Cols, e.task().Plural(), e.path, e.classes)
		}
		return nil
	}
	if onlyNumbers(e.data, e.task()) {
		return fmt.Errorf("%s has targets, which are numbers; the model in %s predicts classes", e.name, e.path)
	}
	if e.multi() {
		if e.sets = e.data.Sets(e.task()); e.sets.Cols != e.classes {
			return fmt.Errorf("%s has %d classes; the model in %s was trained on %d", e.name, e.sets.Cols, e.path, e.classes)
		}
		return nil
	}
	e.labels = labelsOf(e.data, e.task())
	for i, k := range e.labels {
		if int(k) >= e.classes {
			return fmt.Errorf("%s: %s %d is of class %d; the model in %s knows classes 0 to %d", e.name, e.task(), i, k, e.path, e.classes-1)
		}
	}
	return nil
}

// dividesByTime tells whether the run divided what it scores by time, and the data have times.
func (e *evaluation) dividesByTime() bool {
	by, err := parseSplit(e.prep.Split)
	if err != nil || by.byTime == nil {
		return false
	}
	_, err = dataset.TimesOf(e.data, e.task())
	return err == nil
}

// redraw makes the splits of training, where the data had none or --split was given.
func (e *evaluation) redraw() error {
	d, _, _, err := e.prep.divide(e.data, e.task(), e.splitSeed())
	if err != nil {
		return fmt.Errorf("%s: %w", e.path, err)
	}
	e.data = d
	return nil
}

// count is how many vertices, edges or graphs there are.
func (e *evaluation) count() int {
	if e.labels != nil {
		return len(e.labels)
	}
	if numbers(e.prep.Layers.Loss.Kind) {
		return e.data.Targets.Of(e.task()).Len()
	}
	return e.sets.Len()
}

// score counts what x, the logits of all rows, say of the chosen ones.
func (e *evaluation) score(x []float32) {
	n, sum, known := e.classes, 0.0, 0
	var truth, said []int32
	var flags []float32
	var sets []bool
	for _, r := range e.rows {
		logits := x[int(r)*n:][:n]
		if e.multi() {
			own := e.sets.Row(int(r))
			s, k := metrics.BinaryCrossEntropy(logits, own, e.prep.Layers.Loss.PosWeights)
			sum, known = sum+s, known+k
			flags = append(flags, own...)
			for _, z := range logits {
				sets = append(sets, z > 0)
			}
			continue
		}
		sum += metrics.CrossEntropy(logits, e.labels[r])
		truth, said = append(truth, e.labels[r]), append(said, saga.Classes(logits, n)...)
	}
	e.loss = sum / float64(len(e.rows))
	if e.multi() {
		e.loss, e.unknown = sum/float64(known), len(flags)-known
		e.list = metrics.CountSets(flags, sets, n)
	} else {
		e.counts = metrics.Confuse(truth, said, n)
		e.list = e.counts.Classes()
	}
	e.rank(x)
}

// rank finds the areas under the ROC curves.
func (e *evaluation) rank(x []float32) {
	n := e.classes
	scores, positive := make([]float64, len(e.rows)), make([]bool, len(e.rows))
	e.auc, e.ap = math.NaN(), math.NaN()
	switch {
	case e.multi():
		for k := range n {
			scores, positive = scores[:0], positive[:0]
			for _, r := range e.rows {
				if y := e.sets.Row(int(r))[k]; y >= 0 {
					scores, positive = append(scores, float64(x[int(r)*n+k])), append(positive, y > 0)
				}
			}
			area, precision := metrics.AUC(scores, positive), metrics.AveragePrecision(scores, positive)
			if math.IsNaN(area) {
				precision = area
			}
			e.aucs, e.aps = append(e.aucs, area), append(e.aps, precision)
		}
		e.auc, e.ap = mean(e.aucs), mean(e.aps)
	case n == 2:
		for i, r := range e.rows {
			scores[i], positive[i] = float64(x[2*int(r)+1])-float64(x[2*int(r)]), e.labels[r] == 1
		}
		e.auc = metrics.AUC(scores, positive)
	}
}

// mean is that of the numbers that are not NaN; NaN without any.
func mean(list []float64) float64 {
	sum, n := 0.0, 0.0
	for _, x := range list {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / n
}
