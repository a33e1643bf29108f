package saga_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
	"sagann/sample"
)

// updated is what vectors of edges become, of rows of their ends and, unless it is nil, of what they were.
func updated(src, dst, data saga.Tensor, p saga.Params) saga.Tensor {
	y := ops.Add(ops.MatMul(src, p.Weight("US", src.Cols(), 4, saga.One)), ops.MatMul(dst, p.Weight("UD", dst.Cols(), 4, saga.One)))
	if data != nil {
		y = ops.Add(y, ops.MatMul(data, p.Weight("UE", data.Cols(), 4, saga.One)))
	}
	return ops.Tanh(ops.Scale(y, 0.1))
}

// updatingKinds is a model whose first layer updates the vectors of edges, which the second reads. Without update the second layer makes them
// itself, of the features, which the first one passes on beside its rows.
func updatingKinds(update bool, drop float32) saga.Model {
	const hidden = 6
	first := saga.Layer{
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), hidden))
		},
		Gather: saga.Mean,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			y := ops.Add(v.Accum, ops.MatMul(v.Self, p.Weight("R", v.Self.Cols(), hidden)))
			if !update {
				y = ops.Concat(y, v.Self)
			}
			return y
		},
	}
	if update {
		first.UpdateEdge = func(e saga.Edge, p saga.Params) saga.Tensor {
			return e.Dropout(updated(e.Src, e.Dst, e.Data, p), drop)
		}
	}
	return saga.Model{Name: fmt.Sprint("update ", update), Layers: []saga.Layer{first, {
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			src, data := e.Src, e.Data
			if !update {
				features := func(x saga.Tensor) saga.Tensor { return ops.Slice(x, hidden, x.Cols()-hidden) }
				src, data = ops.Slice(e.Src, 0, hidden), updated(features(e.Src), features(e.Dst), e.Data, p)
			}
			return ops.Mul(ops.MatMul(src, p.Weight("W", hidden, 3)), ops.MatMul(data, p.Weight("D", data.Cols(), 3)))
		},
		Gather: saga.Sum,
	}}}
}

// TestTypedUpdateEdge: vectors of edges that a layer updates, in each relation with weights of its own, are those that the next layer makes
// of the same rows: losses and gradients, in all plans; over blocks of all in-edges they are those of the full graph, with dropout, too.
func TestTypedUpdateEdge(t *testing.T) {
	_, d := typedData(t)
	for i := range d.Vertices.Kinds.Graph.Relations[:2] { // two relations have numbers from the beginning
		e := d.Vertices.Kinds.Graph.Relations[i].Links.Edges
		if e.DataCols = 2; len(e.Data) == 0 {
			for k := range 2 * e.E() {
				e.Data = append(e.Data, float32(k%5)/4)
			}
		}
	}
	want, slopes := stepsOf(t, updatingKinds(false, 0), d, saga.Config{}, nil, 3, "", "")
	all := &saga.Sampling{Sampler: sample.Neighbours(50, 50), Batch: 10000}
	check := func(at string, got []float64, grads map[string][]float32, want []float64, slopes map[string][]float32, rename func(string) string) {
		t.Helper()
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-5*(1+want[i])) {
				t.Fatalf("%s: %v, want %v", at, got, want)
			}
		}
		seen := 0
		for q, g := range grads {
			to := slopes[rename(q)]
			if len(to) != len(g) {
				t.Fatalf("%s: %s has %d gradients, %s %d", at, q, len(g), rename(q), len(to))
			}
			for i, x := range g {
				if seen++; !(math.Abs(float64(x-to[i])) <= 1e-5*(1+math.Abs(float64(x)))) {
					t.Fatalf("%s: the gradient of %s is %v, want %v", at, q, g, to)
				}
			}
		}
		if seen < 100 {
			t.Errorf("%s: %d gradients", at, seen)
		}
	}
	inSecond := func(name string) string {
		if strings.Contains(name, ".U") {
			return strings.Replace(name, "layer1", "layer2", 1)
		}
		return name
	}
	m := updatingKinds(true, 0)
	small := smallestOf(t, m, d, saga.Config{})
	for _, c := range []saga.Config{{}, {Chunks: 7, Stream: true}, {Chunks: 8, Device: "cpu:2"}, {Mem: small}} {
		got, grads := stepsOf(t, m, d, c, nil, 3, "", "")
		check(fmt.Sprintf("%+v", c), got, grads, want, slopes, inSecond)
	}
	got, grads := stepsOf(t, m, d, saga.Config{}, all, 3, "", "")
	check("blocks", got, grads, want, slopes, inSecond)

	m = updatingKinds(true, 0.4)
	want, slopes = stepsOf(t, m, d, saga.Config{}, nil, 3, "", "")
	got, grads = stepsOf(t, m, d, saga.Config{}, all, 3, "", "")
	check("blocks, dropout", got, grads, want, slopes, func(name string) string { return name })
}

// TestTypedUpdateEdgeHead: the head of labels of edges reads what the last layer made of their vectors, over the full graph and batches.
func TestTypedUpdateEdgeHead(t *testing.T) {
	d := typedEdges(t, "author:writes:paper", false)
	last := func(p saga.Params, x saga.Tensor) saga.Tensor { return ops.MatMul(x, p.Weight("C", x.Cols(), 3)) }
	m := saga.Model{Name: "head", Task: saga.EdgeTask, Layers: []saga.Layer{layers.SAGE(0, 6, ops.ReLU), layers.SAGE(0, 3, nil)},
		EdgeHead: func(e saga.Edge, p saga.Params) saga.Tensor { return last(p, e.Data) }}
	for i := range 2 {
		m.Layers[i].PerRelation = true
	}
	m.Layers[1].UpdateEdge = func(e saga.Edge, p saga.Params) saga.Tensor { return updated(e.Src, e.Dst, e.Data, p) }
	want, slopes := stepsOf(t, m, d, saga.Config{}, nil, 3, "", "")
	if want[0] == want[1] || slopes["layer2.writes.US"] == nil && slopes["layer2.author:writes:paper.US"] == nil {
		t.Fatalf("losses %v; gradients of %d parameters", want, len(slopes))
	}
	for k, c := range []saga.Config{{Chunks: 8, Device: "cpu:2"}, {}} {
		var s *saga.Sampling
		if k == 1 {
			s = &saga.Sampling{Sampler: sample.Neighbours(50, 50), Batch: 10000}
		}
		got, _ := stepsOf(t, m, d, c, s, 3, "", "")
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-5*(1+want[i])) {
				t.Errorf("%+v: %v, want %v", c, got, want)
			}
		}
	}
}
