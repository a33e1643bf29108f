package layers

import (
	"testing"

	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// step compiles a model, sets parameters, and runs one step; logits and the program
// are for the caller, who need not close it.
func step(t *testing.T, d *dataset.Data, params map[string][]float32, l ...saga.Layer) (*saga.Program, []float32) {
	t.Helper()
	p, err := saga.Compile(saga.Model{Layers: l}, d, saga.Config{Outputs: []string{"logits"}, Seed: 9,
		Optimizer: saga.Optimizer{Kind: "sgd", LR: 1e-9}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, x := range params {
		if err := p.SetParam(name, x); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Step(); err != nil {
		t.Fatal(err)
	}
	logits, _, err := p.Output("logits")
	if err != nil {
		t.Fatal(err)
	}
	return p, logits
}

func param(t *testing.T, p *saga.Program, name string) []float32 {
	t.Helper()
	return must(p.Param(name))(t)
}

// columns takes columns at to at+n-1 of rows of the given width.
func columns(x []float32, width, at, n int) []float32 {
	var out []float32
	for ; len(x) > 0; x = x[width:] {
		out = append(out, x[at:at+n]...)
	}
	return out
}

// Heads do not see each other: h heads give what h layers of one head give, side by
// side, and as logits their mean.
func TestGATHeads(t *testing.T) {
	const heads = 3
	d := graphs(t)["synthetic"]
	in, width := d.FeatureCols, d.Classes
	many, mean := step(t, d, nil, GAT(in, width, heads, true, 0, nil))
	w := map[string][]float32{}
	for _, name := range []string{"layer1.W", "layer1.a_src", "layer1.a_dst"} {
		w[name] = param(t, many, name)
	}
	beside := GAT(in, width, heads, false, 0, nil)
	apply := beside.ApplyVertex
	want := make([]float32, len(mean))
	for k := range heads {
		one := map[string][]float32{}
		for name, x := range w {
			one[name] = columns(x, heads*width, k*width, width)
		}
		_, head := step(t, d, one, GAT(in, width, 1, false, 0, nil))
		for i, x := range head {
			want[i] += x / heads
		}
		beside.ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.Slice(apply(v, p), k*width, width)
		}
		_, block := step(t, d, w, beside)
		compare(t, "columns of a head", block, head, 1e-5)
	}
	compare(t, "mean of heads", mean, want, 1e-5)
}

// A head's initial vectors do not depend on how many heads there are.
func TestGATInit(t *testing.T) {
	d := dataset.Karate()
	p, _ := step(t, d, nil, GAT(34, 8, 4, false, 0, ops.ELU), GAT(32, 2, 1, true, 0, nil))
	var largest float32
	for _, x := range param(t, p, "layer1.a_src") {
		largest = max(largest, x, -x)
	}
	if bound := float32(0.8165); largest > bound || largest < bound/2 { // √(6/(8+1))
		t.Errorf("largest initial number %v, want close to %v", largest, bound)
	}
}

// Steps of one scope share their weights: they compute what steps of equal weights
// compute, and their gradient is the sum of those steps' gradients.
func TestGGNNSharesSteps(t *testing.T) {
	d := graphs(t)["synthetic"]
	model := func(scopes ...string) []saga.Layer {
		l := []saga.Layer{Linear(d.FeatureCols, 5, nil)}
		for _, s := range scopes {
			g := GGNN(5, 0)
			g.Scope = s
			l = append(l, g)
		}
		last := Linear(5, d.Classes, nil)
		last.Scope = "last"
		return append(l, last)
	}
	shared, got := step(t, d, nil, model("s", "s")...)
	if n := len(shared.Params()); n != 2+5+2 {
		t.Errorf("%d parameters, want 9", n)
	}
	params := map[string][]float32{}
	for _, q := range shared.Params() {
		params[q.Name] = param(t, shared, q.Name)
	}
	apart := map[string][]float32{}
	for name, x := range params {
		if name[:2] == "s." {
			apart["a"+name[1:]], apart["b"+name[1:]] = x, x
		} else {
			apart[name] = x
		}
	}
	two, want := step(t, d, apart, model("a", "b")...)
	compare(t, "logits", got, want, 1e-5)
	for _, name := range []string{"A", "W_i", "W_h", "b_i", "b_h"} {
		a, b := must(two.Grad("a."+name))(t), must(two.Grad("b."+name))(t)
		for i := range a {
			a[i] += b[i]
		}
		compare(t, "gradient of "+name, must(shared.Grad("s."+name))(t), a, 1e-4)
	}
}
