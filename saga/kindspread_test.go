package saga_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/dataset"
	"sagann/saga"
)

// TestEstimateChoosesKinds: over several types, too, statistics of degrees choose about as well as real cells, which are counted for one number of
// intervals alone.
func TestEstimateChoosesKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	vertices := []int{9000, 5000, 300}
	h := &dataset.Hetero{Name: "drawn"}
	for i, name := range []string{"author", "paper", "venue"} {
		d := &dataset.Data{Name: name, Edges: &chunk.Edges{V: vertices[i]}, FeatureCols: 64, Features: make([]float32, 64*vertices[i])}
		if name == "paper" {
			d.Labels, d.Classes, d.Train = make([]int32, vertices[i]), 3, []uint32{0, 1, 2}
		}
		h.Types = append(h.Types, dataset.VertexType{Name: name, Rows: d})
	}
	for _, r := range []struct {
		src, dst, edges int
		name            string
	}{{0, 1, 60000, "writes"}, {1, 1, 40000, "cites"}, {1, 0, 60000, "written by"}, {2, 1, 5000, "has"}} {
		e := &chunk.Edges{V: max(vertices[r.src], vertices[r.dst])}
		for range r.edges {
			x := rng.Float64() // few vertices have many edges
			e.Src, e.Dst = append(e.Src, uint32(x*x*float64(vertices[r.src]))), append(e.Dst, uint32(rng.IntN(vertices[r.dst])))
		}
		h.Relations = append(h.Relations, dataset.Relation{Source: r.src, Name: r.name, Target: r.dst, Links: &dataset.Data{Name: r.name, Edges: e}})
	}
	machine, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	m := typedModels()[1]
	c := saga.Config{Seed: 1, Machine: "h200", Schedule: plan.Sag, Without: []string{"invariant"}, Outcome: saga.Outcome{Slices: 1}}
	c.Mem = 5<<20 + int64(machine.Kind(0).Memory.Value) - machine.Budget(0)
	all, err := saga.Compile(m, h.At(1), c)
	if err != nil {
		t.Fatal(err)
	}
	restore := saga.EstimateFrom(1)
	p, err := saga.Compile(m, h.At(1), c)
	restore()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := p.Predicted().Seconds(), all.Predicted().Seconds(); a > 1.1*b {
		t.Errorf("%g s with %d intervals, %g with %d by real cells", a, p.TrainPlan().Cells.P, b, all.TrainPlan().Cells.P)
	}
	for _, n := range []int{1, 64} { // relations are counted side by side if they are at least twice as many as processors
		was := runtime.GOMAXPROCS(n)
		x, err := saga.Compile(m, h.At(1), c)
		runtime.GOMAXPROCS(was)
		if err != nil {
			t.Fatal(err)
		}
		if x.Digest() != all.Digest() || x.Predicted().Wall != all.Predicted().Wall {
			t.Errorf("%d processors: another plan, %v where %v was", n, x.Predicted(), all.Predicted())
		}
	}
	if p.Measured() > 2 || all.Measured() < 5 {
		t.Errorf("%d numbers of intervals measured, %d without statistics", p.Measured(), all.Measured())
	}
	if p.TrainPlan().H2D == 0 {
		t.Error("the plan copies nothing: a smaller budget is needed")
	}
}
