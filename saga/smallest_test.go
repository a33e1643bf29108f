package saga_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// withTasks is a graph with labels of vertices, edges and graphs.
func withTasks(t *testing.T) *dataset.Data {
	d := mustSynthetic(t, "vertices=300,edges=2500,features=6,classes=5,seed=3")
	for v := range d.Edges.V {
		d.GraphOf = append(d.GraphOf, uint32(v/3))
	}
	for g := range 100 {
		d.GraphLabels, d.GraphSplit.Train = append(d.GraphLabels, int32(g%30)), append(d.GraphSplit.Train, uint32(g))
	}
	for k := range d.Edges.Src {
		d.EdgeLabels, d.EdgeSplit.Train = append(d.EdgeLabels, int32(k%30)), append(d.EdgeSplit.Train, uint32(k))
	}
	return d
}

// TestSmallestForAll: with the budgets that training calls the smallest, of device and of host memory, it trains and
// evaluates, and the program and its checkpoint predict and embed. On a GPU it is planned.
func TestSmallestForAll(t *testing.T) {
	d := withTasks(t)
	for _, task := range []saga.Task{saga.VertexTask, saga.EdgeTask, saga.GraphTask} {
		for _, name := range []string{"gcn", "gat", "sage"} {
			classes := 30
			if task == saga.VertexTask {
				classes = d.Classes
			}
			m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 4, Classes: classes, Layers: 2, Heads: 2, Task: task, Readout: saga.ReadoutMean})
			if err != nil {
				t.Fatal(err)
			}
			for _, dev := range []string{"cpu", "cpu:2", "cuda"} {
				t.Run(fmt.Sprintf("%s/%s/%s", task, name, dev), func(t *testing.T) {
					c := saga.Config{Device: dev, Epochs: 1, Scratch: t.TempDir()}
					if dev == "cuda" {
						c.Without = []string{"invariant"}
						planned(t, m, d, c)
						return
					}
					smallestWorks(t, m, d, c)
				})
			}
		}
	}
}

func smallestWorks(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) {
	c.Mem = 1
	_, err := saga.Compile(m, d, c)
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		t.Fatalf("a byte of memory: %v", err)
	}
	c.Mem, c.HostMem = small.Smallest, 1
	_, err = saga.Compile(m, d, c)
	var host *plan.HostError
	if !errors.As(err, &host) {
		t.Fatalf("a byte of host memory: %v", err)
	}
	c.HostMem = host.Smallest
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatalf("the smallest, %d and %d: %v", c.Mem, c.HostMem, err)
	}
	defer p.Close()
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	if _, err := p.Step(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Evaluate(); err != nil {
		t.Fatal(err)
	}
	if err := p.Save(path, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := saga.Predict(m, d, c, path); err != nil {
		t.Errorf("Predict with %d and %d: %v", c.Mem, c.HostMem, err)
	}
	if _, _, err := saga.Embed(m, d, c, path); err != nil {
		t.Errorf("Embed with %d and %d: %v", c.Mem, c.HostMem, err)
	}
	if _, _, err := p.Predict(); err != nil {
		t.Errorf("Program.Predict with %d and %d: %v", c.Mem, c.HostMem, err)
	}
}

// planned plans with the smallest budget, as a GPU does that is not there.
func planned(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) {
	c.Mem = 1
	_, err := saga.Compile(m, d, c)
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		t.Fatal(err)
	}
	c.Mem = small.Smallest
	if _, err := saga.Compile(m, d, c); err != nil {
		t.Fatalf("the smallest, %d: %v", c.Mem, err)
	}
	for _, what := range []string{"logits", "hidden"} {
		if err := saga.PlanForward(m, d, c, what); err != nil {
			t.Errorf("%s with %d: %v", what, c.Mem, err)
		}
	}
}
