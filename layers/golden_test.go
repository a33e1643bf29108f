package layers

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// The reference models have two layers, hidden columns between them, and width
// columns inside perceptrons.
const (
	features = 7
	width    = 6
	classes  = 4
)

// goldenModels are the reference models, by folder and perhaps a variant: what their
// graph carries and their layers.
var goldenModels = map[string]struct {
	use    string
	layers [2]saga.Layer
}{
	"gcn":      {"weight", two(func(in, out int, f Activation) saga.Layer { return GCN(in, out, EdgeWeight, f) })},
	"commnet":  {"", two(CommNet)},
	"mpgcn":    {"", two(MPGCN)},
	"ggcn":     {"", two(GGCN)},
	"ggnn":     {"type", [2]saga.Layer{GGNNLayer(features, 0, 0), GGNNLayer(features, classes, 3)}},
	"sage":     {"", two(func(in, out int, f Activation) saga.Layer { return SAGE(in, out, f) })},
	"gin":      {"", two(func(in, out int, f Activation) saga.Layer { return GIN(in, width, out, f) })},
	"gat":      {"", two(func(in, out int, f Activation) saga.Layer { return GAT(in, out, 1, f == nil, 0, elu(f)) })},
	"gat-sum":  {"", two(func(in, out int, f Activation) saga.Layer { return gatSum(in, out, elu(f)) })},
	"resgated": {"", two(func(in, out int, f Activation) saga.Layer { return ResGated(in, out, f) })},
	"edgemlp":  {"data", two(func(in, out int, f Activation) saga.Layer { return EdgeMLP(in, 0, width, out, f) })},
	"minpool":  {"", two(minPool)},
	"concat3":  {"", two(concat3)},
}

func two(layer func(in, out int, act Activation) saga.Layer) [2]saga.Layer {
	return [2]saga.Layer{layer(features, width, ops.ReLU), layer(width, classes, nil)}
}

// elu stands in for ReLU between layers.
func elu(f Activation) Activation {
	if f == nil {
		return nil
	}
	return ops.ELU
}

// gatSum is GAT of one head with its coefficients left to the accumulator.
func gatSum(in, out int, act Activation) saga.Layer {
	h := func(x saga.Tensor, p saga.Params) saga.Tensor { return ops.MatMul(x, p.Weight("W", in, out)) }
	return saga.Layer{
		Name: "gat-sum",
		Score: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.LeakyReLU(ops.Add(
				ops.MatMul(h(e.Src, p), p.Weight("a_src", out, 1)),
				ops.MatMul(h(e.Dst, p), p.Weight("a_dst", out, 1))), 0.2)
		},
		ApplyEdge:   func(e saga.Edge, p saga.Params) saga.Tensor { return h(e.Src, p) },
		Gather:      saga.SoftmaxSum,
		ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return act.of(v.Accum) },
	}
}

// minPool is a = min x_u·W_pool, x' = act([x, a]·W).
func minPool(in, out int, act Activation) saga.Layer {
	return saga.Layer{
		Name: "minpool",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.MatMul(e.Src, p.Weight("W_pool", in, in))
		},
		Gather: saga.Min,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return act.of(ops.MatMul(ops.Concat(v.Self, v.Accum), p.Weight("W", 2*in, out)))
		},
	}
}

// concat3 is a = [x_u of the first three in-edges], x' = act(a·W + x·W_self).
func concat3(in, out int, act Activation) saga.Layer {
	return saga.Layer{
		Name:      "concat3",
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
		Gather:    saga.Concat(3),
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return act.of(ops.Add(
				ops.MatMul(v.Accum, p.Weight("W", 3*in, out)),
				ops.MatMul(v.Self, p.Weight("W_self", in, out))))
		},
	}
}

// withouts are the sets of compiler passes that the models run without.
var withouts = [][]string{
	nil,
	{"hoist", "commute", "factor"},
	{"fuse"},
	{"recompute-on-load"},
	{"hoist", "commute", "factor", "fuse", "invariant"},
}

// TestGolden holds loss, hidden rows, logits, and every gradient against the
// reference, for several numbers of intervals, with memory for everything and with
// the least memory that does, with passes left out, and with packed cells. SAGANN_DEVICE names another
// device than the CPU.
func TestGolden(t *testing.T) {
	for name, m := range goldenModels {
		t.Run(name, func(t *testing.T) {
			folder, _, _ := strings.Cut(name, "-")
			g := readGolden(t, folder, m.use)
			model := saga.Model{Name: name, Layers: m.layers[:]}
			for _, without := range withouts {
				for _, p := range []int{1, 3, 7} {
					// With constant features, what depends on them and the graph only is invariant.
					for _, constant := range []bool{true, false} {
						c := saga.Config{Device: os.Getenv("SAGANN_DEVICE"), Chunks: p, Without: without, Outputs: []string{"hidden", "logits"},
							Optimizer: saga.Optimizer{Kind: "sgd", LR: 1e-6}}
						if !constant {
							c.Outputs = append(c.Outputs, "grad:features")
						}
						at := fmt.Sprintf("without=%s/P=%d/constant=%v", strings.Join(without, ","), p, constant)
						t.Run(at+"/whole", func(t *testing.T) { g.check(t, model, c) })
						t.Run(at+"/streamed", func(t *testing.T) {
							c := c
							c.Stream, c.Prefetch = true, 1
							c.Mem = smallest(t, model, g.data, c)
							g.check(t, model, c)
						})
						if p == 7 && without == nil && c.Device == "" { // cells as GPUs have them
							t.Run(at+"/packed", func(t *testing.T) {
								c := c
								c.Outcome.Packing, c.Stream = saga.PackingOn, true
								g.check(t, model, c)
							})
						}
					}
				}
			}
		})
	}
}

// check runs a step of model and compares all that the reference knows.
func (g *golden) check(t *testing.T, model saga.Model, c saga.Config) {
	p, err := saga.Compile(model, g.data, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	if n, want := len(p.Params()), len(g.params); n != want {
		t.Errorf("%d parameters, the reference has %d", n, want)
	}
	for name, x := range g.params {
		if err := p.SetParam(name, x); err != nil {
			t.Fatal(err)
		}
	}
	loss, err := p.Step()
	if err != nil {
		t.Fatal(err)
	}
	const tolerance = 1e-4
	compare(t, "loss", []float32{float32(loss)}, []float32{float32(g.loss)}, tolerance)
	for name, want := range g.grads {
		got, err := p.Grad(name)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "gradient of "+name, got, want, tolerance)
	}
	outputs := map[string][]float32{"hidden": g.hidden, "logits": g.logits}
	if slices.Contains(c.Outputs, "grad:features") {
		outputs["grad:features"] = g.features
	}
	for name, want := range outputs {
		got, _, err := p.Output(name)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, got, want, tolerance)
	}
}

// smallest is the smallest budget for c, as the error of a budget of one byte names
// it; a byte less must be refused, or be too small for forward passes alone.
func smallest(t *testing.T, model saga.Model, d *dataset.Data, c saga.Config) int64 {
	t.Helper()
	refused := func(mem int64) int64 {
		c.Mem = mem
		p, err := saga.Compile(model, d, c)
		var small *plan.BudgetError
		switch {
		case errors.As(err, &small):
			return small.Smallest
		case err == nil && mem > 1:
			err = p.Close()
		}
		if err != nil || mem == 1 {
			t.Fatalf("a budget of %d bytes gives %v, want a *plan.BudgetError", mem, err)
		}
		return mem + 1
	}
	n := refused(1)
	if again := refused(n - 1); again != n {
		t.Fatalf("the smallest budget is %d, but %d when %d is asked for", n, again, n-1)
	}
	return n
}
