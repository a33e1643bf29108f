package layers_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/saga"
)

// TestHeteroStreams: where a machine model chooses what is stored and what is made again as chunks arrive, plans over several types of vertices
// compute the bits of the resident run at half of its memory, and some of them store one gradient for several relations.
// Some plans of attention compute products anew at the own end.
func TestHeteroStreams(t *testing.T) {
	h := layers.HeteroGraph(t)
	d := h.At(2)
	if err := dataset.RandomSplitOf(d, dataset.VertexLabels, 0.5, 0.25, 1); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../dataflow/plan/sim/machines/h200.json")
	if err != nil {
		t.Fatal(err)
	}
	machine := filepath.Join(t.TempDir(), "machine.json")
	text = regexp.MustCompile(`"reserve": \{"value": \d+`).ReplaceAll(text, []byte(`"reserve": {"value": 1`)) // a GPU's context is larger than this graph
	if err := os.WriteFile(machine, text, 0o600); err != nil {
		t.Fatal(err)
	}
	arrived, anew := 0, 0
	names := []string{"sage"}
	if draw.Soak() { // its search takes long
		names = append(names, "gat")
	}
	for _, name := range names {
		c := saga.Config{Machine: machine, Schedule: "sag", Chunks: 7, Seed: 3, Without: []string{"group"}, Outcome: saga.Outcome{Slices: 1}, Optimizer: saga.Optimizer{LR: 0.1}}
		var want []float32
		var peak int64
		for part := range 2 {
			c.Mem = []int64{0, peak / 2}[part]
			p, err := saga.Compile(layers.HeteroModels()[name], d, c)
			var small *plan.BudgetError
			if errors.As(err, &small) {
				c.Mem = small.Smallest
				p, err = saga.Compile(layers.HeteroModels()[name], d, c)
			}
			if err != nil {
				t.Fatal(err)
			}
			var bits []float32
			for range 3 {
				loss, err := p.Step()
				if err != nil {
					t.Fatal(err)
				}
				bits = append(bits, float32(loss))
			}
			z, _, err := p.Predict()
			if err != nil {
				t.Fatal(err)
			}
			bits = append(bits, z...)
			if slices.ContainsFunc(p.Stored(), func(s string) bool { return strings.HasPrefix(s, dataflow.Arrive) }) {
				arrived++
			}
			if slices.ContainsFunc(p.Stored(), func(s string) bool { return strings.HasPrefix(s, dataflow.Anew) }) {
				anew++
			}
			if part == 0 {
				want, peak = bits, p.TrainPlan().Peak
			} else if !slices.Equal(bits, want) {
				t.Errorf("%s within %d bytes, which stores %v: other bits than the resident run", name, c.Mem, p.Stored())
			}
			if part > 0 && p.TrainPlan().H2D == 0 {
				t.Errorf("%s within %d bytes copies nothing", name, c.Mem)
			}
			p.Close()
		}
	}
	if arrived == 0 || draw.Soak() && anew == 0 {
		t.Errorf("%d plans compute values as chunks arrive, %d anew at the own end; at least one of each", arrived, anew)
	}
}
