package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"sagann/dataset"
)

// parts are what can be left out, where features lie for it, and what that is for.
var parts = []struct {
	without string
	cache   float64 // as epochs has it
	name    string
}{
	{"match", -1, "match: rows of the batch before stay on the card"},
	{"stream", -1, "batches come ahead: drawn and copied while one computes"},
	{"draw", 0, "the card draws and renumbers"},
	{"fuse", 0, "aggregation: one kernel reads rows, computes on edges and sums"},
}

// ablation is the table of what is left out.
type ablation struct {
	*epochs
	w *tabwriter.Writer
}

// ablate times epochs with every part and without each in turn, and prints a row for each part, model and graph.
func (e *epochs) ablate(graphs, models string) error {
	a := &ablation{e, tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(a.w, "graph\tmodel\tleft out\tfeatures\tms with\tspread\tms without\tspread\twith over without\tbar")
	for name := range strings.SplitSeq(graphs, ",") {
		if err := e.shape(name); err != nil {
			return err
		}
		d := e.graph()
		for e.model = range strings.SplitSeq(models, ",") {
			if err := a.rows(name, d); err != nil {
				return fmt.Errorf("%s, %s: %w", name, e.model, err)
			}
		}
	}
	fmt.Println("In ms: medians of epochs, and the least and the most. The bar holds where with is at most 1.02 times without plus with's spread.")
	fmt.Println("Reorder is not there.")
	return nil
}

// rows prints those of a model on a graph.
func (a *ablation) rows(graph string, d *dataset.Data) error {
	var with []float64
	for i, x := range parts {
		var err error
		if a.cache = x.cache; i == 0 || x.cache != parts[i-1].cache {
			if with, err = a.times(d); err != nil {
				return err
			}
		}
		without, err := a.times(d, x.without)
		if err != nil {
			return fmt.Errorf("without %s: %w", x.without, err)
		}
		where := map[bool]string{true: "host", false: "card"}[x.cache < 0]
		spread := (with[len(with)-1] - with[0]) / median(with)
		verdict := "holds"
		if median(with) > median(without)*(1.02+spread) {
			verdict = "does not"
		}
		fmt.Fprintf(a.w, "%s\t%s\t%s\t%s\t%.1f\t%.1f–%.1f\t%.1f\t%.1f–%.1f\t%.3f\t%s\n", graph, a.model, x.name, where,
			median(with), with[0], with[len(with)-1], median(without), without[0], without[len(without)-1], median(with)/median(without), verdict)
	}
	return a.w.Flush()
}

// times are milliseconds of epochs, ascending, after one that is not timed.
func (e *epochs) times(d *dataset.Data, without ...string) (list []float64, err error) {
	p, err := e.program(d, without...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()); fresh() }()
	err = e.turns(p, func(n int, t turn) {
		if n > 0 {
			list = append(list, 1e3*t.wall.Seconds())
		}
	})
	slices.Sort(list)
	return list, err
}
