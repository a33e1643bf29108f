package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/saga"
)

// This file writes what saga evaluate scores, a line for each.

// write puts a line for every row that is scored into a .csv; x are the logits or numbers of all rows.
func (e *evaluation) write(path string, form csvForm, x []float32) error {
	defer removedOnSignal(path)()
	row, n := string(e.task()), e.classes
	ids := e.ids(row)
	heading, fields := e.classFields(form)
	switch {
	case numbers(e.prep.Layers.Loss.Kind):
		heading, fields = e.numberFields(form)
	case e.multi():
		heading, fields = e.setFields(form)
	}
	return cli.WriteWhole(path, func(w *bufio.Writer) error {
		fmt.Fprintf(w, "%s,%s\n", row, heading)
		var buf []byte
		for _, r := range e.rows {
			buf = append(form.appendID(buf[:0], ids, int(r)), ',')
			w.Write(append(fields(buf, int(r), x[int(r)*n:][:n]), '\n'))
		}
		return nil
	})
}

// classFields are those of one class each: the label, the class that is predicted and its probability.
func (e *evaluation) classFields(form csvForm) (heading string, fields func(buf []byte, r int, logits []float32) []byte) {
	p := make([]float64, e.classes)
	return "label,class,probability", func(buf []byte, r int, logits []float32) []byte {
		metrics.Softmax(p, logits)
		class := saga.Classes(logits, e.classes)[0]
		for _, k := range []int{int(e.labels[r]), int(class)} {
			buf = append(append(buf, form.field(className(e.names(), k, ""))...), ',')
		}
		return strconv.AppendFloat(buf, p[class], 'g', 6, 64)
	}
}

// pairsOf is a heading of two columns for each class or target, the second with a word before the name.
func (e *evaluation) pairsOf(form csvForm, first, second string) string {
	var list []string
	for k := range e.classes {
		switch {
		case k < len(e.names()):
			list = append(list, form.field(e.names()[k]), form.field(second+" "+e.names()[k]))
		case e.classes == 1:
			list = append(list, first, second)
		default:
			list = append(list, first+strconv.Itoa(k), second+strconv.Itoa(k))
		}
	}
	return strings.Join(list, ",")
}

// numberFields are those of numbers: each target, and what is predicted for it.
func (e *evaluation) numberFields(form csvForm) (heading string, fields func(buf []byte, r int, y []float32) []byte) {
	t := e.data.Targets.Of(e.task())
	return e.pairsOf(form, "target", "predicted"), func(buf []byte, r int, y []float32) []byte {
		for k, truth := range t.Row(r) {
			buf = strconv.AppendFloat(buf, float64(truth), 'g', -1, 32)
			buf = strconv.AppendFloat(append(buf, ','), float64(y[k]), 'g', -1, 32)
			buf = append(buf, ',')
		}
		return buf[:len(buf)-1]
	}
}

// setFields are those of several classes each: 1, 0 or nothing where the label is not known, and the probability of the class.
func (e *evaluation) setFields(form csvForm) (heading string, fields func(buf []byte, r int, logits []float32) []byte) {
	return e.pairsOf(form, "label", "probability"), func(buf []byte, r int, logits []float32) []byte {
		for k, y := range e.sets.Row(r) {
			if y >= 0 {
				buf = strconv.AppendInt(buf, int64(y), 10)
			}
			buf = strconv.AppendFloat(append(buf, ','), metrics.Sigmoid(logits[k]), 'g', 6, 64)
			buf = append(buf, ',')
		}
		return buf[:len(buf)-1]
	}
}

// writeLinks puts a line for every pair that is scored into a .csv; the first edges of the pairs are edges.
func (c *evaluateCmd) writeLinks(t *trained, pairs *dataset.Pairs, edges int, scores []float64) error {
	defer removedOnSignal(c.Out)()
	return cli.WriteWhole(c.Out, func(w *bufio.Writer) error {
		heading, relation := "source,target,label,probability", func(int) string { return "" }
		switch {
		case pairs.Time != nil:
			heading = "source,target,time,label,probability"
		case pairs.Type != nil:
			heading, relation = "source,relation,target,label,probability", func(i int) string { return c.field(dataset.TypeName(t.data, int(pairs.Type[i]))) + "," }
		}
		fmt.Fprintln(w, heading)
		for i, x := range scores {
			label := 0
			if i < edges {
				label = 1
			}
			p, at := float32(metrics.Sigmoid(float32(x))), ""
			if pairs.Time != nil {
				at = dataset.TimeText(pairs.Time[i]) + ","
			}
			fmt.Fprintf(w, "%s,%s%s,%s%d,%s\n", c.field(dataset.PairID(t.data, pairs.Src[i])), relation(i), c.field(dataset.PairID(t.data, pairs.Dst[i])), at, label, strconv.FormatFloat(float64(p), 'g', 6, 32))
		}
		return nil
	})
}
