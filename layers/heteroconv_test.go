package layers

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// tree is numbers in lists of lists.
type tree struct{ values []float32 }

func (n *tree) UnmarshalJSON(text []byte) error {
	var list []tree
	if json.Unmarshal(text, &list) != nil {
		var x float32
		err := json.Unmarshal(text, &x)
		n.values = []float32{x}
		return err
	}
	for _, x := range list {
		n.values = append(n.values, x.values...)
	}
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
			p := convProgram(t, name, o, h)
			defer p.Close()
			for _, q := range p.Params() {
				if err := p.SetParam(q.Name, must(tensorOf(q, strings.Split(name, "-")[0], p.Params(), want.Tensors))(t)); err != nil {
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
func convProgram(t *testing.T, name string, o Options, h *dataset.Hetero) *saga.Program {
	t.Helper()
	kind, _, _ := strings.Cut(name, "-")
	o.Features, o.Hidden, o.Classes, o.Layers, o.Heads, o.OutHeads = 4, 6, 3, 2, 2, 2
	if strings.HasPrefix(kind, "gat") || kind == "transformer" {
		o.Hidden = 3
	}
	m := must(New(kind, o))(t)
	m.SelfLoops = false
	return must(saga.Compile(m, h.At(2), saga.Config{}))(t)
}

// tensorOf is parameter q of a model of layers of a kind, with params, from the tensors of PyG's layers.
func tensorOf(q saga.Param, kind string, params []saga.Param, all map[string]map[string]tree) ([]float32, error) {
	for place, tensors := range all {
		scope, part, _ := strings.Cut(place, "/")
		name, ok := strings.CutPrefix(q.Name, scope+".")
		if !ok {
			continue
		}
		table := kind
		if part != "" {
			table = part
		} else if strings.HasPrefix(scope, "input") {
			table = "linear"
		}
		u := &unit{heads: 2, sizes: map[string][2]int{}}
		for _, r := range params {
			if own, ok := strings.CutPrefix(r.Name, scope+"."); ok {
				u.sizes[own] = [2]int{r.Rows, r.Cols}
			}
		}
		for _, r := range counterparts[table] {
			if r.ours != name {
				continue
			}
			for _, theirs := range strings.Split(r.theirs, "|") {
				x, ok := tensors[theirs]
				if _, turned := r.form(u, q.Rows, q.Cols); ok && turned {
					return turn(x.values, q.Cols, q.Rows), nil
				} else if ok {
					return x.values, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("no tensor for %s", q.Name)
}
