package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/dataset"
)

// parts are what can be left out, where features lie for it, and what that is for. What a card does without one
// on the host comes last: it takes longest.
var parts = []struct {
	without string
	cache   float64 // as epochs has it
	name    string
}{
	{"fuse", 0, "aggregation: one kernel reads rows, computes on edges and sums"},
	{"draw", 0, "the card draws and renumbers"},
	{"match", -1, "match: rows of the batch before stay on the card"},
	{"stream", -1, "batches come ahead: drawn and copied while one computes"},
}

// ablate times epochs with every part and without each of those left out in turn, and prints a row for each, model and graph.
func (e *epochs) ablate(graphs, models string, left []string) error {
	header("graph", "model", "left out", "features", "ms with", "spread", "ms without", "spread", "epochs without", "with over without", "bar", "drawn by")
	for name := range strings.SplitSeq(graphs, ",") {
		if err := e.shape(name); err != nil {
			return err
		}
		d := e.graph()
		for e.model = range strings.SplitSeq(models, ",") {
			if err := e.leaveOut(name, d, left); err != nil {
				return fmt.Errorf("%s, %s: %w", name, e.model, err)
			}
		}
	}
	fmt.Println("\nIn ms: medians of epochs, and the least and the most. The bar holds where with is at most 1.02 times without plus with's spread.")
	fmt.Println("Without a part an epoch is timed no more where two have taken half as long again. Reorder is not there.")
	return nil
}

// leaveOut prints the rows of a model on a graph.
func (e *epochs) leaveOut(graph string, d *dataset.Data, left []string) error {
	var with []float64
	var drawn bool
	last := math.NaN() // of cache
	for _, x := range parts {
		if !slices.Contains(left, x.without) {
			continue
		}
		var err error
		if e.cache = x.cache; x.cache != last {
			last = x.cache
			if with, drawn, err = e.times(d, 0); err != nil {
				return err
			}
		}
		without, _, err := e.times(d, 1.5*median(with), x.without)
		if err != nil {
			return fmt.Errorf("without %s: %w", x.without, err)
		}
		where := map[bool]string{true: "host", false: "card"}[x.cache < 0]
		spread := (with[len(with)-1] - with[0]) / median(with)
		verdict := "holds"
		if median(with) > median(without)*(1.02+spread) {
			verdict = "does not"
		}
		row(graph, e.model, x.name, where, fmt.Sprintf("%.1f", median(with)), least(with), fmt.Sprintf("%.1f", median(without)), least(without), len(without),
			fmt.Sprintf("%.3f", median(with)/median(without)), verdict, map[bool]string{true: "card", false: "host"}[drawn])
	}
	return nil
}

// least is the range of an ascending list.
func least(list []float64) string { return fmt.Sprintf("%.1f–%.1f", list[0], list[len(list)-1]) }

// errSlow ends epochs that are slow enough to tell.
var errSlow = errors.New("two epochs are slow")

// times are milliseconds of epochs, ascending, after one that is not timed; of two where both take longer than enough, unless that
// is 0. Drawn says that the device draws.
func (e *epochs) times(d *dataset.Data, enough float64, without ...string) (list []float64, drawn bool, err error) {
	p, err := e.program(d, without...)
	if err != nil {
		return nil, false, err
	}
	drawn = p.SampledPlan().Drawn
	defer func() { err = errors.Join(err, p.Close()); fresh() }()
	err = e.turns(p, func(n int, t turn) error {
		if n > 0 {
			list = append(list, 1e3*t.wall.Seconds())
		}
		if enough > 0 && n == 2 && slices.Min(list) > enough {
			return errSlow
		}
		return nil
	})
	if errors.Is(err, errSlow) {
		err = nil
	}
	slices.Sort(list)
	return list, drawn, err
}

// header prints the head of a table.
func header(cells ...any) {
	row(cells...)
	fmt.Println(strings.Repeat("|---", len(cells)) + "|")
}

// row prints a row of it.
func row(cells ...any) {
	for _, c := range cells {
		fmt.Printf("| %v ", c)
	}
	fmt.Println("|")
}
