package cuda

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// agree trains m for ten epochs on the CPU and twice on the GPU. The GPU's runs have the
// same bits; the losses of the first epochs are the CPU's.
func agree(t *testing.T, m saga.Model, d *dataset.Data, epochs int) {
	t.Helper()
	for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 4, Stream: true}} {
		c.Seed, c.Device = 1, "cpu"
		cpu := steps(t, m, d, c)
		c.Device = "cuda"
		gpu, again := steps(t, m, d, c), steps(t, m, d, c)
		for i := range cpu {
			if gpu[i] != again[i] {
				t.Fatalf("losses %v and %v of two runs", gpu, again)
			}
			if i < epochs && !(math.Abs(gpu[i]-cpu[i]) <= 1e-3*math.Abs(cpu[i])) {
				t.Errorf("P=%d: CPU %v\nGPU %v", c.Chunks, cpu, gpu)
				break
			}
		}
	}
}

// TestRowOps has what no built-in model uses: layer_norm, l2_normalize, and a loss on
// several labels a vertex.
func TestRowOps(t *testing.T) {
	needGPU(t)
	layer := func(in, out int, norm func(saga.Tensor) saga.Tensor) saga.Layer {
		return saga.Layer{Name: "normed",
			ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
			Gather:    saga.Mean,
			ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
				return norm(ops.MatMul(v.Accum, p.Weight("W", in, out)))
			}}
	}
	for name, norm := range map[string]func(saga.Tensor) saga.Tensor{
		"layer_norm":   func(x saga.Tensor) saga.Tensor { return ops.LayerNorm(x, 1e-5) },
		"l2_normalize": ops.L2Normalize} {
		for _, labels := range []string{"one", "several", "some known"} {
			d := graph(t)
			if labels != "one" {
				d.MultiLabels = make([]float32, len(d.Labels)*d.Classes)
				for v, c := range d.Labels {
					d.MultiLabels[v*d.Classes+int(c)], d.MultiLabels[v*d.Classes+(v+1)%d.Classes] = 1, 1
					if labels == "some known" {
						d.MultiLabels[v*d.Classes+(v+2)%d.Classes] = dataset.Unknown
					}
				}
				d.Labels = nil
			}
			t.Run(name, func(t *testing.T) {
				agree(t, saga.Model{Name: name, Layers: []saga.Layer{layer(d.FeatureCols, 37, norm),
					layer(37, d.Classes, func(x saga.Tensor) saga.Tensor { return x })}}, d, 11)
			})
		}
	}
}

// TestHubs trains on a graph whose largest rows are split over warps, and with heads
// that lie with their columns. Sums over thousands of edges make training unstable: the
// CPU's own losses of two plans part after a few epochs.
func TestHubs(t *testing.T) {
	needGPU(t)
	d := graph(t)
	g := drawCSR("skewed", d.Edges.V, d.Edges.E(), true)
	i := 0
	for v := range d.Edges.V {
		for _, u := range g.other[g.ptr[v]:g.ptr[v+1]] {
			d.Edges.Src[i], d.Edges.Dst[i] = u, uint32(v)
			if i%3 == 0 { // one row of a third of the edges
				d.Edges.Dst[i] = 77
			}
			if i%3 == 1 {
				d.Edges.Src[i] = 78
			}
			i++
		}
	}
	for _, name := range []string{"gcn", "resgated", "mpgcn", "gat", "ggnn"} {
		for _, hidden := range []int{8, 64} {
			m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: hidden, Classes: d.Classes, Layers: 2,
				Heads: 8, AttentionDropout: 0.3})
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) { agree(t, m, d, 3) })
		}
	}
}
