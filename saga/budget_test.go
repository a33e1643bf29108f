package saga_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// budgetCase is a training that is asked for its smallest budget.
type budgetCase struct {
	model   saga.Model
	data    *dataset.Data
	config  saga.Config
	sampled *saga.Sampling
}

// compile compiles the case.
func (b *budgetCase) compile(change func(c *saga.Config)) (*saga.Program, error) {
	c := b.config
	change(&c)
	if b.sampled != nil {
		return saga.CompileSampled(b.model, b.data, c, *b.sampled)
	}
	return saga.Compile(b.model, b.data, c)
}

// losses trains, and gives the losses of the epochs and of the test vertices.
func (b *budgetCase) losses(change func(c *saga.Config)) (list []float64, err error) {
	p, err := b.compile(change)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r, err := p.Train(context.Background(), saga.TrainOptions{OnEpoch: func(e saga.Epoch) error { list = append(list, e.Loss); return nil }})
	if err == nil {
		list = append(list, r.Final.Test.Loss)
	}
	return list, err
}

// drawBudget draws a case: a graph, a model, a machine, whole or sampled.
func drawBudget(t *testing.T, r *rand.Rand) (b budgetCase, what string) {
	v := 12 + r.IntN(60)
	if r.IntN(3) == 0 {
		v = 70 + r.IntN(200)
	}
	d, err := dataset.Synthetic(dataset.Spec{Vertices: v, Edges: v * (1 + r.IntN(8)), Features: 1 + r.IntN(9), Classes: 3, Seed: r.Uint64(), Skew: 0.8 * r.Float64()})
	if err != nil {
		t.Fatal(err)
	}
	name := []string{"gcn", "sage", "gat", "ggcn", "mpgcn", "gin"}[r.IntN(6)]
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 2 + r.IntN(8), Classes: 3, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	b = budgetCase{model: m, data: d, config: saga.Config{Epochs: 2, Seed: r.Uint64() % 100, Save: []string{"", "some", "all", "none"}[r.IntN(4)]}}
	if b.config.Machine = []string{"", "", "h200", "cpu"}[r.IntN(4)]; b.config.Machine != "" && r.IntN(2) == 0 {
		b.config.Schedule, b.config.Chunks = []string{"", plan.Auto, plan.Stage}[r.IntN(3)], r.IntN(5)
	}
	what = fmt.Sprintf("%s on %d vertices and %d edges, %+v", name, v, d.Edges.E(), b.config)
	if r.IntN(3) == 0 {
		b.config.Outputs = []string{"hidden"}
	}
	if r.IntN(2) == 0 {
		b.config.Outputs, b.config.Epochs = nil, 5
		b.sampled = &saga.Sampling{Sampler: sample.Neighbours(1+r.IntN(4), 1+r.IntN(4)), Batch: 1 + r.IntN(v/3)}
		b.config.Machine, b.config.Save, b.config.Schedule, b.config.Chunks = "", "", "", 0
		what = fmt.Sprintf("%s sampled on %d vertices and %d edges, batches of %d", name, v, d.Edges.E(), b.sampled.Batch)
	} else if b.config.Machine == "" && r.IntN(3) == 0 {
		b.config.Device = "cpu:2"
		what += ", two devices"
	}
	return b, what
}

// TestNamedBudgetsOfTraining: the smallest Config.Mem and HostMem that an error names work, for the whole training, and give
// the losses without a bound; a byte less is refused, but for a HostMem that the plan of a search needs.
func TestNamedBudgetsOfTraining(t *testing.T) {
	dir := needsFiles(t)
	n := 14
	if draw.Soak() {
		n = 400
	}
	r := rand.New(rand.NewPCG(draw.Seed(t), 2))
	for range n {
		b, what := drawBudget(t, r)
		b.config.Scratch = dir
		want, err := b.losses(func(*saga.Config) {})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for bound, set := range map[string]func(c *saga.Config, n int64){
			"Mem":     func(c *saga.Config, n int64) { c.Mem = n },
			"HostMem": func(c *saga.Config, n int64) { c.HostMem = n },
		} {
			ask := func(n int64) (int64, []float64, error) {
				list, err := b.losses(func(c *saga.Config) { set(c, n) })
				var mem *plan.BudgetError
				var host *plan.HostError
				switch {
				case errors.As(err, &mem) && bound == "Mem":
					return mem.Smallest, nil, nil
				case errors.As(err, &host) && bound == "HostMem":
					return host.Smallest, nil, nil
				}
				return 0, list, err
			}
			least, _, err := ask(1)
			if err != nil || least == 0 {
				t.Errorf("%s: %s of 1 byte: %d, %v", what, bound, least, err)
				continue
			}
			again, got, err := ask(least)
			if again != 0 || err != nil {
				t.Errorf("%s: with %s %d, as named: %v, or %d", what, bound, least, err, again)
				continue
			}
			for i, x := range got {
				if i >= len(want) || math.Abs(x-want[i]) > 1e-5*max(1, math.Abs(want[i])) {
					t.Errorf("%s: with %s %d losses %v, want %v", what, bound, least, got, want)
					break
				}
			}
			if bound == "HostMem" && b.config.Machine != "" {
				continue // the search may find another plan, of less host memory
			}
			if fewer, _, err := ask(least - 1); fewer != least || err != nil {
				t.Errorf("%s: with %s %d, one less than named: %d, %v", what, bound, least-1, fewer, err)
			}
		}
	}
}
