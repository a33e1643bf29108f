package saga_test

import (
	"testing"
	"time"

	"sagann/internal/draw"
	"sagann/ops"
	"sagann/saga"
)

// Element-wise functions whose values are read twice at every level have a path for each
// choice: planning slices must not walk them all.
func TestSlicesOfDeepFunctions(t *testing.T) {
	const depth = 40
	deep := func(x saga.Tensor) saga.Tensor {
		for range depth {
			x = ops.Add(ops.Tanh(x), ops.Sigmoid(x))
		}
		return x
	}
	layer := func(edge bool) saga.Layer {
		return saga.Layer{
			Name: "deep",
			ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor {
				if edge {
					return deep(e.Src)
				}
				return e.Src
			},
			Gather: saga.Sum,
			ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
				x := v.Accum
				if !edge {
					x = deep(x)
				}
				return ops.MatMul(x, p.Weight("W", 64, 64))
			},
		}
	}
	for _, edge := range []bool{true, false} {
		for _, save := range []string{"some", saga.SaveNone} {
			m := saga.Model{Name: "deep", Layers: []saga.Layer{layer(edge), layer(edge), layer(edge)}}
			start := time.Now()
			p, err := saga.Plan(m, saga.Shape{Vertices: 600, Edges: 6000, Features: 64, Classes: 64}, saga.Config{Outcome: saga.Outcome{Slices: 2}, Save: save})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); draw.Soak() && took > 20*time.Second {
				t.Errorf("edge %v, save %s: planning took %v", edge, save, took)
			}
			if p.Slices() != 2 {
				t.Errorf("edge %v: %d slices", edge, p.Slices())
			}
		}
	}
	// Attention mixes a head's columns: nothing is sliced, and nothing says so.
	if p := planFull(t, "gat", saga.Config{Outcome: saga.Outcome{Slices: 4}, Mem: 4 << 30}); p.Slices() != 1 {
		t.Errorf("gat has %d slices", p.Slices())
	}
}

// Where whole rows would be read many times, slices are chosen.
func TestSlicesAreChosen(t *testing.T) {
	one := saga.Config{Outcome: saga.Outcome{Slices: 1}, Mem: 1 << 30}
	if !draw.Soak() {
		one.Chunks = 34 // less to choose
	}
	if p := planFull(t, "gcn", one); p.Slices() != 1 {
		t.Errorf("%d slices, 1 was asked for", p.Slices())
	}
	if p := planFull(t, "mpgcn", saga.Config{Mem: 2 << 30}); p.Slices() < 2 {
		t.Errorf("MP-GCN within 2 GiB gathers in %d slices", p.Slices())
	}
}
