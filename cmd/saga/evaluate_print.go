package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	gotable "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/internal/words"
)

// maxPrinted is how many classes a confusion matrix is printed for: more columns do not
// fit on a line. --json has it whatever its size.
const maxPrinted = 20

// average is a mean with its name.
type average struct {
	name string
	metrics.Average
}

// averages are the means over classes. Those of one class each leave out what occurs neither
// among labels nor predictions, and need no micro average, which is the accuracy.
func (e *evaluation) averages() []average {
	list := slices.Clone(e.list)
	if !e.multi() {
		list = slices.DeleteFunc(list, func(c metrics.Class) bool { return !c.Occurs() })
	}
	out := []average{{"macro", metrics.Macro(list)}, {"weighted", metrics.Weighted(list)}}
	if e.multi() {
		out = append([]average{{"micro", metrics.Micro(list)}}, out...)
	}
	return out
}

// print prints tables for people.
func (e *evaluation) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "model     %s %s, %s\ngraph     %s: %s\n", e.about.Model, when(e.about), e.path, e.data.Name, cli.Describe(e.data))
	b.WriteString(words.Text("scored    %s: %d {"+string(e.task())+"|"+e.task().Plural()+"}\nloss      %.4f\n", splitNames[e.on], len(e.rows), e.loss))
	if len(e.left) > 0 {
		fmt.Fprintf(&b, "left out  %s, of all %s, which the run does not know\n", e.leftOut(), e.task().Plural())
	}
	if e.unknown > 0 {
		fmt.Fprintf(&b, "unknown   %d of %d labels, which are left out of the loss and every score\n", e.unknown, len(e.rows)*e.classes)
	}
	if !e.multi() {
		fmt.Fprintf(&b, "accuracy  %.4f\n", e.counts.Accuracy())
	}
	switch {
	case math.IsNaN(e.auc):
	case e.multi():
		fmt.Fprintf(&b, "AUC       %.4f, the mean over classes\nAP        %.4f, the mean over classes\n", e.auc, e.ap)
	default:
		fmt.Fprintf(&b, "AUC       %.4f of class 1\n", e.auc)
	}
	fmt.Fprintf(&b, "\n%s\n", e.classTable())
	switch {
	case e.counts == nil:
	case e.classes > maxPrinted:
		fmt.Fprintf(&b, "\nThe confusion matrix of %d classes is in --json.\n", e.classes)
	default:
		fmt.Fprintf(&b, "\n%s\n", e.matrix())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (e *evaluation) classTable() string {
	t := gotable.NewWriter()
	t.SetStyle(gotable.StyleLight)
	row := gotable.Row{"class", "precision", "recall", "F1", "labels", "predicted"}
	if e.multi() {
		row = append(row, "AUC", "AP")
	}
	t.AppendHeader(row)
	part := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return fmt.Sprintf("%.4f", x)
	}
	for k, c := range e.list {
		row := gotable.Row{className(e.names(), k, ""), part(c.Precision()), part(c.Recall()), part(c.F1()), c.Truth, c.Said}
		if e.multi() {
			row = append(row, part(e.aucs[k]), part(e.aps[k]))
		}
		t.AppendRow(row)
	}
	t.AppendSeparator()
	for _, a := range e.averages() {
		t.AppendRow(gotable.Row{a.name, part(a.Precision), part(a.Recall), part(a.F1)})
	}
	return t.Render()
}

// matrix is the confusion matrix.
func (e *evaluation) matrix() string {
	t := gotable.NewWriter()
	t.SetStyle(gotable.StyleLight)
	t.Style().Format.Header = text.FormatDefault // names as they are, not in capitals
	head := gotable.Row{"label \\ predicted"}
	for k := range e.counts {
		head = append(head, className(e.names(), k, ""))
	}
	t.AppendHeader(head)
	for k, counts := range e.counts {
		row := gotable.Row{className(e.names(), k, "")}
		for _, n := range counts {
			row = append(row, n)
		}
		t.AppendRow(row)
	}
	return t.Render()
}

// json is what print says, and more.
func (e *evaluation) json() fields {
	out := fields{{"checkpoint", e.path}, {"model", e.about.Model}, {"epoch", e.about.Kept}, {"epochs", e.about.Epoch}, {"data", e.name}, {"task", string(e.task())}, {"on", e.on}, {"rows", len(e.rows)}, {"loss", e.loss}}
	if len(e.left) > 0 {
		out = append(out, field{"left_out", e.left})
	}
	if e.counts != nil {
		out = append(out, field{"accuracy", e.counts.Accuracy()})
	}
	if !math.IsNaN(e.auc) {
		out = append(out, field{"auc", e.auc})
	}
	if e.multi() {
		out = append(out, fields{{"average_precision", e.ap}, {"unknown_labels", e.unknown}}...)
	}
	for _, a := range e.averages() {
		out = append(out, field{a.name, fields{{"precision", a.Precision}, {"recall", a.Recall}, {"f1", a.F1}}})
	}
	var classes []fields
	for k, c := range e.list {
		one := fields{{"class", k}}
		if k < len(e.names()) {
			one = append(one, field{"name", e.names()[k]})
		}
		one = append(one, fields{{"precision", c.Precision()}, {"recall", c.Recall()}, {"f1", c.F1()}, {"labels", c.Truth}, {"predicted", c.Said}}...)
		if e.multi() {
			one = append(one, fields{{"auc", e.aucs[k]}, {"average_precision", e.aps[k]}}...)
		}
		classes = append(classes, one)
	}
	out = append(out, field{"classes", classes})
	if e.counts != nil {
		out = append(out, field{"confusion", e.counts})
	}
	return out
}
