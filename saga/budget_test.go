package saga_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// numbers trains, and gives the losses of the epochs and of the test vertices. It then predicts and embeds, by the program and from its
// checkpoint.
func (b *budgetCase) numbers(change func(c *saga.Config)) (list []float64, err error) {
	p, err := b.compile(change)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	file := filepath.Join(b.config.Scratch, "checkpoint.safetensors")
	r, err := p.Train(context.Background(), saga.TrainOptions{Checkpoint: file, OnEpoch: func(e saga.Epoch) error { list = append(list, e.Loss); return nil }})
	if err != nil {
		return nil, err
	}
	list = append(list, r.Final.Test.Loss)
	c := b.config
	change(&c)
	for _, f := range []struct {
		own, later func() ([]float32, int, error)
	}{
		{p.Predict, func() ([]float32, int, error) { return saga.Predict(b.model, b.data, c, file) }},
		{p.Embed, func() ([]float32, int, error) { return saga.Embed(b.model, b.data, c, file) }},
	} {
		rows, _, err := f.own()
		again, _, wrong := f.later()
		if err = errors.Join(err, wrong); err != nil {
			return nil, fmt.Errorf("after training: %w", err)
		}
		if !slices.EqualFunc(rows, again, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-5*(1+math.Abs(float64(x))) }) {
			return nil, errors.New("other predictions from the checkpoint")
		}
	}
	return list, nil
}

// machineFile writes the machine model of a name to dir, as change makes of the numbers of each of its kinds, and gives its path.
func machineFile(t *testing.T, dir, name string, change func(kind string, numbers map[string]map[string]any)) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../dataflow/plan/sim/machines", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"device_kinds", "link_kinds"} {
		for _, kind := range m[part].(map[string]any) {
			numbers := map[string]map[string]any{}
			for field, x := range kind.(map[string]any) {
				if x, ok := x.(map[string]any); ok {
					numbers[field] = x
				}
			}
			change(part, numbers)
		}
	}
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(dir, name+"-*.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = file.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// otherRates multiplies the rates of each kind; they are checked against each other.
func otherRates(r *rand.Rand) func(string, map[string]map[string]any) {
	return func(_ string, numbers map[string]map[string]any) {
		by := math.Exp(1.4 * r.Float64())
		for _, x := range numbers {
			if x["unit"] != "B" {
				x["value"] = x["value"].(float64) * by
			}
		}
	}
}

// TestMachineMemory: the smallest memory of a machine model that works is the one that errors name, whatever Config.Mem is, and they
// say that the machine has less.
func TestMachineMemory(t *testing.T) {
	dir := t.TempDir()
	d, err := dataset.Open("karate", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("gcn", layers.Options{Features: d.FeatureCols, Hidden: 4, Classes: d.Classes, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(memory, mem int64) (int64, error) {
		file := machineFile(t, dir, "cpu", func(_ string, numbers map[string]map[string]any) {
			if numbers["memory"] != nil {
				numbers["memory"]["value"] = memory
			}
		})
		b := budgetCase{model: m, data: d, config: saga.Config{Epochs: 1, Scratch: dir, Machine: file, Mem: mem}}
		_, err := b.numbers(func(*saga.Config) {})
		var small *plan.BudgetError
		if errors.As(err, &small) {
			if !strings.Contains(err.Error(), "; machine "+file+" has ") || small.Budget > memory {
				t.Errorf("memory %d, Mem %d: %v", memory, mem, err)
			}
			return small.Smallest, nil
		}
		return 0, err
	}
	least, err := ask(1, 0)
	if err != nil || least == 0 {
		t.Fatal(least, err)
	}
	for _, mem := range []int64{0, least, 1 << 30} {
		if again, err := ask(least, mem); again != 0 || err != nil {
			t.Errorf("memory of %d bytes, as named, Mem %d: %d, %v", least, mem, again, err)
		}
		if again, err := ask(least-1, mem); again != least || err != nil {
			t.Errorf("memory of %d bytes, one less than named, Mem %d: %d, %v", least-1, mem, again, err)
		}
	}
}

// drawBudget draws a case: a graph, a model, a machine, whole or sampled.
func drawBudget(t *testing.T, r *rand.Rand, dir string) (b budgetCase, what string) {
	t.Helper()
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
	b = budgetCase{model: m, data: d, config: saga.Config{Epochs: 2, Scratch: dir, Seed: r.Uint64() % 100, Save: []string{"", "some", "all", "none"}[r.IntN(4)]}}
	if b.config.Machine = []string{"", "", "h200", "cpu"}[r.IntN(4)]; b.config.Machine != "" && r.IntN(2) == 0 {
		b.config.Schedule, b.config.Chunks = []string{"", plan.Auto, plan.Stage}[r.IntN(3)], r.IntN(5)
	}
	if m := b.config.Machine; m != "" && r.IntN(2) == 0 {
		b.config.Machine = machineFile(t, dir, m, otherRates(r))
	}
	what = fmt.Sprintf("%s on %d vertices and %d edges, %+v", name, v, d.Edges.E(), b.config)
	if r.IntN(3) == 0 {
		b.config.Outputs = []string{"hidden"}
	}
	if r.IntN(2) == 0 {
		b.config.Outputs, b.config.Epochs = nil, 5
		b.sampled = &saga.Sampling{Sampler: sample.Neighbours(1+r.IntN(4), 1+r.IntN(4)), Batch: 1 + r.IntN(v/3)}
		b.config.Save, b.config.Schedule, b.config.Chunks = "", "", 0
		if r.IntN(3) == 0 {
			b.sampled.Eval = []int{2, 2}
		}
		what = fmt.Sprintf("%s sampled on %d vertices and %d edges, batches of %d, evaluation %v, machine %q", name, v, d.Edges.E(), b.sampled.Batch, b.sampled.Eval, b.config.Machine)
	} else if b.config.Machine == "" && r.IntN(3) == 0 {
		b.config.Device = "cpu:2"
		what += ", two devices"
	}
	return b, what
}

// TestNamedBudgetsOfTraining: the smallest Config.Mem and HostMem that an error names work, for the whole training, and for predictions from its checkpoint,
// and give the numbers without a bound; a byte less is refused.
func TestNamedBudgetsOfTraining(t *testing.T) {
	dir := needsFiles(t)
	n := 14
	if draw.Soak() {
		n = 400
	}
	r := rand.New(rand.NewPCG(draw.Seed(t), 2))
	for range n {
		b, what := drawBudget(t, r, dir)
		want, err := b.numbers(func(*saga.Config) {})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for bound, set := range map[string]func(c *saga.Config, n int64){
			"Mem":     func(c *saga.Config, n int64) { c.Mem = n },
			"HostMem": func(c *saga.Config, n int64) { c.HostMem = n },
		} {
			if bound == "HostMem" && b.sampled != nil && b.sampled.Eval != nil { // does not count it, and says so
				continue
			}
			ask := func(n int64) (int64, []float64, error) {
				list, err := b.numbers(func(c *saga.Config) { set(c, n) })
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
					t.Errorf("%s: with %s %d numbers %v, want %v", what, bound, least, got, want)
					break
				}
			}
			if fewer, _, err := ask(least - 1); fewer != least || err != nil {
				t.Errorf("%s: with %s %d, one less than named: %d, %v", what, bound, least-1, fewer, err)
			}
		}
	}
}
