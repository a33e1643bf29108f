package layers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
	"sagann/sample"
)

// plain computes models in float64 as their formulas stand, edge by edge.
type plain struct {
	d *dataset.Data
	p map[string][]float64
}

// matmul is x·W of rows of in columns.
func (m *plain) matmul(x []float64, in int, name string) []float64 {
	w := m.p[name]
	out := len(w) / in
	y := make([]float64, len(x)/in*out)
	for r := range len(x) / in {
		for k := range in {
			for c := range out {
				y[r*out+c] += x[r*in+k] * w[k*out+c]
			}
		}
	}
	return y
}

// gatv2 is a layer with heads side by side, or their mean.
func (m *plain) gatv2(x []float64, in, width, heads int, mean bool, scope string) []float64 {
	e, all := m.d.Edges, heads*width
	h, g := m.biased(m.matmul(x, in, scope+".W_src"), scope+".b_src"), m.biased(m.matmul(x, in, scope+".W_dst"), scope+".b_dst")
	a := m.p[scope+".a"]
	sums, out := make([]float64, e.V*heads), make([]float64, e.V*all)
	score := make([]float64, e.E()*heads)
	for k := range e.E() {
		for c := range all {
			z := h[int(e.Src[k])*all+c] + g[int(e.Dst[k])*all+c]
			score[k*heads+c/width] += max(z, 0.2*z) * a[c]
		}
	}
	for i, s := range score {
		sums[int(e.Dst[i/heads])*heads+i%heads] += math.Exp(s)
	}
	for k := range e.E() {
		for c := range all {
			v := int(e.Dst[k])
			out[v*all+c] += math.Exp(score[k*heads+c/width]) / sums[v*heads+c/width] * h[int(e.Src[k])*all+c]
		}
	}
	if !mean {
		return m.biased(out, scope+".b")
	}
	y := make([]float64, e.V*width)
	for i, z := range out {
		y[i/all*width+i%width] += z / float64(heads)
	}
	return m.biased(y, scope+".b")
}

// biased adds a bias to rows, if the model has it.
func (m *plain) biased(y []float64, name string) []float64 {
	if b := m.p[name]; b != nil {
		for k := range y {
			y[k] += b[k%len(b)]
		}
	}
	return y
}

// linear is x·W + b of rows of in columns.
func (m *plain) linear(x []float64, in int, scope string) []float64 {
	return m.biased(m.matmul(x, in, scope+".W"), scope+".b")
}

// appnp is linear layers of the names and steps behind them.
func (m *plain) appnp(x []float64, in, steps int, alpha float64, scopes ...string) []float64 {
	for i, s := range scopes {
		x = m.linear(x, in, s)
		in = len(m.p[s+".b"])
		if i < len(scopes)-1 {
			for k := range x {
				x[k] = max(x[k], 0)
			}
		}
	}
	e, h := m.d.Edges, x
	degree := e.InDegrees()
	for range steps {
		z := make([]float64, len(h))
		for i := range z {
			z[i] = alpha * h[i]
		}
		for k, u := range e.Src {
			v := e.Dst[k]
			if degree[u] == 0 {
				continue
			}
			n := (1 - alpha) / math.Sqrt(float64(degree[u])*float64(degree[v]))
			for c := range in {
				z[int(v)*in+c] += n * x[int(u)*in+c]
			}
		}
		x = z
	}
	return x
}

// rgcn is a layer whose messages are averaged by the type of their edge.
func (m *plain) rgcn(x []float64, in int, scope string) []float64 {
	e, out := m.d.Edges, len(m.p[scope+".b"])
	w, types := m.p[scope+".W"], max(1, e.Types)
	typ := func(k int) int {
		if e.Type == nil {
			return 0
		}
		return int(e.Type[k])
	}
	count := make([]float64, e.V*types)
	for k, v := range e.Dst {
		count[int(v)*types+typ(k)]++
	}
	y := m.biased(m.matmul(x, in, scope+".W_root"), scope+".b")
	for k, v := range e.Dst {
		for i := range in {
			for c := range out {
				y[int(v)*out+c] += x[int(e.Src[k])*in+i] * w[(typ(k)*in+i)*out+c] / count[int(v)*types+typ(k)]
			}
		}
	}
	return y
}

// loss is the mean cross-entropy over the training split.
func (m *plain) loss(logits []float64) float64 {
	c, sum := m.d.Classes, 0.0
	for _, v := range m.d.Train {
		row, all := logits[int(v)*c:int(v+1)*c], 0.0
		for _, z := range row {
			all += math.Exp(z)
		}
		sum += math.Log(all) - row[m.d.Labels[v]]
	}
	return sum / float64(len(m.d.Train))
}

// TestPlain holds losses and all gradients of models against formulas in float64; TestPyG has those of which PyTorch gives the values.
func TestPlain(t *testing.T) {
	d := graphs(t)["synthetic"]
	x := make([]float64, len(d.Features))
	for i, f := range d.Features {
		x[i] = float64(f)
	}
	linear := func(k int) string { return fmt.Sprint("layer", k) }
	attention := func(m *plain) float64 {
		h := m.gatv2(x, 10, 3, 2, false, "layer1")
		for i, z := range h {
			h[i] = max(z, math.Expm1(min(z, 0)))
		}
		return m.loss(m.gatv2(h, 6, 4, 3, true, "layer2"))
	}
	for name, tc := range map[string]struct {
		layers []saga.Layer
		loss   func(m *plain) float64
	}{
		"gatv2": {[]saga.Layer{GATv2(10, 3, 2, false, 0, ops.ELU), GATv2(6, 4, 3, true, 0, nil)}, attention},
		"appnp": {append([]saga.Layer{Linear(10, 6, ops.ReLU), Linear(6, 4, nil)}, APPNP(4, 3, 0.2)...), func(m *plain) float64 {
			return m.loss(m.appnp(x, 10, 3, 0.2, linear(1), linear(2)))
		}},
		"appnp, one step": {append([]saga.Layer{Linear(10, 4, nil)}, APPNP(4, 1, 0.1)...), func(m *plain) float64 {
			return m.loss(m.appnp(x, 10, 1, 0.1, linear(1)))
		}},
		"rgcn": {[]saga.Layer{RGCN(10, 6, nil), RGCN(6, 4, nil)}, func(m *plain) float64 { return m.loss(m.rgcn(m.rgcn(x, 10, "layer1"), 6, "layer2")) }},
		"sgc":  {SGC(10, 4, 3), func(m *plain) float64 { return m.loss(m.linear(m.appnp(x, 10, 3, 0), 10, "layer3")) }},
	} {
		asFormula(t, name, saga.Model{Layers: tc.layers}, d, 0, tc.loss)
	}
}

// asFormula holds the loss and all gradients of a model against a formula in float64 and its differences: in full memory, with Save
// all, streamed, on two devices and without passes. A model of so many gathers, if they are above 0, has in place of Save all a
// batch of everything. SAGANN_DEVICE names another device than the CPU for all but two devices.
func asFormula(t *testing.T, name string, model saga.Model, d *dataset.Data, gathers int, loss func(m *plain) float64) {
	var at, want map[string][]float64 // parameters, and the gradients there: those of all configurations, which begin alike
	for i, c := range []saga.Config{{}, {Save: saga.SaveAll}, {Chunks: 3, Stream: true}, {Chunks: 4, Device: "cpu:2", Save: saga.SaveNone}, {Chunks: 2, Without: []string{"hoist", "commute", "factor", "fuse", "invariant"}}} {
		t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
			c.Seed, c.Optimizer = 4, saga.Optimizer{Kind: "sgd", LR: 1e-20}
			c.Device = cmp.Or(c.Device, os.Getenv("SAGANN_DEVICE"))
			p, err := saga.Compile(model, d, c)
			if i == 1 && gathers > 0 {
				p, err = saga.CompileSampled(model, d, c, saga.Sampling{Sampler: sample.Neighbours(slices.Repeat([]int{everything}, gathers)...), Batch: len(d.Train)})
			}
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			got, err := p.Step()
			if err != nil {
				t.Fatal(err)
			}
			m := &plain{d, map[string][]float64{}}
			for _, q := range p.Params() {
				for _, w := range must(p.Param(q.Name))(t) {
					if max(w, -w) < 1e-15 {
						w = 0 // as it was before the step
					}
					m.p[q.Name] = append(m.p[q.Name], float64(w))
				}
			}
			compare(t, "loss", []float32{float32(got)}, []float32{float32(loss(m))}, 1e-5)
			if !reflect.DeepEqual(m.p, at) {
				at, want = maps.Clone(m.p), m.gradients(loss)
			}
			for _, q := range p.Params() {
				compare(t, "gradient of "+q.Name, must(p.Grad(q.Name))(t), narrow(want[q.Name]), 1e-4)
			}
		})
	}
}

// gradients are those of all parameters, by differences of the loss.
func (m *plain) gradients(loss func(*plain) float64) map[string][]float64 {
	all := map[string][]float64{}
	for name, w := range m.p {
		for i, at := range slices.Clone(w) {
			const h = 1e-6
			w[i] = at + h
			up := loss(m)
			w[i] = at - h
			all[name] = append(all[name], (up-loss(m))/(2*h))
			w[i] = at
		}
	}
	return all
}

func narrow(x []float64) (y []float32) {
	for _, v := range x {
		y = append(y, float32(v))
	}
	return y
}
