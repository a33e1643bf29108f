package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/layers"
	"sagann/saga"
)

// folders are the folders with other names than their data sets.
var folders = map[string]string{"proteins": "proteins_full"}

// prepare compiles the recipe's model on its data.
func prepare(r recipe, root string, seed uint64) (*saga.Program, *dataset.Data) {
	d, err := dataset.Load(filepath.Join(root, cmp.Or(folders[r.Data], r.Data)), dataset.Options{})
	check(err)
	switch r.Features {
	case "row-normalised":
		dataset.RowNormalize(d)
	case "standardised":
		standardise(d)
	}
	p, err := saga.Compile(model(r, d), d, saga.Config{Device: device, Seed: seed, Optimizer: saga.Optimizer{LR: r.LR,
		WeightDecay: r.WeightDecay, DecayAll: r.DecayOn == "all"}})
	check(err)
	return p, d
}

func model(r recipe, d *dataset.Data) saga.Model {
	width := cmp.Or(d.FeatureCols, d.Edges.V) // without features the identity matrix is used
	o := layers.Options{Features: width, Hidden: r.Hidden, Classes: d.Classes, Layers: r.Layers, Steps: r.Steps,
		Heads: r.Heads, OutHeads: r.OutputHeads, Dropout: r.Dropout, AttentionDropout: r.AttentionDropout}
	if r.Init == layers.InitPyG {
		o.Bias, o.Init = true, r.Init
	}
	if r.Heads > 0 {
		o.Hidden /= r.Heads
	}
	if r.Features == "learned" {
		o.Features = r.LearnedWidth
	}
	m, err := layers.New(r.Model, o)
	check(err)
	if r.Features == "learned" { // the features are a table that is trained
		table := layers.Linear(width, r.LearnedWidth, nil)
		m.Layers = append([]saga.Layer{table}, m.Layers...)
	}
	m.SelfLoops = r.SelfLoops
	return m
}

// run trains once and returns the metrics of the test split, with the peer's names.
func run(r recipe, root string, seed uint64) map[string]float64 {
	p, d := prepare(r, root, seed)
	defer p.Close()
	out := map[string]float64{}
	for epoch := 1; epoch <= r.Epochs; epoch++ {
		_, err := p.Step()
		check(err)
		if epoch < r.Epochs && !slices.Contains(r.At, epoch) {
			continue
		}
		s, err := p.Evaluate()
		check(err)
		at := ""
		if epoch < r.Epochs {
			at = fmt.Sprint("@", epoch)
		}
		if d.MultiLabels != nil {
			out["test_micro_f1"+at], out["test_macro_f1"+at] = s.Test.MicroF1, s.Test.MacroF1
		} else {
			out["test_accuracy"+at] = s.Test.Accuracy
		}
	}
	return out
}

// sameStart trains from the initial weights in the folders of seeds. It prints how far the losses are
// from the peer's and, for comparison, how far the peer's are from its own in another precision.
func sameStart(e *entry, root, folder string) {
	var ours, rounding []float64 // by seed: the largest difference of any epoch
	for seed, want := range e.Losses {
		p, _ := prepare(e.Recipe, root, 0)
		for _, q := range p.Params() {
			a, err := npy.Read(filepath.Join(folder, fmt.Sprint(seed), q.Name+".npy"))
			check(err)
			w, err := a.Float32s()
			check(err)
			check(p.SetParam(q.Name, w))
		}
		var off, own float64
		for k, x := range want.Float32 {
			loss, err := p.Step()
			check(err)
			off, own = max(off, math.Abs(loss-x)), max(own, math.Abs(want.Float64[k]-x))
		}
		check(p.Close())
		ours, rounding = append(ours, off), append(rounding, own)
	}
	within := func(x []float64) (n int) {
		for _, d := range x {
			if d <= 1e-4 {
				n++
			}
		}
		return n
	}
	n, first := len(ours), e.Losses[0].Float32
	fmt.Printf("| %s | %s | %.4f → %.4f | %.1e | %.1e | %d of %d | %.1e | %d of %d |\n", e.Recipe.Data, e.Recipe.Row, first[0], first[len(first)-1],
		slices.Max(ours), slices.Sorted(slices.Values(ours))[n/2], within(ours), n, slices.Max(rounding), within(rounding), n)
}

// standardise scales every feature to mean 0 and variance 1 over all vertices.
func standardise(d *dataset.Data) {
	c, v := d.FeatureCols, d.Edges.V
	for k := range c {
		var sum, sq float64
		for i := range v {
			sum += float64(d.Features[i*c+k])
		}
		mean := sum / float64(v)
		for i := range v {
			x := float64(d.Features[i*c+k]) - mean
			sq += x * x
		}
		std := math.Sqrt(sq / float64(v))
		if std == 0 {
			std = 1
		}
		for i := range v {
			d.Features[i*c+k] = float32((float64(d.Features[i*c+k]) - mean) / std)
		}
	}
}
