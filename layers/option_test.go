package layers

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// TestPyGInit: with Bias and InitPyG every parameter begins within the bound that PyTorch
// Geometric's layer has for it, spread as a uniform draw is; 0 stands for a parameter of zeros.
func TestPyGInit(t *testing.T) {
	const in, hidden, classes, heads = 40, 32, 24, 4
	const wide = heads * hidden
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 60, Edges: 300, Features: in, Classes: classes, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	fan := func(n float64) float64 { return 1 / math.Sqrt(n) }
	glorot := func(rows, cols float64) float64 { return math.Sqrt(6 / (rows + cols)) }
	for name, bounds := range map[string]map[string]float64{
		"gcn":  {"layer1.W": glorot(in, hidden), "layer1.b": 0, "layer2.W": glorot(hidden, classes), "layer2.b": 0},
		"sage": {"layer1.W_self": fan(in), "layer1.W_neigh": fan(in), "layer1.b": fan(in), "layer2.W_self": fan(hidden), "layer2.W_neigh": fan(hidden), "layer2.b": fan(hidden)},
		"gin": {"layer1.eps": 0, "layer1.W1": fan(in), "layer1.b1": fan(in), "layer1.W2": fan(hidden), "layer1.b2": fan(hidden),
			"layer2.eps": 0, "layer2.W1": fan(hidden), "layer2.b1": fan(hidden), "layer2.W2": fan(hidden), "layer2.b2": fan(hidden)},
		"gat": {"layer1.W": glorot(in, heads*hidden), "layer1.a_src": glorot(heads, hidden), "layer1.a_dst": glorot(heads, hidden), "layer1.b": 0,
			"layer2.W": glorot(heads*hidden, classes), "layer2.a_src": glorot(1, classes), "layer2.a_dst": glorot(1, classes), "layer2.b": 0},
		"gatv2": {"layer1.W_src": glorot(in, heads*hidden), "layer1.W_dst": glorot(in, heads*hidden), "layer1.b_src": fan(in), "layer1.b_dst": fan(in), "layer1.a": glorot(heads, hidden), "layer1.b": 0,
			"layer2.W_src": glorot(heads*hidden, classes), "layer2.W_dst": glorot(heads*hidden, classes), "layer2.b_src": fan(heads * hidden), "layer2.b_dst": fan(heads * hidden), "layer2.a": glorot(1, classes), "layer2.b": 0},
		"ggnn": {"input.W": fan(in), "input.b": fan(in), "step.A": fan(hidden), "step.W_i": fan(hidden), "step.W_h": fan(hidden), "step.b_i": fan(hidden), "step.b_h": fan(hidden),
			"output.W": fan(hidden), "output.b": fan(hidden)},
		"resgated": {"layer1.W_key": fan(in), "layer1.W_query": fan(in), "layer1.W_value": fan(in), "layer1.W_skip": fan(in), "layer1.b_key": fan(in), "layer1.b_query": fan(in), "layer1.b_value": fan(in), "layer1.b": 0,
			"layer2.W_key": fan(hidden), "layer2.W_query": fan(hidden), "layer2.W_value": fan(hidden), "layer2.W_skip": fan(hidden), "layer2.b_key": fan(hidden), "layer2.b_query": fan(hidden), "layer2.b_value": fan(hidden), "layer2.b": 0},
		"rgcn": {"layer1.W": glorot(in, hidden), "layer1.W_root": glorot(in, hidden), "layer1.b": 0,
			"layer2.W": glorot(hidden, classes), "layer2.W_root": glorot(hidden, classes), "layer2.b": 0},
		"graphconv": {"layer1.W_rel": fan(in), "layer1.b": fan(in), "layer1.W_root": fan(in), "layer2.W_rel": fan(hidden), "layer2.b": fan(hidden), "layer2.W_root": fan(hidden)},
		"edgeconv": {"layer1.W1": fan(2 * in), "layer1.b1": fan(2 * in), "layer1.W2": fan(hidden), "layer1.b2": fan(hidden),
			"layer2.W1": fan(2 * hidden), "layer2.b1": fan(2 * hidden), "layer2.W2": fan(hidden), "layer2.b2": fan(hidden)},
		"film": {"layer1.W": fan(in), "layer1.W_film": fan(in), "layer1.b_film": fan(in), "layer1.W_skip": fan(in), "layer1.W_film_skip": fan(in),
			"layer2.W": fan(hidden), "layer2.W_film": fan(hidden), "layer2.b_film": fan(hidden), "layer2.W_skip": fan(hidden), "layer2.W_film_skip": fan(hidden)},
		"transformer": {"layer1.W_key": fan(in), "layer1.b_key": fan(in), "layer1.W_query": fan(in), "layer1.b_query": fan(in), "layer1.W_value": fan(in), "layer1.b_value": fan(in),
			"layer1.W_skip": fan(in), "layer1.b_skip": fan(in), "layer2.W_key": fan(heads * hidden), "layer2.b_key": fan(heads * hidden), "layer2.W_query": fan(heads * hidden),
			"layer2.b_query": fan(heads * hidden), "layer2.W_value": fan(heads * hidden), "layer2.b_value": fan(heads * hidden), "layer2.W_skip": fan(heads * hidden), "layer2.b_skip": fan(heads * hidden)},
		"tag": {"layer1.W0": fan(in), "layer1.W1": fan(in), "layer1.W2": fan(in), "layer1.b": 0, "layer2.W0": fan(hidden), "layer2.W1": fan(hidden), "layer2.W2": fan(hidden), "layer2.b": 0},
		"cheb": {"layer1.W0": glorot(in, hidden), "layer1.W1": glorot(in, hidden), "layer1.b": 0,
			"layer2.W0": glorot(hidden, classes), "layer2.W1": glorot(hidden, classes), "layer2.b": 0},
		"gcn2": {"input.W": fan(in), "input.b": fan(in), "layer1.W": glorot(hidden, hidden), "layer2.W": glorot(hidden, hidden), "output.W": fan(hidden), "output.b": fan(hidden)},
		"cg": {"input.W": fan(in), "input.b": fan(in), "layer1.W_f": fan(2 * hidden), "layer1.b_f": fan(2 * hidden), "layer1.W_s": fan(2 * hidden), "layer1.b_s": fan(2 * hidden),
			"layer2.W_f": fan(2 * hidden), "layer2.b_f": fan(2 * hidden), "layer2.W_s": fan(2 * hidden), "layer2.b_s": fan(2 * hidden), "output.W": fan(hidden), "output.b": fan(hidden)},
		"pna": {"layer1.W_pre": fan(2 * in), "layer1.b_pre": fan(2 * in), "layer1.W_post": fan(13 * in), "layer1.b_post": fan(13 * in), "layer1.W": fan(hidden), "layer1.b": fan(hidden),
			"layer2.W_pre": fan(2 * hidden), "layer2.b_pre": fan(2 * hidden), "layer2.W_post": fan(13 * hidden), "layer2.b_post": fan(13 * hidden), "layer2.W": fan(classes), "layer2.b": fan(classes)},
		"han": {"layer1.W": fan(in), "layer1.b": fan(in), "layer1.a_src": glorot(heads, hidden), "layer1.a_dst": glorot(heads, hidden), "layer1.K": fan(wide), "layer1.b_K": fan(wide), "layer1.q": glorot(1, wide),
			"layer2.W": fan(wide), "layer2.b": fan(wide), "layer2.a_src": glorot(heads, hidden), "layer2.a_dst": glorot(heads, hidden), "layer2.K": fan(wide), "layer2.b_K": fan(wide), "layer2.q": glorot(1, wide),
			"output.W": fan(wide), "output.b": fan(wide)},
		"lg":    {"layer1.W": fan(in), "layer1.b": fan(in)},
		"mlp":   {"layer1.W": fan(in), "layer1.b": fan(in), "layer2.W": fan(hidden), "layer2.b": fan(hidden)},
		"appnp": {"layer1.W": fan(in), "layer1.b": fan(in), "layer2.W": fan(hidden), "layer2.b": fan(hidden)},
		"sgc":   {"layer2.W": fan(in), "layer2.b": fan(in)},
	} {
		m, err := New(name, Options{Features: in, Hidden: hidden, Classes: classes, Layers: 2, Heads: heads, Bias: true, Init: InitPyG})
		if err != nil {
			t.Fatal(err)
		}
		p, err := saga.Compile(m, d, saga.Config{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if n := len(p.Params()); n != len(bounds) {
			t.Errorf("%s has %d parameters, want %d", name, n, len(bounds))
		}
		for _, q := range p.Params() {
			bound, ok := bounds[q.Name]
			if !ok {
				t.Errorf("%s has a parameter %s", name, q.Name)
			}
			var largest, squares float64
			w := must(p.Param(q.Name))(t)
			for _, x := range w {
				largest, squares = max(largest, math.Abs(float64(x))), squares+float64(x)*float64(x)
			}
			n := float64(len(w))
			spread := math.Sqrt(squares / n) // bound/√3, off by bound·√(1/15n) at a standard error
			if largest > bound || math.Abs(spread-bound/math.Sqrt(3)) > 5*bound/math.Sqrt(15*n) {
				t.Errorf("%s: %s begins within ±%.4g, spread %.4g; want ±%.4g and %.4g", name, q.Name, largest, spread, bound, bound/math.Sqrt(3))
			}
		}
	}
}
