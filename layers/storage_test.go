package layers_test

import (
	"fmt"
	"math"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// storageModel is a model whose rows are wide enough to be packed.
func storageModel(t *testing.T, name string, d *dataset.Data, dropout float32) saga.Model {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 32, Classes: d.Classes, Layers: 2, Heads: 4, Dropout: dropout})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// firstStep is the loss and the gradients of one step.
func firstStep(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) (float64, map[string][]float32) {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	loss, err := p.Step()
	if err != nil {
		t.Fatal(err)
	}
	grads := map[string][]float32{}
	for _, q := range p.Params() {
		if g, err := p.Grad(q.Name); err == nil {
			grads[q.Name] = g
		}
	}
	return loss, grads
}

func TestStorageAccuracy(t *testing.T) {
	for graph, d := range map[string]*dataset.Data{"karate": dataset.Karate(),
		"synthetic": paperGraph(t, "vertices=400,edges=3000,features=24,classes=17,seed=3,skew=0.7")} {
		for _, name := range layers.Names() {
			t.Run(graph+"/"+name, func(t *testing.T) {
				m := storageModel(t, name, d, 0)
				for _, without := range [][]string{nil, {"invariant"}, {"invariant", "commute", "hoist", "factor", "recompute-on-load"}} {
					c := saga.Config{Seed: 5, Without: without}
					want, exact := firstStep(t, m, d, c)
					c.Storage = saga.StorageBF16
					got, grads := firstStep(t, m, d, c)
					worst := 0.0
					where := ""
					for name, w := range exact {
						most, off := 0.0, 0.0
						for i := range w {
							most += float64(w[i]) * float64(w[i])
							off += float64(grads[name][i]-w[i]) * float64(grads[name][i]-w[i])
						}
						most, off = math.Sqrt(most), math.Sqrt(off)
						if off > worst*most {
							worst, where = off/most, name
						}
					}
					t.Log(fmt.Sprintf("%v loss %.3g, gradients %.3g (%s), in 2^-8", without, math.Abs(got-want)/want*256, worst*256, where))
				}
			})
		}
	}
}
