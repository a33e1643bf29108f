package runpage

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"sagann/internal/metrics"
	"sagann/internal/runfolder"
	"sagann/internal/units"
)

// colors is the number of colours of curves in style.css. Further runs use the same colours, dashed.
const colors = 8

// row is a line of a table that has a column for each run.
type row struct {
	Name   string
	Values []string
}

// severalView is what the template of several runs reads.
type severalView struct {
	Title   string
	Means   []Fact // of runs that differ by the seed alone
	Names   []string
	Facts   []row
	Notes   []string // classes and columns that only some runs have
	Charts  []chart
	Classes []row // F1
	Differ  []row // settings
	Same    []Fact
}

// WriteSeveral writes one page of several runs side by side.
func WriteSeveral(w io.Writer, runs []*Run) error {
	v := &severalView{Title: fmt.Sprintf("%d runs", len(runs)), Facts: facts(runs), Notes: notes(runs), Classes: classRows(runs)}
	most := max(2, maxPoints*colors/max(colors, len(runs)))
	var loss, valLoss, val, test, took []series
	metric := runs[0].metric()
	for i, r := range runs {
		v.Names = append(v.Names, r.Name)
		loss = append(loss, newSeries(r.Name, i, most, r.Epochs, lossOf))
		valLoss = append(valLoss, newSeries(r.Name, i, most, r.Epochs, valLossOf))
		val = append(val, newSeries(r.Name, i, most, r.Epochs, valOf))
		test = append(test, newSeries(r.Name, i, most, r.Epochs, testOf))
		took = append(took, newSeries(r.Name, i, most, r.Epochs, secondsOf))
		if r.metric() != metric {
			metric = "score"
		}
	}
	v.Charts = []chart{newChart("loss", "Training loss", "", false, loss...), newChart("validation-loss", "Validation loss", "", false, valLoss...), newChart("validation", "Validation "+metric, "", true, val...),
		newChart("test", "Test "+metric, "", true, test...), newChart("time", "Time of an epoch", "s", false, took...)}
	v.Differ, v.Same = compare(runs)
	if len(v.Differ) == 1 && v.Differ[0].Name == "seed" {
		v.Means = means(runs, metric)
	}
	return execute(w, "several", v)
}

// means are the mean scores of runs and their deviations.
func means(runs []*Run, metric string) (list []Fact) {
	for _, x := range []struct {
		name string
		of   func(runfolder.Epoch) float64
	}{{"test", testOf}, {"validation", valOf}, {"training", trainOf}} {
		var scores []float64
		for _, r := range runs {
			scores = append(scores, x.of(r.Kept()))
		}
		if mean, deviation := metrics.Spread(scores); !math.IsNaN(mean) {
			list = append(list, Fact{fmt.Sprintf("%s %s, mean and deviation of %d runs", x.name, metric, len(runs)), scoreText(mean) + " ± " + scoreText(deviation)})
		}
	}
	return list
}

// facts are the results by which runs are compared.
func facts(runs []*Run) (list []row) {
	add := func(name string, value func(*Run) string) {
		x := row{Name: name}
		for _, r := range runs {
			x.Values = append(x.Values, value(r))
		}
		if slices.ContainsFunc(x.Values, func(s string) bool { return s != none }) {
			list = append(list, x)
		}
	}
	recorded := func(f func(*Record) string) func(*Run) string {
		return func(r *Run) string {
			if r.Record == nil {
				return none
			}
			return f(r.Record)
		}
	}
	last := func(f func(e runfolder.Epoch) string) func(*Run) string {
		return func(r *Run) string {
			if _, e := r.last(); e.Epoch > 0 {
				return f(e)
			}
			return none
		}
	}
	kept := func(f func(e runfolder.Epoch) float64) func(*Run) string {
		return func(r *Run) string {
			if e := r.Kept(); e.Epoch > 0 {
				return scoreText(f(e))
			}
			return none
		}
	}
	add("state", recorded(func(r *Record) string { return r.State }))
	add("model", recorded(func(r *Record) string { return r.Model }))
	add("parameters", recorded(func(r *Record) string { return intText(int64(r.Parameters)) }))
	add("data", recorded(func(r *Record) string { return r.Data }))
	add("columns of features", func(r *Run) string {
		if r.Columns == nil {
			return none
		}
		return intText(int64(len(r.Columns)))
	})
	add("metric", (*Run).metric)
	add("test", kept(testOf))
	add("validation", kept(valOf))
	add("training", kept(trainOf))
	add("scores of epoch", func(r *Run) string { return strconv.Itoa(r.Kept().Epoch) })
	add("epochs", last(func(e runfolder.Epoch) string { return intText(int64(e.Epoch)) }))
	add("lowest validation loss", recorded(func(r *Record) string {
		if r.BestEpoch == 0 {
			return none
		}
		return "epoch " + intText(int64(r.BestEpoch))
	}))
	add("training loss", last(func(e runfolder.Epoch) string { return fmt.Sprintf("%.4g", e.Loss) }))
	add("an epoch, median", func(r *Run) string { return timeText(r.median()) })
	add("all epochs", func(r *Run) string {
		sum := 0.0
		for _, e := range r.Epochs {
			sum += e.Seconds
		}
		return timeText(sum)
	})
	add("peak device memory", last(func(e runfolder.Epoch) string { return units.Size(e.Peak) }))
	add("host memory", recorded(func(r *Record) string { return units.Size(r.Memory.Host) }))
	add("to the device, an epoch", last(func(e runfolder.Epoch) string { return moved(e.H2D) }))
	add("back, an epoch", last(func(e runfolder.Epoch) string { return moved(e.D2H) }))
	return list
}

// moved is the bytes of copies as text; none if there were none.
func moved(n int64) string {
	if n == 0 {
		return none
	}
	return units.Size(n)
}

// classRows are the F1 score of every class, by its name, and their mean; nil if no run has counted classes. The classes of the first
// run come first, then those that only later ones have.
func classRows(runs []*Run) (list []row) {
	at := map[string]int{}
	mean := row{Name: "mean", Values: slices.Repeat([]string{none}, len(runs))}
	for i, r := range runs {
		if r.Record == nil || r.Record.Classes == nil {
			continue
		}
		scores, all := r.Record.Classes.scores()
		mean.Values[i] = scoreText(all.F1)
		for k, x := range scores {
			name := r.Record.Classes.Name(k)
			n, ok := at[name]
			if !ok {
				n = len(list)
				at[name] = n
				list = append(list, row{name, slices.Repeat([]string{none}, len(runs))})
			}
			list[n].Values[i] = scoreText(x.F1)
		}
	}
	if list == nil {
		return nil
	}
	return append(list, mean)
}

// notes say which classes and columns of features a run has and the first run has not, and the other way round.
func notes(runs []*Run) (list []string) {
	classes := func(r *Run) []string {
		if r.Record == nil || r.Record.Classes == nil {
			return nil
		}
		var names []string
		for k := range r.Record.Classes.Hits {
			names = append(names, r.Record.Classes.Name(k))
		}
		return names
	}
	columns := func(r *Run) []string { return r.Columns }
	for _, r := range runs[1:] {
		for _, x := range []struct {
			what  string
			names func(*Run) []string
		}{{"classes", classes}, {"columns of features", columns}} {
			first, own := x.names(runs[0]), x.names(r)
			if first == nil || own == nil {
				continue // not known
			}
			if more := without(own, first); more != nil {
				list = append(list, fmt.Sprintf("%s has the %s %s, which %s has not.", r.Name, x.what, some(more), runs[0].Name))
			}
			if less := without(first, own); less != nil {
				list = append(list, fmt.Sprintf("%s has not the %s %s of %s.", r.Name, x.what, some(less), runs[0].Name))
			}
		}
	}
	return list
}

// without lists the names that are not in others.
func without(names, others []string) (list []string) {
	has := map[string]bool{}
	for _, n := range others {
		has[n] = true
	}
	for _, n := range names {
		if !has[n] {
			list = append(list, n)
		}
	}
	return list
}

// some is the first of names, as text.
func some(names []string) string {
	const most = 12
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// compare divides settings into those that differ and those that all runs share, in the
// order of the first run that has them.
func compare(runs []*Run) (differ []row, same []Fact) {
	at := map[string]int{}
	var all []row
	for i, r := range runs {
		for _, s := range r.Settings {
			n, ok := at[s.Name]
			if !ok {
				n = len(all)
				at[s.Name] = n
				all = append(all, row{s.Name, slices.Repeat([]string{none}, len(runs))})
			}
			all[n].Values[i] = s.Value
		}
	}
	for _, x := range all {
		if len(slices.Compact(slices.Clone(x.Values))) > 1 {
			differ = append(differ, x)
		} else {
			same = append(same, Fact{x.Name, x.Values[0]})
		}
	}
	return differ, same
}
