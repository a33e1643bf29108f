// Package accuracy trains the recipes of bench/peer with this engine, and compares the results with those of the peer: the
// same formulas in torch, or PyTorch Geometric's layers. It prints a table in Markdown.
//
//	go run ./bench accuracy --data FOLDER --only cora
//	go run ./bench accuracy --data FOLDER --recipes bench/peer/pyg.json
//	go run ./bench accuracy --data FOLDER --recipes bench/peer/start.json [--weights FOLDER]
//
// With --weights it starts from PyG's initial weights and compares the losses instead.
package accuracy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"sagann/internal/cli"
	"sagann/internal/metrics"
)

// recipe is the settings that both sides train with. All use Adam.
type recipe struct {
	Data, Row, Model, Features                  string
	Hidden, Layers, Heads, Steps, Epochs, Seeds int
	Dropout                                     float32
	OutputHeads                                 int     `json:"output_heads"`
	AttentionDropout                            float32 `json:"attention_dropout"`
	LearnedWidth                                int     `json:"learned_width"`
	DecayOn                                     string  `json:"decay_on"`
	WeightDecay                                 float32 `json:"weight_decay"`
	LR                                          float32
	SelfLoops                                   bool `json:"self_loops"`
	Init                                        string
	At                                          []int // further epochs with metrics
}

// entry is the peer's results for a recipe.
type entry struct {
	Recipe  recipe
	Metrics map[string]spread
	Losses  []struct{ Float32, Float64 []float64 } // by seed, starting from the peer's initial weights
}

// spread is the mean and the sample standard deviation over seeds.
type spread struct{ Mean, Std float64 }

// Command is bench accuracy.
type Command struct {
	Data    string   `default:"../shared/data" placeholder:"FOLDER" help:"Folder of the data sets (${default})."`
	Recipes string   `default:"bench/peer/accuracy.json" placeholder:"FILE" help:"Recipes and the peer's numbers (${default})."`
	Only    []string `placeholder:"NAME" help:"Data sets or data/row pairs; default: all."`
	Seeds   int      `placeholder:"N" help:"Seeds; 0: as many as the peer."`
	Weights string   `placeholder:"FOLDER" help:"The peer's initial weights: compare the losses from them."`
	Device  string   `default:"cpu" placeholder:"NAME" help:"Device that trains (${default})."`
	Jobs    int      `default:"1" placeholder:"N" help:"Seeds trained at the same time (${default})."`
}

// Run prints the table.
func (c *Command) Run(*cli.App) error {
	b, err := os.ReadFile(c.Recipes)
	if err != nil {
		return err
	}
	var all struct{ Entries []entry }
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("%s: %w", c.Recipes, err)
	}
	for _, name := range c.Only {
		if !slices.ContainsFunc(all.Entries, func(e entry) bool { return name == e.Recipe.Data || name == e.Recipe.Data+"/"+e.Recipe.Row }) {
			return cli.Usagef("--only %s: %s has no such data set or row", name, c.Recipes)
		}
	}
	if c.Jobs < 1 || c.Seeds < 0 {
		return cli.Usagef("--jobs %d --seeds %d: at least one job; seeds from 1 on, or 0 for the peer's", c.Jobs, c.Seeds)
	}
	if c.Weights != "" {
		fmt.Println("| data | model | losses, seed 0 | off by at most | median seed | seeds within 1e-4 | torch's float32 from its float64 | seeds within 1e-4 |\n|---|---|---|---|---|---|---|---|")
	} else {
		fmt.Println("| data | model | metric | sagann | peer | apart, in standard errors | seeds |\n|---|---|---|---|---|---|---|")
	}
	for _, e := range all.Entries {
		r := e.Recipe
		switch {
		case len(c.Only) > 0 && !slices.Contains(c.Only, r.Data) && !slices.Contains(c.Only, r.Data+"/"+r.Row):
		case c.Weights != "":
			err = c.sameStart(&e, filepath.Join(c.Weights, r.Data+"-"+r.Row))
		default:
			if c.Seeds > 0 {
				r.Seeds = c.Seeds
			}
			err = c.compare(&e, r)
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", r.Data, r.Row, err)
		}
	}
	return nil
}

// compare trains all seeds and prints a row for each metric of the test split.
func (c *Command) compare(e *entry, r recipe) error {
	scores := make([]map[string]float64, r.Seeds)
	var g errgroup.Group
	g.SetLimit(c.Jobs)
	for s := range scores {
		g.Go(func() (err error) {
			scores[s], err = c.train(r, uint64(s))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(scores[0])) {
		var x []float64
		for _, m := range scores {
			x = append(x, m[name])
		}
		var ours spread
		ours.Mean, ours.Std = metrics.Spread(x)
		theirs := e.Metrics[name]
		n, m := float64(r.Seeds), float64(e.Recipe.Seeds)
		apart := math.Abs(ours.Mean-theirs.Mean) / math.Sqrt(ours.Std*ours.Std/n+theirs.Std*theirs.Std/m)
		if ours.Mean == theirs.Mean {
			apart = 0
		}
		what, _ := strings.CutPrefix(name, "test_")
		fmt.Printf("| %s | %s | %s | %.2f ± %.2f | %.2f ± %.2f | %.1f | %d |\n", r.Data, r.Row, strings.ReplaceAll(what, "_", " "),
			100*ours.Mean, 100*ours.Std, 100*theirs.Mean, 100*theirs.Std, apart, r.Seeds)
	}
	return nil
}
