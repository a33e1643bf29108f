package layers

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// marked is the line below the last call of mark: where the mistake of a wrong layer
// stands.
var marked int

func mark() {
	_, _, line, _ := runtime.Caller(1)
	marked = line + 1
}

// wrongs are layers with a mistake, and what the error must say beside its line.
var wrongs = []struct {
	name  string
	want  []string
	layer saga.Layer
}{
	{"inner dimensions", []string{"matmul", "[E×34]", "[35×2]"}, edgeOnly(
		func(e saga.Edge, p saga.Params) saga.Tensor {
			mark()
			return ops.MatMul(e.Src, p.Weight("W", 35, 2))
		})},
	{"widths", []string{"add", "[E×34]", "[E×2]", "widths 34 and 2 differ"}, edgeOnly(
		func(e saga.Edge, p saga.Params) saga.Tensor {
			mark()
			return ops.Add(e.Src, ops.MatMul(e.Dst, p.Weight("W", 34, 2)))
		})},
	{"no weights", []string{"widen", "missing"}, edgeOnly(
		func(e saga.Edge, _ saga.Params) saga.Tensor {
			mark()
			return ops.RowScale(e.Src, e.Weight)
		})},
	{"no edge data", []string{"concat", "missing"}, edgeOnly(
		func(e saga.Edge, _ saga.Params) saga.Tensor {
			mark()
			return ops.Concat(e.Src, e.Data)
		})},
	{"no edge data first", []string{"concat", "missing"}, edgeOnly(
		func(e saga.Edge, _ saga.Params) saga.Tensor {
			mark()
			return ops.Concat(e.Data, e.Src)
		})},
	{"no edge data to multiply", []string{"matmul", "missing"}, edgeOnly(
		func(e saga.Edge, p saga.Params) saga.Tensor {
			mark()
			return ops.MatMul(e.Data, p.Weight("W", 2, 2))
		})},
	{"matrix on vertices", []string{"mul", "[V×34]", "[3×34]", "one row"}, vertexOnly(
		func(v saga.Vertex, p saga.Params) saga.Tensor {
			mark()
			return ops.Mul(v.Self, p.Weight("W", 3, 34))
		})},
	{"columns that are not there", []string{"slice", "[V×34]", "columns 30 to 39"}, vertexOnly(
		func(v saga.Vertex, _ saga.Params) saga.Tensor {
			mark()
			return ops.Slice(v.Self, 30, 10)
		})},
	{"nothing gathered", []string{"relu", "missing"}, vertexOnly(
		func(v saga.Vertex, _ saga.Params) saga.Tensor {
			mark()
			return ops.ReLU(v.Accum)
		})},
	{"two shapes for one name", []string{"parameter layer2.W", "34×2", "34×3", "errors_test.go"}, vertexOnly(
		func(v saga.Vertex, p saga.Params) saga.Tensor {
			y := ops.MatMul(v.Self, p.Weight("W", 34, 2))
			mark()
			return ops.Add(y, ops.MatMul(v.Self, p.Weight("W", 34, 3)))
		})},
	{"empty parameter", []string{"parameter layer2.b", "1×0"}, vertexOnly(
		func(v saga.Vertex, p saga.Params) saga.Tensor {
			mark()
			return ops.Bias(v.Self, p.Bias("b", 0))
		})},
	{"enormous parameter", []string{"parameter layer2.W", "34×1099511627776"}, vertexOnly(
		func(v saga.Vertex, p saga.Params) saga.Tensor {
			mark()
			return ops.MatMul(v.Self, p.Weight("W", 34, 1<<40))
		})},
	{"vertex rows beside edge rows", []string{"add", "[E×34]", "[V×34]", "Edge.Src"}, edgeOnly(
		func(e saga.Edge, _ saga.Params) saga.Tensor {
			mark()
			return ops.Add(e.Src, e.Src.In(0))
		})},
}

// A nil Init is none: the default.
func TestNilInit(t *testing.T) {
	at := func(init ...saga.Init) []float32 {
		l := vertexOnly(func(v saga.Vertex, p saga.Params) saga.Tensor {
			return ops.Bias(ops.MatMul(v.Self, p.Weight("W", 34, 2, init...)), p.Bias("b", 2, init...))
		})
		p, err := saga.Compile(saga.Model{Layers: []saga.Layer{l}}, dataset.Karate(), saga.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.Open(); err != nil {
			t.Fatal(err)
		}
		return must(p.Param("layer1.W"))(t)
	}
	compare(t, "W", at(nil), at(), 0)
}

func edgeOnly(f func(e saga.Edge, p saga.Params) saga.Tensor) saga.Layer {
	return saga.Layer{Name: "wrong", ApplyEdge: f}
}

func vertexOnly(f func(v saga.Vertex, p saga.Params) saga.Tensor) saga.Layer {
	return saga.Layer{Name: "wrong", ApplyVertex: f}
}

// A wrong layer behind a right one is refused with its number and name, the
// operation, the shapes, and the line of this file that made it.
func TestWrongShapes(t *testing.T) {
	first := saga.Layer{Name: "first", ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return ops.ReLU(v.Self) }}
	for _, w := range wrongs {
		t.Run(w.name, func(t *testing.T) {
			_, err := saga.Compile(saga.Model{Layers: []saga.Layer{first, w.layer}}, dataset.Karate(), saga.Config{})
			var at *saga.LayerError
			if !errors.As(err, &at) || at.Layer != 2 || at.Name != "wrong" {
				t.Fatalf("error %v, want a *saga.LayerError of layer 2 (wrong)", err)
			}
			for _, s := range append(w.want, fmt.Sprintf("errors_test.go:%d", marked)) {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
		})
	}
}

func TestWrongLayers(t *testing.T) {
	edge := func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src }
	for name, c := range map[string]struct {
		layer saga.Layer
		want  string
	}{
		"classes":       {Linear(34, 3, nil), "rows 3 wide; the data has 2 classes"},
		"nothing":       {saga.Layer{Name: "empty"}, "neither ApplyEdge nor ApplyVertex"},
		"vertex rows":   {edgeOnly(func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src.In(0) }), "gathers edge rows, not [V×34]"},
		"nil message":   {edgeOnly(func(saga.Edge, saga.Params) saga.Tensor { return nil }), ": ApplyEdge(): returned nil"},
		"nil row":       {vertexOnly(func(saga.Vertex, saga.Params) saga.Tensor { return nil }), ": ApplyVertex(): returned nil"},
		"no score":      {saga.Layer{Name: "soft", ApplyEdge: edge, Gather: saga.SoftmaxSum}, "missing"},
		"score unread":  {saga.Layer{Name: "score", ApplyEdge: edge, Score: edge}, "SoftmaxSum only, this is sum"},
		"no messages":   {saga.Layer{Name: "max", Gather: saga.Max, ApplyVertex: Linear(34, 2, nil).ApplyVertex}, "without ApplyEdge"},
		"concat of 0":   {saga.Layer{Name: "concat", ApplyEdge: edge, Gather: saga.Concat(0)}, "0 blocks"},
		"concat of -1":  {saga.Layer{Name: "concat", ApplyEdge: edge, Gather: saga.Concat(-1)}, "-1 blocks"},
		"drop all":      {saga.Layer{Name: "drop", Dropout: 1, ApplyEdge: edge}, "dropout probability 1"},
		"drop negative": {saga.Layer{Name: "drop", Dropout: -0.5, ApplyEdge: edge}, "dropout probability -0.5"},
	} {
		_, err := saga.Compile(saga.Model{Layers: []saga.Layer{c.layer}}, dataset.Karate(), saga.Config{})
		var at *saga.LayerError
		if !errors.As(err, &at) || at.Layer != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want a *saga.LayerError with %q", name, err, c.want)
		}
	}
	if _, err := saga.Compile(saga.Model{}, nil, saga.Config{}); err == nil || !strings.Contains(err.Error(), "no data") {
		t.Errorf("without data: %v", err)
	}
	if _, err := saga.Compile(saga.Model{}, dataset.Karate(), saga.Config{}); err == nil || !strings.Contains(err.Error(), "at least one layer") {
		t.Errorf("a model without layers gives %v", err)
	}
}

func TestNewErrors(t *testing.T) {
	good := Options{Features: 4, Hidden: 4, Classes: 2, Layers: 2}
	for _, c := range []struct {
		model string
		set   func(o *Options)
		want  string
	}{
		{"perceptron", func(o *Options) {}, `unknown model "perceptron"; there are ` + strings.Join(Names(), ", ")},
		{"gcn", func(o *Options) { o.Layers = 0 }, "layers 0; at least 1"},
		{"ggnn", func(o *Options) { o.Layers = 0 }, "layers 0; at least 1"},
		{"gcn", func(o *Options) { o.Layers = -3 }, "layers -3"},
		{"sage", func(o *Options) { o.Hidden = 0 }, "hidden 0"},
		{"gin", func(o *Options) { o.Classes = 0 }, "classes 0"},
		{"gat", func(o *Options) { o.Features = 0 }, "features 0"},
		{"gat", func(o *Options) { o.Heads = -1 }, "heads -1"},
		{"gat", func(o *Options) { o.Heads = 1 << 31 }, "heads 2147483648; at most 1024"},
		{"rgcn", func(o *Options) { o.Own.Bases = 1 << 31 }, "bases 2147483648; at most 1024"},
		{"rgcn", func(o *Options) { o.Own.Blocks = 1 << 31 }, "blocks 2147483648; at most 65536"},
		{"gat", func(o *Options) { o.AttentionDropout = 1 }, "dropout 1"},
		{"ggnn", func(o *Options) { o.Steps = -1 }, "steps -1"},
		{"ggcn", func(o *Options) { o.Dropout = -0.1 }, "dropout -0.1"},
		{"gcn", func(o *Options) { o.Normalize = "both" }, `unknown normalisation "both"; there are sym, sym-weight, weight, none`},
	} {
		o := good
		c.set(&o)
		if _, err := New(c.model, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%q, %+v) gives %v, want %q", c.model, o, err, c.want)
		}
	}
}

// TestWrongBehindProject: an error names a layer by the number that its parameters have, also behind the layer of Project.
func TestWrongBehindProject(t *testing.T) {
	for _, project := range []bool{false, true} {
		m, err := New("gcn", Options{Features: 34, Classes: 3, Hidden: 4, Layers: 2, Between: Between{Project: project}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = saga.Compile(m, dataset.Karate(), saga.Config{})
		if err == nil || !strings.Contains(err.Error(), "layer 2 (gcn): ") {
			t.Errorf("project %v: %v", project, err)
		}
	}
}

// TestNegative: no count of a saga.Config may be below 0.
func TestNegative(t *testing.T) {
	m, err := New("gcn", Options{Features: 34, Classes: 2, Hidden: 4, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for what, set := range map[string]func(c *saga.Config){
		"memory budget": func(c *saga.Config) { c.Mem = -1 }, "host memory budget": func(c *saga.Config) { c.HostMem = -1 }, "number of chunks": func(c *saga.Config) { c.Chunks = -1 },
		"least number of chunks": func(c *saga.Config) { c.MinChunks = -1 }, "prefetch": func(c *saga.Config) { c.Prefetch = -1 }, "number of epochs": func(c *saga.Config) { c.Epochs = -1 },
		"number of epochs between evaluations": func(c *saga.Config) { c.EvalEvery = -1 }, "patience": func(c *saga.Config) { c.Patience = -1 },
		"number of epochs between decays of the learning rate": func(c *saga.Config) { c.Optimizer.DecayEvery = -1 },
	} {
		var c saga.Config
		set(&c)
		if _, err := saga.Compile(m, dataset.Karate(), c); err == nil || !strings.Contains(err.Error(), what+" -1 is negative") {
			t.Errorf("%s -1: %v", what, err)
		}
	}
}
