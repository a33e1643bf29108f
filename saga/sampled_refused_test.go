package saga_test

import (
	"strings"
	"testing"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
	"sagann/sample"
)

// TestDegreesOfTheDeepest: a layer below the first one that gathers reads InDegree. No edges are drawn to the vertices there,
// so sampled training and evaluation by sampling refuse it; over the whole graph, and in later layers, it works.
func TestDegreesOfTheDeepest(t *testing.T) {
	d := dataset.Karate()
	dense := func(in, out int, degree bool) saga.Layer {
		return saga.Layer{Name: "dense", ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			y := ops.MatMul(v.Self, p.Weight("W", in, out))
			if degree {
				y = ops.Add(y, ops.Widen(v.InDegree, out))
			}
			return y
		}}
	}
	gather := func(acc saga.Accumulator) saga.Layer {
		return saga.Layer{Name: "mean", Gather: acc, ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src }}
	}
	for _, c := range []struct {
		name    string
		layers  []saga.Layer
		sampler sample.Sampler
		refused string
	}{
		{"first", []saga.Layer{dense(34, 4, true), gather(saga.Mean), dense(4, 2, false)}, sample.Neighbours(3), "layer 1 reads InDegree"},
		{"second", []saga.Layer{dense(34, 4, false), dense(4, 4, true), gather(saga.Sum), dense(4, 2, false)}, sample.Neighbours(3), "layers 1 to 2 reads InDegree"},
		{"subgraphs", []saga.Layer{dense(34, 4, true), gather(saga.Mean), dense(4, 2, false)}, sample.SAINT(2), "layer 1 reads InDegree"},
		{"last", []saga.Layer{dense(34, 4, false), gather(saga.Mean), dense(4, 2, true)}, sample.Neighbours(3), ""},
		{"between", []saga.Layer{gather(saga.Mean), dense(34, 4, true), gather(saga.Mean), dense(4, 2, false)}, sample.Neighbours(3, 3), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := saga.Model{Name: "degrees", Layers: c.layers}
			step := func(p *saga.Program, err error) error {
				if err != nil {
					return err
				}
				defer p.Close()
				_, err = p.Step()
				return err
			}
			if err := step(saga.Compile(m, d, saga.Config{})); err != nil {
				t.Errorf("over the whole graph: %v", err)
			}
			err := step(saga.CompileSampled(m, d, saga.Config{}, saga.Sampling{Sampler: c.sampler, Batch: 2}))
			switch {
			case c.refused == "" && err != nil:
				t.Error(err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("sampled: %v, want %q", err, c.refused)
			}
		})
	}
}

// TestSumsInTheHead: in sampled training an EdgeHead sees the pairs of a batch only, so sums over the in-edges of a vertex are
// refused there, wherever they are written.
func TestSumsInTheHead(t *testing.T) {
	d := dataset.Karate()
	d.EdgeLabels = make([]int32, d.Edges.E())
	for e := range d.EdgeLabels {
		d.EdgeLabels[e] = int32(e % 2)
		d.EdgeSplit.Train = append(d.EdgeSplit.Train, uint32(e))
	}
	message := saga.Layer{Name: "mean", Gather: saga.Mean, ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor { return ops.MatMul(e.Src, p.Weight("W", 34, 4)) }}
	score := func(e saga.Edge, p saga.Params) saga.Tensor { return ops.MatMul(e.Dst, p.Weight("S", 4, 1)) }
	logits := func(e saga.Edge, p saga.Params) saga.Tensor {
		return ops.MatMul(ops.Mul(e.Src, e.Dst), p.Weight("W", 4, 2))
	}
	soft := message
	soft.UpdateEdge = func(e saga.Edge, p saga.Params) saga.Tensor {
		return e.Softmax(ops.MatMul(e.Src, p.Weight("U", 34, 1)))
	}
	for _, c := range []struct {
		name    string
		layer   saga.Layer
		head    func(e saga.Edge, p saga.Params) saga.Tensor
		refused bool
	}{
		{"none", message, logits, false},
		{"softmax", message, func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.RowScale(logits(e, p), e.Softmax(score(e, p)))
		}, true},
		{"sum", message, func(e saga.Edge, p saga.Params) saga.Tensor { return dataflow.ScatterDst(ops.Sum(logits(e, p))) }, true},
		{"max", message, func(e saga.Edge, p saga.Params) saga.Tensor { return dataflow.ScatterDst(ops.Max(logits(e, p))) }, true},
		{"softmax of an update", soft, func(e saga.Edge, p saga.Params) saga.Tensor { return ops.RowScale(logits(e, p), e.Data) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := saga.Model{Name: "pairs", Task: saga.EdgeTask, Layers: []saga.Layer{c.layer}, EdgeHead: c.head}
			p, err := saga.Compile(m, d, saga.Config{})
			if err != nil {
				t.Fatalf("over the whole graph: %v", err)
			}
			p.Close()
			p, err = saga.CompileSampled(m, d, saga.Config{}, saga.Sampling{Sampler: sample.Neighbours(40), Batch: 9})
			switch {
			case err == nil:
				p.Close()
				if c.refused {
					t.Error("sampled training takes it")
				}
			case !c.refused || !strings.Contains(err.Error(), "sampled_refused_test.go") || !strings.Contains(err.Error(), "over the edges of the head"):
				t.Error(err)
			}
		})
	}
}
