package layers

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// tree is numbers in lists of lists.
type tree struct {
	values []float32
	shape  []int
}

func (n *tree) UnmarshalJSON(text []byte) error {
	var list []tree
	if json.Unmarshal(text, &list) != nil {
		var x float32
		err := json.Unmarshal(text, &x)
		n.values = []float32{x}
		return err
	}
	for _, x := range list {
		n.values, n.shape = append(n.values, x.values...), x.shape
	}
	n.shape = append([]int{len(list)}, n.shape...)
	return nil
}

// convValues is testdata/heteroconv.json, which bench/pyg/heteroconv.py makes over the graph of hetero.json: tensors of PyG's layers by
// relation or vertex type, and logits. A norm or residual of a type has its part behind a slash.
type convValues struct {
	Numbers map[string]tree // of edges, by relation
	Models  map[string]struct {
		Tensors map[string]map[string]tree
		Logits  tree
		Numbers bool // the model reads them
	}
}

// convModels are its models: their options but for widths.
var convModels = map[string]Options{
	"sage": {}, "graphconv": {}, "gat": {Bias: true}, "gatv2": {Bias: true}, "transformer": {}, "resgated": {}, "film": {}, "gen": {}, "nnconv": {},
	"gin": {Between: Between{Project: true}}, "gine": {Between: Between{Project: true}}, "edgeconv": {Between: Between{Project: true}},
	"sage-layer": {Between: Between{Norm: NormLayer, Residual: true}}, "gat-batch": {Bias: true, Between: Between{Norm: NormBatch, Residual: true}},
	"graphconv-residual": {Between: Between{Residual: true}},
}

// TestHeteroConv: with the weights of PyTorch Geometric's layers in HeteroConv, activation, norm and residual being behind it, logits are
// those that it computes in float64.
func TestHeteroConv(t *testing.T) {
	text, err := os.ReadFile("testdata/heteroconv.json")
	if err != nil {
		t.Fatal(err)
	}
	var x convValues
	if err := json.Unmarshal(text, &x); err != nil {
		t.Fatal(err)
	}
	if len(x.Models) != len(convModels) {
		t.Errorf("%d models in the file, %d in the test", len(x.Models), len(convModels))
	}
	for name, o := range convModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, want := readHetero(t).graph(t), x.Models[name]
			if want.Numbers {
				for _, r := range h.Relations {
					e := r.Links.Edges
					e.Data = x.Numbers[r.Name].values
					e.DataCols = len(e.Data) / e.E()
				}
			}
			m, o, p := convProgram(t, name, o, h)
			defer p.Close()
			w := weightsOf(h, want.Tensors)
			for param, x := range must(w.For(m, o, p.Params(), saga.PartsOf(&m, h.At(2))))(t) {
				if err := p.SetParam(param, x); err != nil {
					t.Fatal(err)
				}
			}
			logits, _, err := p.Predict()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "logits", logits, want.Logits.values, 1e-5)
		})
	}
}

// convProgram compiles a model of convModels.
func convProgram(t *testing.T, name string, o Options, h *dataset.Hetero) (saga.Model, Options, *saga.Program) {
	t.Helper()
	kind, _, _ := strings.Cut(name, "-")
	o.Features, o.Hidden, o.Classes, o.Layers, o.Heads, o.OutHeads = 4, 6, 3, 2, 2, 2
	if strings.HasPrefix(kind, "gat") || kind == "transformer" {
		o.Hidden = 3
	}
	m := must(New(kind, o))(t)
	m.SelfLoops = false
	return m, o, must(saga.Compile(m, h.At(2), saga.Config{}))(t)
}

// weightsOf are the tensors under the names that modules of PyG give them.
func weightsOf(h *dataset.Hetero, all map[string]map[string]tree) *Weights {
	w := &Weights{path: "heteroconv.json"}
	for place, tensors := range all {
		scope, part, _ := strings.Cut(place, "/")
		layer, of, _ := strings.Cut(scope, ".")
		number := strings.TrimPrefix(layer, "layer")
		prefix := part + "s." + number + "." + of + "."
		if layer == "input" {
			prefix = "lins.0." + of + "."
		} else if r, err := h.Relation(of); part == "" && err == nil {
			prefix = "convs." + number + ".convs.<" + strings.ReplaceAll(h.FullName(r), ":", "___") + ">."
		}
		for name, x := range tensors {
			w.list = append(w.list, dataset.Tensor{Name: prefix + name, Shape: x.shape, Values: x.values})
		}
	}
	slices.SortFunc(w.list, func(a, b dataset.Tensor) int { return naturally(a.Name, b.Name) })
	return w
}
