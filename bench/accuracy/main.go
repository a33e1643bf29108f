// Accuracy trains the recipes of bench/peer with this engine, and compares the results with those of the peer: the
// same formulas in torch, or PyTorch Geometric's layers. It prints a table in Markdown.
//
//	go run ./bench/accuracy -data FOLDER -only cora
//	go run ./bench/accuracy -data FOLDER -recipes bench/peer/pyg.json
//	go run ./bench/accuracy -data FOLDER -recipes bench/peer/start.json [-weights FOLDER]
//
// With -weights it starts from PyG's initial weights and compares the losses instead.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
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

var device string

func main() {
	root := flag.String("data", filepath.Join("..", "shared", "data"), "folder of the data sets")
	file := flag.String("recipes", "bench/peer/accuracy.json", "recipes and the peer's numbers")
	only := flag.String("only", "", "data sets or data/row pairs, comma separated; all when empty")
	seeds := flag.Int("seeds", 0, "seeds; 0: as many as the peer")
	weights := flag.String("weights", "", "folder of the peer's initial weights: compare the losses from them")
	flag.StringVar(&device, "device", "cpu", "device that trains")
	jobs := flag.Int("jobs", 1, "seeds trained at the same time")
	flag.Parse()
	log.SetFlags(0)
	b, err := os.ReadFile(*file)
	check(err)
	var all struct{ Entries []entry }
	check(json.Unmarshal(b, &all))
	if *weights != "" {
		fmt.Println("| data | model | losses, seed 0 | off by at most | median seed | seeds within 1e-4 | torch's float32 from its float64 | seeds within 1e-4 |\n|---|---|---|---|---|---|---|---|")
	} else {
		fmt.Println("| data | model | metric | sagann | peer | apart, in standard errors | seeds |\n|---|---|---|---|---|---|---|")
	}
	for _, e := range all.Entries {
		r := e.Recipe
		switch {
		case *only != "" && !wanted(*only, r):
		case *weights != "":
			sameStart(&e, *root, filepath.Join(*weights, r.Data+"-"+r.Row))
		default:
			if *seeds > 0 {
				r.Seeds = *seeds
			}
			compare(&e, r, *root, *jobs)
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

// compare trains all seeds and prints a row for each metric of the test split.
func compare(e *entry, r recipe, root string, jobs int) {
	scores := make([]map[string]float64, r.Seeds)
	var g errgroup.Group
	g.SetLimit(jobs)
	for s := range scores {
		g.Go(func() error {
			scores[s] = run(r, root, uint64(s))
			return nil
		})
	}
	check(g.Wait())
	for _, name := range slices.Sorted(maps.Keys(scores[0])) {
		var x []float64
		for _, m := range scores {
			x = append(x, m[name])
		}
		ours, theirs := stats(x), e.Metrics[name]
		n, m := float64(r.Seeds), float64(e.Recipe.Seeds)
		apart := math.Abs(ours.Mean-theirs.Mean) / math.Sqrt(ours.Std*ours.Std/n+theirs.Std*theirs.Std/m)
		if ours.Mean == theirs.Mean {
			apart = 0
		}
		what, _ := strings.CutPrefix(name, "test_")
		fmt.Printf("| %s | %s | %s | %.2f ± %.2f | %.2f ± %.2f | %.1f | %d |\n", r.Data, r.Row, strings.ReplaceAll(what, "_", " "),
			100*ours.Mean, 100*ours.Std, 100*theirs.Mean, 100*theirs.Std, apart, r.Seeds)
	}
}

func stats(x []float64) (s spread) {
	for _, v := range x {
		s.Mean += v / float64(len(x))
	}
	for _, v := range x {
		s.Std += (v - s.Mean) * (v - s.Mean)
	}
	if len(x) > 1 {
		s.Std = math.Sqrt(s.Std / float64(len(x)-1))
	}
	return s
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
