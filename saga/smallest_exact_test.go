package saga_test

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestSmallestExact: the budget that an error calls the smallest is accepted by training and by both forward passes, and a byte less, and
// a hundredth less, is refused by the same number. Programs are drawn: tasks, models, several types of vertices or one, devices.
func TestSmallestExact(t *testing.T) {
	plain, links := withTasks(t), mustSynthetic(t, "vertices=90,edges=400,features=3,classes=4,seed=2")
	links, err := dataset.SplitLinks(links, dataset.LinkShares{Val: 0.1, Test: 0.2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	_, typed := typedData(t)
	graphs := []struct {
		data *dataset.Data
		task saga.Task
	}{{plain, saga.VertexTask}, {plain, saga.EdgeTask}, {plain, saga.GraphTask}, {links, saga.LinkTask}, {typed, saga.VertexTask}, {typedLinks(t, "author:writes:paper"), saga.LinkTask}}
	r := rand.New(rand.NewSource(7))
	one := func(list ...string) string { return list[r.Intn(len(list))] }
	for i := range 2 * len(graphs) {
		g := graphs[i%len(graphs)]
		several := g.data.Vertices.Kinds != nil
		o := layers.Options{Features: g.data.FeatureCols, Hidden: 1 + r.Intn(9), Classes: 30, Layers: 1 + r.Intn(3), Heads: 2, Task: g.task, Readout: saga.ReadoutMean}
		if g.task == saga.VertexTask {
			o.Classes = g.data.Classes
		}
		o.Between = layers.Between{Norm: one("", "layer"), Residual: r.Intn(2) > 0, Jump: one("", "", layers.JumpCat, layers.JumpMax)}
		name := one("gcn", "sage", "gat")
		if several {
			name = one("sage", "rgcn")
		}
		m, err := layers.New(name, o)
		if err != nil {
			t.Fatal(err)
		}
		for k := range m.Layers {
			m.Layers[k].PerRelation = name == "sage" && several
		}
		m.Average = []float32{0, 0.1}[r.Intn(2)]
		c := saga.Config{Seed: 1, Device: []string{"cpu", "cuda", "cpu", "cpu:2"}[(i+i/len(graphs))%4], Without: []string{"invariant"}, Optimizer: saga.Optimizer{Kind: one("sgd", "adam")}}
		if c.Device == "cpu" {
			c.Without = nil
			if i == 4 { // a search takes long
				c.Machine = "h200"
			}
		}
		exact(t, fmt.Sprintf("%d: %s over %s, %+v", i, name, g.task, c), m, g.data, c)
	}
}

func exact(t *testing.T, at string, m saga.Model, d *dataset.Data, c saga.Config) {
	t.Helper()
	c.Mem = 1
	_, err := saga.Compile(m, d, c)
	var small, again *plan.BudgetError
	if !errors.As(err, &small) {
		t.Fatalf("%s: a byte of memory: %v", at, err)
	}
	c.Mem = small.Smallest
	if _, err := saga.Compile(m, d, c); err != nil {
		t.Errorf("%s: the smallest: %v", at, err)
	}
	for _, what := range []string{"logits", "hidden"} {
		if err := saga.PlanForward(m, d, c, what); err != nil && !(what == "hidden" && len(m.Layers) == 1) {
			t.Errorf("%s: %s with %d: %v", at, what, c.Mem, err)
		}
	}
	for _, c.Mem = range []int64{small.Smallest - 1, small.Smallest - small.Smallest/100} {
		if _, err := saga.Compile(m, d, c); !errors.As(err, &again) || again.Smallest != small.Smallest {
			t.Errorf("%s: the smallest is %d, and %d gives %v", at, small.Smallest, c.Mem, err)
		}
	}
}
