package layers

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"sagann/chunk"
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
		"rgcn": {Name: "rgcn", Layers: []saga.Layer{RGCN(0, 6, ops.ReLU), RGCN(0, 3, nil)}},
		"sage": {Name: "sage", Layers: per(SAGE(0, 6, ops.ReLU), SAGE(0, 3, nil))},
		"gcn":  {Name: "gcn", Layers: per(GCN(0, 6, saga.Edge.SymNorm, ops.ReLU), GCN(0, 3, saga.Edge.SymNorm, nil)), SelfLoops: true},
		"gat":  {Name: "gat", Layers: per(GAT(0, 3, 2, false, 0, ops.ELU), GAT(0, 3, 2, true, 0, nil)), SelfLoops: true},
		"hgt":  {Name: "hgt", Layers: []saga.Layer{HGT(6, 2), HGT(3, 1)}},
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

// TestHetero: logits, loss and gradients over several types of vertices and relations are those of PyTorch in float64, for every
// number of intervals, resident and streamed, on one and on two devices.
func TestHetero(t *testing.T) {
	x := readHetero(t)
	h := x.graph(t)
	target, err := h.Labelled("")
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range heteroModels() {
		want := x.Models[name]
		run := func(c saga.Config) {
			t.Helper()
			c.Outputs = []string{"logits"}
			p, err := saga.Compile(m, h.At(target), c)
			if err != nil {
				t.Fatalf("%s, %+v: %v", name, c, err)
			}
			defer p.Close()
			for n, w := range want.Params {
				var all []float32
				for _, row := range w {
					for _, v := range row {
						all = append(all, float32(v))
					}
				}
				if err := p.SetParam(n, all); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if n := len(p.Params()); n != len(want.Params) {
				t.Errorf("%s: %d parameters, want %d", name, n, len(want.Params))
			}
			at := fmt.Sprintf("%s, %d chunks, %d bytes, device %q", name, c.Chunks, c.Mem, c.Device)
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
			if off := farFrom(z, want.Logits); off > 1e-4 {
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
		}
		run(saga.Config{})
		for p := 3; p <= 12; p++ {
			run(saga.Config{Chunks: p})
		}
	}
}
