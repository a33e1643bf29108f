package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sagann/backend"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// ablations are graphs of the sizes that the FastGL paper's ablation is measured on: vertices, edges in both
// directions, features, classes, training vertices.
var ablations = map[string][5]int{
	"reddit":   {232_965, 114_615_892, 602, 41, 153_431},
	"products": {2_449_029, 123_718_280, 200, 47, 196_615},
	"mag":      {10_100_000, 300_000_000, 100, 8, 196_615},
	"tiny":     {20_000, 400_000, 32, 8, 5_000}, // for a try
}

// parts are what can be left out, where features lie for it, and what that is for.
var parts = []struct {
	without string
	cache   float64 // as epochs has it
	name    string
}{
	{"match", -1, "match: rows of the batch before stay on the card"},
	{"stream", -1, "batches come ahead: drawn and copied while one computes"},
	{"fuse", 0, "aggregation: one kernel reads rows, computes on edges and sums"},
}

// ablate times epochs with every part and without each in turn, and prints a row for each part, model and graph.
func (e *epochs) ablate(graphs, models string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "graph\tmodel\tleft out\tfeatures\tms with\tspread\tms without\tspread\twith over without\tbar")
	for name := range strings.SplitSeq(graphs, ",") {
		s, ok := ablations[name]
		if !ok {
			return fmt.Errorf("-ablation %s: there are mag, products, reddit and tiny", name)
		}
		e.vertices, e.edges, e.features, e.classes, e.train = s[0], s[1], s[2], s[3], s[4]
		d := e.graph()
		for model := range strings.SplitSeq(models, ",") {
			var with []float64
			last := 1.0 // of cache: none yet
			for _, x := range parts {
				if x.cache != last {
					last = x.cache
					var err error
					if with, err = e.times(d, model, x.cache); err != nil {
						return fmt.Errorf("%s, %s: %w", name, model, err)
					}
				}
				without, err := e.times(d, model, x.cache, x.without)
				if err != nil {
					return fmt.Errorf("%s, %s without %s: %w", name, model, x.without, err)
				}
				where := map[bool]string{true: "host", false: "card"}[x.cache < 0]
				spread := (with[len(with)-1] - with[0]) / median(with)
				verdict := "holds"
				if median(with) > median(without)*(1.02+spread) {
					verdict = "does not"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.1f\t%.1f–%.1f\t%.1f\t%.1f–%.1f\t%.3f\t%s\n", name, model, x.name, where,
					median(with), with[0], with[len(with)-1], median(without), without[0], without[len(without)-1], median(with)/median(without), verdict)
				if err := w.Flush(); err != nil {
					return err
				}
			}
		}
	}
	fmt.Println("In ms: medians of epochs, and the least and the most. The bar holds where with is at most 1.02 times without plus with's spread.")
	fmt.Println("Not left out: renumbering, without which there are no blocks (saga bench sample times it beside a Fused-Map). Reorder is not there.")
	return nil
}

// times are milliseconds of epochs, ascending, after one that is not timed.
func (e *epochs) times(d *dataset.Data, model string, cache float64, without ...string) (list []float64, err error) {
	sizes, err := sizesOf(e.fanouts)
	if err != nil {
		return nil, err
	}
	o := layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: e.hidden, Layers: len(sizes)}
	if model == "gat" {
		o.Heads, o.Hidden = 8, e.hidden/8
	}
	m, err := layers.New(model, o)
	if err != nil {
		return nil, err
	}
	c := saga.Config{Seed: 1, Device: e.device, Mem: e.mem, TF32: e.tf32, Without: append([]string{"invariant"}, without...), Optimizer: saga.Optimizer{Kind: "adam", LR: 0.003}}
	if e.device != "" {
		c.Machine = backend.MachineOf(e.device)
	}
	p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(sizes...), Batch: e.batch, Cache: cache})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for epoch := range e.n + 1 {
		start := time.Now()
		for range p.SampledPlan().Batches {
			if _, err := p.Step(); err != nil {
				return nil, err
			}
		}
		if epoch > 0 {
			list = append(list, 1e3*time.Since(start).Seconds())
		}
	}
	slices.Sort(list)
	return list, nil
}
