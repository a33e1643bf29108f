package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// graphs are small graphs with everything that a layer may use on their edges.
func graphs(t *testing.T) map[string]*dataset.Data {
	t.Helper()
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 300, Edges: 2400, Features: 10, Classes: 4, Seed: 3, Skew: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	e := d.Edges
	e.Types, e.DataCols = 3, 2
	for k := range e.E() {
		e.Weight = append(e.Weight, float32(1+k%4)/8)
		e.Type = append(e.Type, uint32(k%3))
		e.Data = append(e.Data, float32(k%5)-2, float32(k%7)/7)
	}
	return map[string]*dataset.Data{"karate": dataset.Karate(), "synthetic": d}
}

func newModel(t *testing.T, name string, d *dataset.Data, dropout float32) saga.Model {
	t.Helper()
	m, err := New(name, Options{Features: d.FeatureCols, Hidden: 8, Classes: d.Classes, Layers: 2, Heads: 3, OutHeads: 2,
		Dropout: dropout, AttentionDropout: dropout})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// epochs trains m and returns the losses.
func epochs(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config, n int) []float32 {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	var losses []float32
	for range n {
		loss, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, float32(loss))
	}
	s, err := p.Evaluate()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{s.Train.Loss, s.Val.Loss, s.Test.Loss} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x <= 0 {
			t.Errorf("evaluation gives a loss of %v", x)
		}
		losses = append(losses, float32(x))
	}
	return losses
}

// Every model learns, and its losses in training and evaluation are the same for four
// intervals, with memory for all and streamed through the least that does, also when
// entries are dropped.
func TestModelsTrain(t *testing.T) {
	for at, d := range graphs(t) {
		for _, name := range Names() {
			for _, dropout := range []float32{0, 0.4} {
				t.Run(fmt.Sprintf("%s/%s/dropout=%v", at, name, dropout), func(t *testing.T) {
					t.Parallel()
					const n = 8
					m := newModel(t, name, d, dropout)
					c := saga.Config{Seed: 5, Chunks: 1, Optimizer: saga.Optimizer{LR: 0.01}}
					want := epochs(t, m, d, c, n)
					if dropout == 0 && !(want[n-1] < want[0]) {
						t.Errorf("the loss does not fall: %v", want[:n])
					}
					c.Chunks = 4
					compare(t, "losses of four intervals", epochs(t, m, d, c, n), want, 1e-4)
					c.Stream, c.Prefetch = true, 1
					c.Mem = smallest(t, m, d, c)
					compare(t, "losses of four streamed intervals", epochs(t, m, d, c, n), want, 1e-4)
				})
			}
		}
	}
}

// Any budget from the smallest on does, whatever it lets the planner keep resident.
func TestModelsFitBudgets(t *testing.T) {
	d := graphs(t)["synthetic"]
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t, name, d, 0.4)
			c := saga.Config{Seed: 5}
			want := epochs(t, m, d, c, 2)
			least := smallest(t, m, d, c)
			for _, factor := range []float64{1, 1.3, 2.5, 8} {
				c.Mem = int64(float64(least) * factor)
				compare(t, fmt.Sprintf("losses within %d bytes", c.Mem), epochs(t, m, d, c, 2), want, 1e-4)
			}
		})
	}
}

// One layer and three do, too, and widths follow.
func TestModelDepths(t *testing.T) {
	d := graphs(t)["synthetic"]
	for _, name := range Names() {
		for _, n := range []int{1, 3} {
			m, err := New(name, Options{Features: d.FeatureCols, Hidden: 5, Classes: d.Classes, Layers: n})
			if err != nil {
				t.Fatal(err)
			}
			own := map[string]bool{} // without those behind appnp's, and linear ones around
			for i, l := range m.Layers {
				if l.Name != propagation && l.Scope != "input" && l.Scope != "output" {
					own[cmp.Or(l.Scope, fmt.Sprint("layer", i+1))] = true
				}
			}
			if slices.Contains(Reading(ReadsLayers), name) && len(own) != n {
				t.Errorf("%s: %d layers, want %d", name, len(own), n)
			}
			epochs(t, m, d, saga.Config{}, 1)
		}
	}
}
