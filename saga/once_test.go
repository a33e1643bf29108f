package saga_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// What is computed once for training and for evaluation may be planned with different
// numbers of intervals, each with its own order of the vertices: with every budget the
// losses are the same.
func TestInvariantsOfTwoPlans(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 3000, Edges: 30000, Features: 64, Classes: 4, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	m := saga.Model{Name: "two", Layers: []saga.Layer{{
		Name:        "mean",
		ApplyEdge:   func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
		Gather:      saga.Mean,
		ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return v.Accum },
	}, {
		Name:      "list",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Dropout(e.Src, 0.5) },
		Gather:    saga.Concat(4),
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.MatMul(v.Accum, p.Weight("W", 256, 4))
		},
	}}}
	var first *saga.Result
	for _, mem := range []int64{0, 3_000_000, 1_700_000, 1_100_000} {
		p, err := saga.Compile(m, d, saga.Config{Mem: mem, Epochs: 2, Save: "some"})
		if err != nil {
			t.Fatalf("%d bytes: %v", mem, err)
		}
		r, err := p.Train(context.Background(), saga.TrainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
		if math.Abs(r.Loss-first.Loss) > 1e-4 || math.Abs(r.Final.Test.Loss-first.Final.Test.Loss) > 1e-4 {
			t.Errorf("%d bytes: losses %g and %g, without a bound %g and %g", mem, r.Loss, r.Final.Test.Loss, first.Loss, first.Final.Test.Loss)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Without balance vertices keep their order, without degree-sort inside intervals, and the
// losses stay.
func TestWithoutBalance(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 300, Edges: 3000, Features: 8, Classes: 4, Seed: 3, Skew: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	m := saga.Model{Name: "one", Layers: []saga.Layer{{
		Name:        "mean",
		ApplyEdge:   func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
		Gather:      saga.Mean,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor { return ops.MatMul(v.Accum, p.Weight("W", 8, 4)) },
	}}}
	var losses []float64
	for _, without := range [][]string{nil, {"balance"}, {"degree-sort"}} {
		p, err := saga.Compile(m, d, saga.Config{Chunks: 4, Without: without})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		loss, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
	}
	if math.Abs(losses[0]-losses[1]) > 1e-5 || math.Abs(losses[0]-losses[2]) > 1e-5 {
		t.Errorf("losses %v", losses)
	}
}

// The smallest budget that an error names does, with what a machine keeps for itself; and
// auto finds the save policy that needs least.
func TestSmallestOnMachine(t *testing.T) {
	s := saga.Shape{Vertices: 5e6, Edges: 1e8, Features: 128, Classes: 172}
	m := saga.Model{Name: "one", Layers: []saga.Layer{{
		Name: "g",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.Mul(ops.Sigmoid(ops.MatMul(e.Dst, p.Weight("W_C", 128, 128))), e.Src)
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.MatMul(v.Accum, p.Weight("W", 128, 172))
		},
	}}}
	c := saga.Config{Machine: "h200", Schedule: plan.Auto, Mem: 700e6}
	_, err := saga.Plan(m, s, c)
	var small *plan.BudgetError
	if !errors.As(err, &small) || small.Budget != c.Mem {
		t.Fatalf("700 MB: %v", err)
	}
	c.Mem = small.Smallest
	if _, err := saga.Plan(m, s, c); err != nil {
		t.Errorf("the smallest budget, %d bytes: %v", c.Mem, err)
	}
	if _, err := saga.Plan(m, s, saga.Config{Chunks: 100000}); err == nil || !strings.Contains(err.Error(), "number of chunks 100000") {
		t.Errorf("100000 intervals: %v", err)
	}
}
