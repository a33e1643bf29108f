package accuracy

import (
	"cmp"
	"errors"
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
func (c *Command) prepare(r recipe, seed uint64) (*saga.Program, *dataset.Data, error) {
	d, err := dataset.Load(filepath.Join(c.Data, cmp.Or(folders[r.Data], r.Data)), dataset.Options{})
	if err != nil {
		return nil, nil, err
	}
	switch r.Features {
	case "row-normalised":
		dataset.RowNormalize(d)
	case "standardised":
		standardise(d)
	}
	m, err := model(r, d)
	if err != nil {
		return nil, nil, err
	}
	p, err := saga.Compile(m, d, saga.Config{Device: c.Device, Seed: seed, Optimizer: saga.Optimizer{LR: r.LR,
		WeightDecay: r.WeightDecay, DecayAll: r.DecayOn == "all"}})
	return p, d, err
}

func model(r recipe, d *dataset.Data) (saga.Model, error) {
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
	if err != nil {
		return m, err
	}
	if r.Features == "learned" { // the features are a table that is trained
		table := layers.Linear(width, r.LearnedWidth, nil)
		m.Layers = append([]saga.Layer{table}, m.Layers...)
	}
	m.SelfLoops = r.SelfLoops
	return m, nil
}

// train trains once and returns the metrics of the test split, with the peer's names.
func (c *Command) train(r recipe, seed uint64) (out map[string]float64, err error) {
	p, d, err := c.prepare(r, seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	out = map[string]float64{}
	for epoch := 1; epoch <= r.Epochs; epoch++ {
		if _, err := p.Step(); err != nil {
			return nil, err
		}
		if epoch < r.Epochs && !slices.Contains(r.At, epoch) {
			continue
		}
		s, err := p.Evaluate()
		if err != nil {
			return nil, err
		}
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
	return out, nil
}

// sameStart trains from the initial weights in the folders of seeds. It prints how far the losses are
// from the peer's and, for comparison, how far the peer's are from its own in another precision.
func (c *Command) sameStart(e *entry, folder string) error {
	var ours, rounding []float64 // by seed: the largest difference of any epoch
	for seed, want := range e.Losses {
		losses, err := c.from(e.Recipe, filepath.Join(folder, fmt.Sprint(seed)), len(want.Float32))
		if err != nil {
			return err
		}
		var off, own float64
		for k, x := range want.Float32 {
			off, own = max(off, math.Abs(losses[k]-x)), max(own, math.Abs(want.Float64[k]-x))
		}
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
	return nil
}

// from trains from the initial weights in a folder and returns the losses of so many epochs.
func (c *Command) from(r recipe, folder string, epochs int) (losses []float64, err error) {
	p, _, err := c.prepare(r, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, q := range p.Params() {
		a, err := npy.Read(filepath.Join(folder, q.Name+".npy"))
		if err != nil {
			return nil, err
		}
		w, err := a.Float32s()
		if err != nil {
			return nil, err
		}
		if err := p.SetParam(q.Name, w); err != nil {
			return nil, err
		}
	}
	for range epochs {
		loss, err := p.Step()
		if err != nil {
			return nil, err
		}
		losses = append(losses, loss)
	}
	return losses, nil
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
