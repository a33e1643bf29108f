package layers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestSlices: losses of gathers by slices of columns have the bits of those of whole rows, for
// every model, with dropout, rows of bfloat16, little memory, other schedules and several
// devices; and most models are gathered by slices at all.
func TestSlices(t *testing.T) {
	spec, err := dataset.ParseSpec("vertices=240,edges=2400,features=64,classes=5,seed=3")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]saga.Config{
		"plain":      {Chunks: 3, Stream: true},
		"bf16":       {Chunks: 3, Stream: true, Storage: saga.StorageBF16, Without: []string{"recompute-on-load"}}, // what is made of rounded rows is not rounded
		"dest-order": {Chunks: 3, Schedule: "dest-order", Save: saga.SaveNone, Without: []string{"invariant"}},
		"stage":      {Chunks: 4, Schedule: "stage", Save: saga.SaveAll},
		"ring":       {Chunks: 4, Stream: true, Device: "cpu:2"},
	}
	for _, name := range layers.Names() {
		m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 64, Classes: 5, Layers: 2, Steps: 2, Heads: 4, Dropout: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		for way, c := range ways {
			c.Seed = 7
			t.Run(fmt.Sprint(name, " ", way), func(t *testing.T) {
				t.Parallel()
				var whole []float64
				for _, k := range []int{1, 2, 4} {
					c := c
					c.Outcome.Slices = k
					got := epochs(t, m, d, c)
					if whole == nil {
						whole = got
					}
					for i := range got {
						if got[i] != whole[i] {
							t.Errorf("%d slices: epoch %d has loss %v, with whole rows %v", k, i+1, got[i], whole[i])
						}
					}
				}
			})
		}
		p, err := saga.Plan(m, saga.Shape{Vertices: 240, Edges: 2400, Features: 64, Classes: 5}, saga.Config{Outcome: saga.Outcome{Slices: 2}})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := p.Explain(&text); err != nil {
			t.Fatal(err)
		}
		gathers := strings.Contains(text.String(), "fuse ") // all that sgc gathers, say, is an invariant
		if name == "appnp" {                                // gathers a column a class, too few to slice
			gathers = false
		}
		// products of edges and scores of attention read whole rows; of some, several values are gathered in one sweep; lg's rows have a column a class
		whole := []string{"gat", "gatv2", "transformer", "edgemlp", "edgeconv", "cg", "gen", "pna", "lg", "hgt", "han"}
		if sliced := strings.Contains(text.String(), "gathered by 2 slices"); gathers && !sliced && !slices.Contains(whole, name) {
			t.Errorf("%s is not gathered by slices:\n%s", name, text.String())
		}
	}
}
