package saga_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// ownLayer is a layer as users write them: a message, a gather, and what a vertex makes of it.
func ownLayer(r *rand.Rand, width int) saga.Layer {
	act := oneOf(r, ops.ReLU, ops.Tanh, ops.ELU, func(x saga.Tensor) saga.Tensor { return x })
	message, after := r.IntN(4), r.IntN(4)
	l := saga.Layer{Name: "own", Gather: oneOf(r, saga.Max, saga.Min, saga.Sum, saga.Mean),
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			h := ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), width))
			switch message {
			case 1:
				h = ops.ReLU(ops.Add(h, ops.MatMul(e.Dst, p.Weight("V", e.Dst.Cols(), width))))
			case 2:
				h = ops.RowScale(h, e.Weight)
			case 3:
				h = ops.Add(h, ops.MatMul(e.Data, p.Weight("D", e.Data.Cols(), width)))
			}
			return h
		},
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := v.Accum
			switch after {
			case 1:
				x = ops.Add(x, ops.MatMul(v.Self, p.Weight("S", v.Self.Cols(), width)))
			case 2:
				x = ops.Bias(x, p.Bias("b", width))
			case 3:
				x = ops.RowScale(x, ops.Inverse(ops.Shift(v.InDegree, 1)))
			}
			return act(x)
		}}
	if heads := 2 - width%2; r.IntN(5) == 0 {
		l.Gather = saga.SoftmaxSum
		l.Score = func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.LeakyReLU(ops.Add(ops.MatMul(e.Src, p.Weight("A", e.Src.Cols(), heads)), ops.MatMul(e.Dst, p.Weight("B", e.Dst.Cols(), heads))), 0.2)
		}
	}
	return l
}

// randomModel is a model of layers of one's own, or a ready one.
func randomModel(r *rand.Rand, features, hidden int) (m saga.Model, err error) {
	if r.IntN(2) == 0 {
		m = saga.Model{Name: "own", SelfLoops: r.IntN(3) == 0}
		for range r.IntN(3) {
			m.Layers = append(m.Layers, ownLayer(r, hidden))
		}
		m.Layers = append(m.Layers, ownLayer(r, 3))
		return m, nil
	}
	name := oneOf(r, "gcn", "sage", "gat", "gatv2", "transformer", "gin", "gine", "ggnn", "resgated", "mpgcn", "rgcn", "film", "tag", "cg", "gen", "pna", "graphconv")
	return layers.New(name, layers.Options{Features: features, Hidden: hidden, Classes: 3, Layers: 1 + r.IntN(3), Heads: 1 + r.IntN(3), EdgeData: 3, EdgeTypes: 3, Bias: r.IntN(2) == 0,
		AttentionDropout: oneOf[float32](r, 0, 0.4), Between: layers.Between{Norm: oneOf(r, "", "batch", "layer")}})
}

// randomGraph has weights, types and numbers of edges, and perhaps a vertex with a third of the edges.
func randomGraph(t *testing.T, r *rand.Rand, features int) *dataset.Data {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 20 + r.IntN(60), Edges: 60 + r.IntN(500), Features: features, Classes: 3, Seed: r.Uint64()})
	if err != nil {
		t.Fatal(err)
	}
	hub := r.IntN(3) == 0
	e := &chunk.Edges{V: d.Edges.V, Src: d.Edges.Src, Dst: d.Edges.Dst, Types: 3, DataCols: 3}
	for i := range e.Src {
		if hub && i%3 == 0 {
			e.Dst[i] = 1
		}
		e.Weight, e.Type = append(e.Weight, r.Float32()+0.1), append(e.Type, r.Uint32N(3))
		for range e.DataCols {
			e.Data = append(e.Data, float32(r.NormFloat64()))
		}
	}
	d.Edges = e
	return d
}

// TestGPURandom: random models, layers of one's own among them, have on a GPU the loss, logits and gradients of the CPU, resident and streamed, whatever the plan.
// Soak runs them on an emulated GPU.
func TestGPURandom(t *testing.T) {
	on, cases := os.Getenv("SAGANN_DEVICE"), 24
	if !device.IsGPU(on) {
		if on, cases = "", 8; !draw.Soak() {
			t.Skip("SAGANN_DEVICE names no GPU, and emulation is slow")
		}
	}
	for k := range cases {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			r := rand.New(rand.NewPCG(draw.Seed(t), 1))
			features, hidden := oneOf(r, 3, 8, 17, 64), oneOf(r, 3, 4, 8, 12, 16, 33, 64)
			d := randomGraph(t, r, features)
			m, err := randomModel(r, features, hidden)
			if err != nil {
				t.Fatal(err)
			}
			c := saga.Config{Seed: 3, Without: []string{"invariant"}, Outputs: []string{"logits"}, Chunks: 1 + r.IntN(5), Stream: r.IntN(3) == 0, Save: oneOf(r, "all", "none", "some"), Schedule: oneOf(r, "sag", "stage", "dest-order")}
			if r.IntN(3) == 0 {
				c.Machine, c.Chunks, c.Save, c.Schedule = "h200", 0, "", ""
			}
			t.Logf("%s, %d features, %d columns, %d intervals, stream %v, save %s, %s, machine %s", m.Name, features, hidden, c.Chunks, c.Stream, c.Save, c.Schedule, c.Machine)
			gpu := c
			c.Machine, c.Stream, gpu.Device = "", false, "cuda"
			if on != "" {
				gpu.Device, gpu.Mem = on, 2<<30
			}
			want, got := stepped(t, m, d, c, false), stepped(t, m, d, gpu, on == "")
			most := 0.0
			for _, x := range want {
				for _, y := range x {
					most = max(most, math.Abs(float64(y)))
				}
			}
			for name, x := range want {
				own := 1e-2 * most // gradients of what a softmax does not depend on are rounding
				for _, y := range x {
					own = max(own, math.Abs(float64(y)))
				}
				for i, y := range x {
					if !(math.Abs(float64(y)-float64(got[name][i])) <= 5e-4*own) {
						t.Errorf("%s: number %d is %v, on the CPU %v", name, i, got[name][i], y)
						break
					}
				}
			}
		})
	}
}

// stepped is the loss, the logits and the gradients of a step.
func stepped(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config, emulated bool) map[string][]float32 {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	if emulated {
		if err := p.OpenOn([]device.Device{cudatest.Steps(cudatest.Open(t, 0, p.DeviceBytes()+1<<20))}); err != nil {
			t.Fatal(err)
		}
	}
	loss, err := p.Step()
	if err != nil {
		t.Fatal(err)
	}
	z, _, err := p.Output("logits")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float32{"loss": {float32(loss)}, "logits": z}
	for _, q := range p.Params() {
		if g, err := p.Grad(q.Name); err == nil {
			all["the gradient of "+q.Name] = g
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}
