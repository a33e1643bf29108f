// Accuracy trains the recipes of bench/peer/accuracy.json (the same formulas in torch)
// with this engine and prints both, as Markdown.
//
//	go run ./bench/accuracy -data FOLDER -only cora
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

type recipe struct {
	Data, Row, Model, Features, Normalize, Optimizer string
	Hidden, Layers, Heads, Steps, Epochs, Seeds      int
	Dropout                                          float32
	OutputHeads                                      int     `json:"output_heads"`
	AttentionDropout                                 float32 `json:"attention_dropout"`
	LearnedWidth                                     int     `json:"learned_width"`
	DecayOn                                          string  `json:"decay_on"`
	WeightDecay                                      float32 `json:"weight_decay"`
	LR                                               float32
	SelfLoops                                        bool `json:"self_loops"`
}

type entry struct {
	Recipe  recipe
	Metrics map[string]struct{ Mean, Std float64 }
}

var device string

var folders = map[string]string{"cora": "cora", "citeseer": "citeseer", "blogcatalog": "blogcatalog", "proteins": "proteins_full"}

func main() {
	root := flag.String("data", filepath.Join("..", "shared", "data"), "folder of the data sets")
	file := flag.String("recipes", "bench/peer/accuracy.json", "recipes and the peer's numbers")
	only := flag.String("only", "", "data sets or data/row pairs, comma separated; all when empty")
	seeds := flag.Int("seeds", 0, "seeds; 0: as many as the peer")
	flag.StringVar(&device, "device", "cpu", "device that trains")
	jobs := flag.Int("jobs", 1, "seeds trained side by side")
	flag.Parse()
	log.SetFlags(0)
	b, err := os.ReadFile(*file)
	check(err)
	var all struct{ Entries []entry }
	check(json.Unmarshal(b, &all))
	fmt.Println("| data | model | metric | sagann | torch | seeds |\n|---|---|---|---|---|---|")
	for _, e := range all.Entries {
		r := e.Recipe
		if *only != "" && !wanted(*only, r) {
			continue
		}
		n := r.Seeds
		if *seeds > 0 {
			n = *seeds
		}
		acc, macro := make([]float64, n), make([]float64, n)
		var g errgroup.Group
		g.SetLimit(*jobs)
		for s := range n {
			g.Go(func() error {
				acc[s], macro[s] = run(r, *root, uint64(s))
				return nil
			})
		}
		check(g.Wait())
		if m, ok := e.Metrics["test_accuracy"]; ok {
			row(r, "accuracy", acc, m.Mean, m.Std, n)
		} else {
			row(r, "micro-F1", acc, e.Metrics["test_micro_f1"].Mean, e.Metrics["test_micro_f1"].Std, n)
			row(r, "macro-F1", macro, e.Metrics["test_macro_f1"].Mean, e.Metrics["test_macro_f1"].Std, n)
		}
	}
}

func wanted(only string, r recipe) bool {
	for _, w := range strings.Split(only, ",") {
		if w == r.Data || w == r.Data+"/"+r.Row {
			return true
		}
	}
	return false
}

func row(r recipe, metric string, x []float64, mean, std float64, n int) {
	m, s := stats(x)
	fmt.Printf("| %s | %s | %s | %.2f ± %.2f | %.2f ± %.2f | %d |\n", r.Data, r.Row, metric, 100*m, 100*s, 100*mean, 100*std, n)
}

func run(r recipe, root string, seed uint64) (score, macro float64) {
	d, err := dataset.Load(filepath.Join(root, folders[r.Data]), dataset.Options{})
	check(err)
	switch r.Features {
	case "row-normalised":
		dataset.RowNormalize(d)
	case "standardised":
		standardise(d)
	case "one-hot", "learned":
		check(dataset.OneHotFeatures(d))
	}
	o := layers.Options{Features: d.FeatureCols, Hidden: r.Hidden, Classes: d.Classes, Layers: r.Layers, Steps: r.Steps,
		Heads: r.Heads, OutHeads: r.OutputHeads, Dropout: r.Dropout, AttentionDropout: r.AttentionDropout}
	if r.Model == "gat" {
		o.Hidden /= r.Heads
	}
	if r.Features == "learned" {
		o.Features = r.LearnedWidth
	}
	m, err := layers.New(r.Model, o)
	check(err)
	if r.Features == "learned" { // a trained table stands before the model
		table := layers.Linear(d.FeatureCols, r.LearnedWidth, nil)
		m.Layers = append([]saga.Layer{table}, m.Layers...)
	}
	m.SelfLoops = r.SelfLoops
	p, err := saga.Compile(m, d, saga.Config{Device: device, Seed: seed, Optimizer: saga.Optimizer{Kind: r.Optimizer, LR: r.LR,
		WeightDecay: r.WeightDecay, DecayAll: r.DecayOn == "all"}})
	check(err)
	defer p.Close()
	for range r.Epochs {
		_, err := p.Step()
		check(err)
	}
	s, err := p.Evaluate()
	check(err)
	if d.MultiLabels != nil {
		return s.Test.MicroF1, s.Test.MacroF1
	}
	return s.Test.Accuracy, 0
}

// standardise gives every feature mean 0 and variance 1 over all vertices.
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

func stats(x []float64) (mean, std float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		std += (v - mean) * (v - mean)
	}
	if len(x) > 1 {
		std = math.Sqrt(std / float64(len(x)-1))
	}
	return mean, std
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
