package layers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// heteroValues is testdata/hetero.json, which bench/pyg/hetero.py makes: a graph of four types of vertices, one of them isolated, and
// seven relations, and what PyTorch's float64 gives for models over it.
type heteroValues struct {
	Types     map[string][][]float32
	Relations []struct {
		Src, Name, Dst string
		Edges          [2][]uint32
	}
	Target  string
	Classes int
	Labels  []int32
	Train   []uint32
	Models  map[string]struct {
		Logits        [][]float64
		Loss          float64
		Params, Grads map[string][][]float64
	}
}

func readHetero(t *testing.T) *heteroValues {
	t.Helper()
	text, err := os.ReadFile("testdata/hetero.json")
	if err != nil {
		t.Fatal(err)
	}
	x := &heteroValues{}
	if err := json.Unmarshal(text, x); err != nil {
		t.Fatal(err)
	}
	return x
}

// graph is the graph of x. rename gives types and relations other names; nil: none.
func (x *heteroValues) graph(t *testing.T) *dataset.Hetero {
	t.Helper()
	h := &dataset.Hetero{Name: "golden"}
	at := map[string]int{}
	for _, name := range []string{"author", "lonely", "paper", "venue"} {
		rows := x.Types[name]
		d := &dataset.Data{Name: name, Edges: &chunk.Edges{V: len(rows)}, FeatureCols: len(rows[0])}
		for _, r := range rows {
			d.Features = append(d.Features, r...)
		}
		if name == x.Target {
			d.Labels, d.Classes, d.Train = x.Labels, x.Classes, x.Train
		}
		at[name] = len(h.Types)
		h.Types = append(h.Types, dataset.VertexType{Name: name, Rows: d})
	}
	for _, r := range x.Relations {
		v := max(len(x.Types[r.Src]), len(x.Types[r.Dst]))
		h.Relations = append(h.Relations, dataset.Relation{Source: at[r.Src], Name: r.Name, Target: at[r.Dst],
			Links: &dataset.Data{Name: r.Name, Edges: &chunk.Edges{V: v, Src: r.Edges[0], Dst: r.Edges[1]}}})
	}
	return h
}

// heteroModels are the models of testdata/hetero.json.
func heteroModels() map[string]saga.Model {
	per := func(l ...saga.Layer) []saga.Layer {
		for i := range l {
			l[i].PerRelation = true
		}
		return l
	}
	return map[string]saga.Model{
		"rgcn":        {Name: "rgcn", Layers: []saga.Layer{RGCN(0, 6, ops.ReLU), RGCN(0, 3, nil)}},
		"sage":        {Name: "sage", Layers: per(SAGE(0, 6, ops.ReLU), SAGE(0, 3, nil))},
		"gcn":         {Name: "gcn", Layers: per(GCN(0, 6, saga.Edge.SymNorm, ops.ReLU), GCN(0, 3, saga.Edge.SymNorm, nil)), SelfLoops: true},
		"gat":         {Name: "gat", Layers: per(GAT(0, 3, 2, false, 0, ops.ELU), GAT(0, 3, 2, true, 0, nil)), SelfLoops: true},
		"hgt":         {Name: "hgt", Layers: []saga.Layer{HGT(6, 2, nil), HGT(3, 1, nil)}},
		"rgcn-bases":  {Name: "rgcn-bases", Layers: []saga.Layer{RGCNBases(0, 6, 2, ops.ReLU), RGCNBases(0, 3, 2, nil)}},
		"rgcn-blocks": {Name: "rgcn-blocks", Layers: []saga.Layer{Linear(0, 4, nil), RGCNBlocks(0, 6, 2, ops.ReLU), RGCNBlocks(0, 3, 3, nil)}},
		"han":         {Name: "han", Layers: []saga.Layer{HAN(6, 2, 0, ops.Tanh), HAN(3, 1, 0, nil)}},
		"gin":         {Name: "gin", Layers: append([]saga.Layer{Linear(0, 4, nil)}, per(GIN(0, 5, 6, ops.ReLU), GIN(0, 5, 3, nil))...)},
		"sage-norm":   {Name: "sage-norm", Layers: per((&Between{Norm: NormLayer, Residual: true}).around(SAGE(0, 6, nil), ops.ReLU, -1), SAGE(0, 3, nil))},
		"gatv2":       {Name: "gatv2", Layers: per(GATv2(0, 3, 2, false, 0, ops.ELU, WithBias), GATv2(0, 3, 2, true, 0, nil, WithBias))},
	}
}

// far is the largest difference of x and y relative to the largest number of y, or to 1 if that is less.
func farFrom(x []float32, y [][]float64) float64 {
	most, off, i := 1e-3, 0.0, 0
	for _, row := range y {
		for _, v := range row {
			most = max(most, math.Abs(v))
			off = max(off, math.Abs(float64(x[i])-v))
			i++
		}
	}
	if i != len(x) {
		return math.Inf(1)
	}
	return off / most
}

// check runs a step of m and compares it with what PyTorch has.
func (x *heteroValues) check(t *testing.T, h *dataset.Hetero, m saga.Model, c saga.Config) *saga.Program {
	t.Helper()
	return x.checkBy(t, h, m, c, nil)
}

// checkBy is check of a batch of s that has all training vertices; nil: of the full graph.
func (x *heteroValues) checkBy(t *testing.T, h *dataset.Hetero, m saga.Model, c saga.Config, s *saga.Sampling) *saga.Program {
	t.Helper()
	target, err := h.Type(x.Target)
	if err != nil {
		t.Fatal(err)
	}
	want := x.Models[m.Name]
	c.Outputs = []string{"logits"}
	at := fmt.Sprintf("%s, %+v", m.Name, c)
	compile := saga.Compile
	if s != nil {
		compile = func(m saga.Model, d *dataset.Data, c saga.Config) (*saga.Program, error) {
			return saga.CompileSampled(m, d, c, *s)
		}
	}
	p, err := compile(m, h.At(target), c)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	for n, w := range want.Params {
		var all []float32
		for _, row := range w {
			for _, v := range row {
				all = append(all, float32(v))
			}
		}
		if err := p.SetParam(n, all); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
	}
	if n := len(p.Params()); n != len(want.Params) {
		t.Errorf("%s: %d parameters, want %d", at, n, len(want.Params))
	}
	loss, err := p.Step()
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	if math.Abs(loss-want.Loss) > 1e-5 {
		t.Errorf("%s: loss %v, want %v", at, loss, want.Loss)
	}
	z, _, err := p.Output("logits")
	if err != nil {
		t.Fatal(err)
	}
	logits := want.Logits
	if s != nil {
		logits = nil
		for _, v := range p.Seeds() {
			logits = append(logits, want.Logits[v])
		}
	}
	if off := farFrom(z, logits); off > 1e-4 {
		t.Errorf("%s: logits are off by %v", at, off)
	}
	for n, w := range want.Grads {
		g, err := p.Grad(n)
		if err != nil {
			t.Fatal(err)
		}
		if off := farFrom(g, w); off > 1e-4 {
			t.Errorf("%s: the gradient of %s is off by %v", at, n, off)
		}
	}
	return p
}

// TestHetero: logits, loss and gradients over several types of vertices and relations are those of PyTorch in float64, for every
// number of intervals, in all schedules, at the smallest memory and above it, on one device and on several.
func TestHetero(t *testing.T) {
	x := readHetero(t)
	h := x.graph(t)
	for name, m := range heteroModels() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ways := []saga.Config{{}, {Device: "cpu:2"}, {Schedule: "stage", Stream: true}, {Schedule: "dest-order", Stream: true}}
			step := map[string]int{"rgcn-blocks": 4, "gin": 4, "gatv2": 4, "sage-norm": 4}[name]
			for p := 3; p <= 12; p += max(1, step) {
				for _, c := range []saga.Config{{Stream: true}, ways[p%len(ways)]} {
					c.Chunks = p
					x.check(t, h, m, c).Close()
				}
			}
			x.check(t, h, m, saga.Config{Chunks: 9, Device: "cpu:4", Stream: true}).Close()
			x.check(t, h, m, saga.Config{Without: []string{"hoist", "commute", "factor", "fuse", "invariant", "recompute-on-load", "postpone"}}).Close()
			_, err := saga.Compile(m, h.At(2), saga.Config{Mem: 1, Outputs: []string{"logits"}})
			var small *plan.BudgetError
			if !errors.As(err, &small) {
				t.Fatalf("a budget of one byte gives %v", err)
			}
			for k := range int64(4) {
				p := x.check(t, h, m, saga.Config{Mem: small.Smallest * (4 + k) / 4})
				if k == 0 {
					if _, _, err := p.Predict(); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				p.Close()
			}
			if _, err := saga.Compile(m, h.At(2), saga.Config{Mem: small.Smallest - 1, Outputs: []string{"logits"}}); !errors.As(err, &small) {
				t.Errorf("%s: a byte less than the smallest budget gives %v", name, err)
			}
		})
	}
}

// TestHeteroRefused: what there is not over several types and relations is refused, by name.
func TestHeteroRefused(t *testing.T) {
	x := readHetero(t)
	h := x.graph(t)
	m := heteroModels()["rgcn"]
	with := func(f func(*saga.Model)) saga.Model {
		n := m
		n.Layers = slices.Clone(m.Layers)
		f(&n)
		return n
	}
	for want, run := range map[string]func() error{
		"does not say of which relation the edges have labels": func() error {
			_, err := saga.Compile(with(func(n *saga.Model) { n.Task = saga.EdgeTask }), h.At(2), saga.Config{})
			return err
		},
		"is of types of vertices without features": func() error {
			_, err := saga.Compile(with(func(n *saga.Model) { n.Embedding = 4 }), h.At(2), saga.Config{})
			return err
		},
		"3 vertex types need at least one each: author, paper, venue": func() error {
			_, err := saga.Compile(m, h.At(2), saga.Config{Chunks: 2})
			return err
		},
		"vertices of type lonely, which have the labels, get no messages": func() error {
			d := h.At(1)
			d.Labels, d.Classes, d.Train = []int32{0, 1, 2}, 3, []uint32{0, 1}
			_, err := saga.Compile(heteroModels()["sage"], d, saga.Config{})
			return err
		},
	} {
		if err := run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestHeteroSame: the order of types and relations, and types and relations that no label depends on, change no bit.
func TestHeteroSame(t *testing.T) {
	x := readHetero(t)
	train := func(h *dataset.Hetero, m saga.Model) (bits []float32, digest string) {
		t.Helper()
		target, err := h.Type(x.Target)
		if err != nil {
			t.Fatal(err)
		}
		p, err := saga.Compile(m, h.At(target), saga.Config{Seed: 3, Chunks: 5, Stream: true, Optimizer: saga.Optimizer{LR: 0.1}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for range 4 {
			loss, err := p.Step()
			if err != nil {
				t.Fatal(err)
			}
			bits = append(bits, float32(loss))
		}
		z, _, err := p.Predict()
		if err != nil {
			t.Fatal(err)
		}
		return append(bits, z...), p.Digest()
	}
	for name, m := range heteroModels() {
		for i := range m.Layers {
			m.Layers[i].Dropout = 0.3
		}
		want, digest := train(x.graph(t), m)
		more := x.graph(t)
		more.Types = append(more.Types, dataset.VertexType{Name: "zoo", Rows: &dataset.Data{Name: "zoo", Edges: &chunk.Edges{V: 6}, FeatureCols: 1, Features: make([]float32, 6)}})
		more.Relations = slices.Insert(more.Relations, len(more.Relations)-1, dataset.Relation{Source: 2, Name: "visits", Target: 4, Links: &dataset.Data{Name: "visits", Edges: &chunk.Edges{V: 11, Src: []uint32{1, 10}, Dst: []uint32{5, 0}}}})
		if got, d := train(more, m); !slices.Equal(got, want) || d != digest {
			t.Errorf("%s: one more type and relation, on which no label depends: %v, want %v", name, got, want)
		}
	}
}

// TestHeteroSplit: a relation divided in two, whose parts share their weights, is the relation, for sums of messages.
func TestHeteroSplit(t *testing.T) {
	x := readHetero(t)
	sum := func(out int, act Activation) saga.Layer {
		return saga.Layer{Name: "sum", Gather: saga.Sum,
			ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
				return ops.MatMul(e.Src, p.Of(e.Relation.Src+" to "+e.Relation.Dst).Weight("W", e.Src.Cols(), out))
			},
			ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return act.of(v.Accum) }}
	}
	m := saga.Model{Name: "sum", Layers: []saga.Layer{sum(5, ops.Tanh), sum(3, nil)}}
	run := func(h *dataset.Hetero) (z []float32) {
		t.Helper()
		p, err := saga.Compile(m, h.At(2), saga.Config{Seed: 5, Chunks: 6, Stream: true, Optimizer: saga.Optimizer{LR: 0.05}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for range 5 {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if z, _, err = p.Predict(); err != nil {
			t.Fatal(err)
		}
		return z
	}
	h := x.graph(t)
	want := run(h)
	for r := range h.Relations {
		parts := x.graph(t)
		one := parts.Relations[r]
		e, more := one.Links.Edges, one
		half := e.E() / 3
		more.Name += " too"
		more.Links = &dataset.Data{Name: more.Name, Edges: &chunk.Edges{V: e.V, Src: e.Src[half:], Dst: e.Dst[half:]}}
		parts.Relations[r].Links = &dataset.Data{Name: one.Name, Edges: &chunk.Edges{V: e.V, Src: e.Src[:half], Dst: e.Dst[:half]}}
		parts.Relations = slices.Insert(parts.Relations, r+1, more)
		got := run(parts)
		for i := range want {
			if off := math.Abs(float64(got[i] - want[i])); off > 1e-4*(1+math.Abs(float64(want[i]))) {
				t.Fatalf("%s divided: logit %d is %v, want %v", one.Name, i, got[i], want[i])
			}
		}
	}
}
