package layers

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/kernel"
	"sagann/ops"
	"sagann/saga"
)

// TestGathers holds models with several gathers, other messages, rows of earlier layers and a loss of their own
// against formulas in float64.
func TestGathers(t *testing.T) {
	d := graphs(t)["synthetic"]
	x := make([]float64, len(d.Features))
	for i, f := range d.Features {
		x[i] = float64(f)
	}
	gcn := func(in, out int) saga.Layer { return GCN(in, out, saga.Edge.SymNorm, nil) }
	conv := func(m *plain, x []float64, in int, scope string) []float64 {
		return m.matmul(m.appnp(x, in, 1, 0), in, scope+".W")
	}
	for name, tc := range map[string]struct {
		model   saga.Model
		gathers int
		loss    func(m *plain) float64
	}{
		"jumping knowledge": {saga.Model{Layers: []saga.Layer{gcn(10, 6), gcn(6, 5), {Name: "jk", ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			y := ops.Concat(v.Rows(0), v.Rows(1), v.Rows(2))
			return ops.MatMul(y, p.Weight("W", y.Cols(), 4))
		}}}}, 2, func(m *plain) float64 {
			one := conv(m, x, 10, "layer1")
			two := conv(m, one, 6, "layer2")
			var all []float64
			for v := range d.Edges.V {
				all = append(append(append(all, x[v*10:(v+1)*10]...), one[v*6:(v+1)*6]...), two[v*5:(v+1)*5]...)
			}
			return m.loss(m.matmul(all, 21, "layer3.W"))
		}},
		"earlier rows at both ends": {saga.Model{Layers: []saga.Layer{gcn(10, 4), {Name: "ends", ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.Mul(e.Src, ops.MatMul(ops.Sub(e.SrcRows(0), e.DstRows(0)), p.Weight("W", 10, 4)))
		}, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			other := v.GatherOf(saga.Mean, func(e saga.Edge, p saga.Params) saga.Tensor { return ops.MatMul(e.SrcRows(0), p.Weight("W", 10, 4)) })
			return ops.Add(v.Accum, other)
		}}}}, 2, func(m *plain) float64 {
			one, z := conv(m, x, 10, "layer1"), m.matmul(x, 10, "layer2.W")
			y, degree := make([]float64, d.Edges.V*4), d.Edges.InDegrees()
			for k, v := range d.Edges.Dst {
				u := int(d.Edges.Src[k])
				for c := range 4 {
					y[int(v)*4+c] += one[u*4+c]*(z[u*4+c]-z[int(v)*4+c]) + z[u*4+c]/float64(degree[v])
				}
			}
			return m.loss(y)
		}},
		"a loss of its own": {saga.Model{Layers: []saga.Layer{gcn(10, 4)}, Loss: saga.Loss{Func: func(logits, labels, weight saga.Tensor) saga.Tensor {
			return ops.RowScale(ops.RowSum(ops.Square(ops.Sub(logits, ops.Widen(labels, 4)))), weight)
		}}}, 1, func(m *plain) float64 {
			y, sum := conv(m, x, 10, "layer1"), 0.0
			for _, v := range d.Train {
				for c := range 4 {
					sum += math.Pow(y[int(v)*4+c]-float64(d.Labels[v]), 2)
				}
			}
			return sum / float64(len(d.Train))
		}},
	} {
		asFormula(t, name, tc.model, d, tc.gathers, tc.loss)
	}
}

// TestGathersRefused: what a function asks for and a layer does not have is an error with the layer and the line.
func TestGathersRefused(t *testing.T) {
	d := graphs(t)["karate"]
	edge := func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src }
	vertex := func(f func(v saga.Vertex) saga.Tensor) saga.Layer {
		return saga.Layer{Name: "x", ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return f(v) }}
	}
	with := func(l saga.Layer) saga.Layer { l.ApplyEdge = edge; return l }
	for what, l := range map[string]saga.Layer{
		"After and a layer without ApplyEdge have no messages": vertex(func(v saga.Vertex) saga.Tensor { return v.Gather(saga.Max) }),
		"After and a layer without ApplyEdge read no edges":    vertex(func(v saga.Vertex) saga.Tensor { return v.GatherOf(saga.Max, edge) }),
		"1: this layer can read the rows behind layers 0":      vertex(func(v saga.Vertex) saga.Tensor { return v.Rows(1) }),
		"the field Score is missing":                           with(vertex(func(v saga.Vertex) saga.Tensor { return v.Gather(saga.SoftmaxSum) })),
		"the message must have one row per edge": with(vertex(func(v saga.Vertex) saga.Tensor {
			return v.GatherOf(saga.Sum, func(saga.Edge, saga.Params) saga.Tensor { return v.Self })
		})),
		"the field Score is read by Gather: SoftmaxSum only": {Name: "x", ApplyEdge: edge, Score: edge, ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return v.Accum }},
	} {
		_, err := saga.Compile(saga.Model{Layers: []saga.Layer{l}}, d, saga.Config{})
		var layer *saga.LayerError
		if !errors.As(err, &layer) || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want %q", err, what)
		}
	}
	m := saga.Model{Layers: []saga.Layer{Linear(d.FeatureCols, d.Classes, nil)}}
	for what, f := range map[string]func(logits, labels, weight saga.Tensor) saga.Tensor{
		"does not read weight": func(x, _, _ saga.Tensor) saga.Tensor { return ops.RowSum(x) },
		"reads neither":        func(_, y, w saga.Tensor) saga.Tensor { return ops.RowScale(y, w) },
		"one number for each":  func(x, _, w saga.Tensor) saga.Tensor { return ops.RowScale(x, w) },
		"returned nil":         func(_, _, _ saga.Tensor) saga.Tensor { return nil },
		"panic: oh":            func(_, _, _ saga.Tensor) saga.Tensor { panic("oh") },
		"widths":               func(x, y, _ saga.Tensor) saga.Tensor { return ops.Add(x, ops.Concat(y, y, y)) },
	} {
		m.Loss.Func = f
		if _, err := saga.Compile(m, d, saga.Config{}); err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "gathers_test.go:") {
			t.Errorf("error %v, want %q", err, what)
		}
	}
}

// TestLogDegree: in-degrees 0, 1 and 3 of a graph of four vertices, the 0 counting as 1.
func TestLogDegree(t *testing.T) {
	e := &chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 3}, Dst: []uint32{1, 2, 2, 2}}
	if got, want := LogDegree(e), (3*math.Log(2)+math.Log(4))/4; math.Abs(float64(got)-want) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestOneSweep: the gathers of a layer that share a message read each edge once forward, and once backward. Forward they read one row an
// edge, backward the gradients of sums and of each maximum, and whom that is of.
func TestOneSweep(t *testing.T) {
	d := graphs(t)["synthetic"]
	gathers := []string{"mean", "sum", "max", "min", "std"}
	p, err := saga.Compile(saga.Model{Layers: []saga.Layer{PNA(10, 4, 1.5, nil, gathers...)}}, d, saga.Config{Without: []string{"invariant"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sweeps, read := 0, []int{}
	for _, ph := range p.TrainPlan().Spec.Phases {
		for _, s := range ph.Steps {
			if s.Kind == plan.Stream {
				sweeps++
				leaves := p.Kernels()[s.Calls[len(s.Calls)-1].Kernel].Leaves
				read = append(read, len(slices.DeleteFunc(slices.Clone(leaves), func(l kernel.Leaf) bool { return l.From != kernel.Other })))
			}
		}
	}
	if sweeps != 2 {
		t.Errorf("%d sweeps over the edges, want one forward and one backward", sweeps)
	}
	if !slices.Equal(read, []int{1, 6}) {
		t.Errorf("sweeps read %v rows an edge", read)
	}
}
