package layers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/safetensors"
	"sagann/saga"
	"sagann/sample"
)

// pygModels are the models of testdata/pyg (bench/pyg/make.py), by name: their options but for widths.
var pygModels = map[string]Options{
	"gcn": {Bias: true}, "sage": {}, "gin": {}, "gat": {Bias: true}, "gatv2": {Bias: true}, "sgc": {}, "appnp": {Alpha: 0.1}, "mlp": {}, "resgated": {}, "rgcn": {},
	"gine": {}, "gat-edges": {Bias: true, Own: Own{Edges: EdgesOn}}, "gatv2-edges": {Bias: true, Own: Own{Edges: EdgesOn}}, "transformer": {}, "pna": {}, "gcn2": {},
	"graphconv": {}, "edgeconv": {}, "nnconv": {}, "tag": {}, "cheb": {Steps: 3}, "gen": {}, "film": {}, "lg": {}, "cg": {},
	"gcn-cat": {Bias: true, Between: Between{Jump: JumpCat}}, "sage-max": {Layers: 3, Between: Between{Jump: JumpMax}}, "sage-batch": {Between: Between{Norm: NormBatch}},
}

// pygValues is the graph of testdata/pyg, with the edges of that name, and the other values there.
func pygValues(t *testing.T, edges string) (*dataset.Data, map[string]dataset.Tensor) {
	t.Helper()
	f := must(safetensors.Open("testdata/pyg/values.safetensors"))(t)
	defer f.Close()
	all := map[string]dataset.Tensor{}
	for _, name := range f.Names() {
		x, shape, err := safetensors.Load[float32](f, name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = dataset.Tensor{Name: name, Shape: shape, Values: x}
	}
	x, ends := all["x"], all[edges]
	d := &dataset.Data{Name: "pyg", Features: x.Values, FeatureCols: x.Shape[1], Classes: 3, Edges: &chunk.Edges{V: x.Shape[0]}}
	e := ends.Shape[1]
	for k := range e {
		d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, uint32(ends.Values[k])), append(d.Edges.Dst, uint32(ends.Values[e+k]))
	}
	if edges == "edges" {
		d.Edges.Data, d.Edges.DataCols, d.Edges.Types = all["data"].Values, 2, 3
		for _, k := range all["type"].Values {
			d.Edges.Type = append(d.Edges.Type, uint32(k))
		}
	}
	for v, y := range all["y"].Values {
		if d.Labels = append(d.Labels, int32(y)); v < 10 {
			d.Train = append(d.Train, uint32(v))
		}
	}
	return d, all
}

// pygModel is a model of pygModels for d, with the weights of its file.
func pygModel(t *testing.T, name string, d *dataset.Data) (saga.Model, Options, *Weights) {
	t.Helper()
	o := pygModels[name]
	o.Features, o.Hidden, o.Classes, o.Heads = d.FeatureCols, 4, d.Classes, 2
	o.Layers = cmp.Or(o.Layers, 2)
	w := must(ReadWeights(filepath.Join("testdata/pyg", name+".pt")))(t)
	o.Own.Delta = w.Delta()
	kind, _, _ := strings.Cut(name, "-")
	return must(New(kind, o))(t), o, w
}

// TestPyG: with the weights of PyTorch Geometric's layers, logits and all gradients are those that PyTorch computes in float64, in
// full memory, streamed through the least that does, on two devices, without passes, and in a batch of everything. SAGANN_DEVICE names
// another device than the CPU for all but two devices.
func TestPyG(t *testing.T) {
	for name := range pygModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, values := pygValues(t, map[bool]string{false: "edges", true: "undirected"}[name == "cheb"])
			m, o, w := pygModel(t, name, d)
			for i, c := range []saga.Config{{}, {Chunks: 3, Stream: true}, {Chunks: 4, Device: "cpu:2", Save: saga.SaveNone},
				{Chunks: 2, Without: []string{"hoist", "commute", "factor", "fuse", "invariant"}}, {Save: saga.SaveAll}} {
				c.Optimizer = saga.Optimizer{Kind: "sgd", LR: 1e-20}
				c.Device = cmp.Or(c.Device, os.Getenv("SAGANN_DEVICE"))
				if c.Stream {
					c.Mem = smallest(t, m, d, c)
				}
				p, err := saga.Compile(m, d, c)
				if c.Save == saga.SaveAll && name != "mlp" {
					p, err = saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(slices.Repeat([]int{everything}, gathersOf(m))...), Batch: len(d.Train)})
				}
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				for param, x := range must(w.For(m, o, p.Params(), nil))(t) {
					if err := p.SetParam(param, x); err != nil {
						t.Fatal(err)
					}
				}
				logits, _, err := p.Predict()
				if err != nil {
					t.Fatal(err)
				}
				compare(t, fmt.Sprint("logits ", i), logits, values["logits."+name].Values, 1e-5)
				if strings.Contains(name, "batch") && c.Save == saga.SaveAll || name == "gen" && c.Save == saga.SaveAll {
					continue // the mean over a batch's rows is another
				}
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
				for param, want := range must(gradientsOf(name, values).For(m, o, p.Params(), nil))(t) {
					got, what := must(p.Grad(param))(t), fmt.Sprint("gradient of ", param, " ", i)
					switch largest := max(slices.Max(want), -slices.Min(want)); {
					case strings.HasSuffix(param, "norm.mean") || strings.HasSuffix(param, "norm.var"): // what they move towards
					case largest > 1e-12:
						compare(t, what, got, want, 1e-5)
					default: // the loss does not depend on it
						if most := max(slices.Max(got), -slices.Min(got)); most > 1e-6 {
							t.Errorf("%s: %v, and it is 0", what, most)
						}
					}
				}
			}
		})
	}
}

func gathersOf(m saga.Model) (n int) {
	for _, l := range m.Layers {
		if l.ApplyEdge != nil {
			n++
		}
	}
	return n
}

// gradientsOf are the gradients of a model of testdata/pyg, as weights.
func gradientsOf(name string, values map[string]dataset.Tensor) *Weights {
	w := &Weights{path: name}
	for _, key := range slices.SortedFunc(maps.Keys(values), naturally) {
		if param, ok := strings.CutPrefix(key, "grad."+name+"."); ok {
			w.list = append(w.list, dataset.Tensor{Name: param, Shape: values[key].Shape, Values: values[key].Values})
		}
	}
	return w
}

// TestWriteWeights: what is written, in both forms, has every tensor of PyG's file but those that no parameter is made of, in its
// shape and to the bit, and is read again as it was.
func TestWriteWeights(t *testing.T) {
	for name := range pygModels {
		d, _ := pygValues(t, "edges")
		m, o, w := pygModel(t, name, d)
		p := must(saga.Compile(m, d, saga.Config{}))(t)
		params := p.Params()
		read := must(w.For(m, o, params, nil))(t)
		for _, ending := range []string{".pt", ".safetensors"} {
			var b bytes.Buffer
			path := filepath.Join(t.TempDir(), "w"+ending)
			err := WriteWeights(&b, ending, m, o, params, nil, func(name string) ([]float32, error) { return read[name], nil })
			if err = errors.Join(err, os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
				t.Fatal(err)
			}
			again := must(ReadWeights(path))(t)
			for param, x := range must(again.For(m, o, params, nil))(t) {
				if !slices.Equal(x, read[param]) {
					t.Errorf("%s%s: %s is %v, and was %v", name, ending, param, x, read[param])
				}
			}
			if got, want := tensorsOf(again), tensorsOf(w); !slices.Equal(got, want) {
				t.Errorf("%s%s has %v, PyG's file %v", name, ending, got, want)
			}
		}
	}
}

// tensorsOf lists the tensors of w, without the names of layers, that parameters are made of.
func tensorsOf(w *Weights) (list []string) {
	for _, t := range w.list {
		if slices.ContainsFunc(unread, func(end string) bool { return strings.HasSuffix(t.Name, end) }) {
			continue
		}
		name := t.Name[strings.LastIndex(t.Name, ".")+1:]
		list = append(list, fmt.Sprint(name, t.Shape, t.Values))
	}
	slices.Sort(list)
	return list
}

// TestWeightsRefused: weights that are not finite, of another shape, missing, left over, or nobody's are errors that name them.
func TestWeightsRefused(t *testing.T) {
	d, _ := pygValues(t, "edges")
	m, o, w := pygModel(t, "sage", d)
	params := must(saga.Compile(m, d, saga.Config{}))(t).Params()
	change := func(f func(list []dataset.Tensor) []dataset.Tensor) *Weights {
		var list []dataset.Tensor
		for _, x := range w.list {
			list = append(list, dataset.Tensor{Name: x.Name, Shape: x.Shape, Values: slices.Clone(x.Values)})
		}
		return &Weights{path: "w.pt", list: f(list)}
	}
	for what, bad := range map[string]*Weights{
		"w.pt: weights that are of another shape, or not finite: convs.0.lin_l.weight: number 3 is NaN": change(func(l []dataset.Tensor) []dataset.Tensor {
			l[0].Values[3] = float32(math.NaN())
			return l
		}),
		"convs.1.lin_r.weight: number 0 is -Inf": change(func(l []dataset.Tensor) []dataset.Tensor {
			l[len(l)-1].Values[0] = float32(math.Inf(-1))
			return l
		}),
		"convs.0.lin_l.bias has shape [2 2]; layer1.b [1×4] needs [4]": change(func(l []dataset.Tensor) []dataset.Tensor {
			l[1].Shape = []int{2, 2}
			return l
		}),
		"of the model, and not in the file: layer2.W_self (in PyG lin_r.weight [3 4])": change(func(l []dataset.Tensor) []dataset.Tensor { return l[:3] }),
		"w.pt: weights that are of the model, and not in the file: layer2.b (in PyG convs.1.lin_l.bias [3])": change(func(l []dataset.Tensor) []dataset.Tensor {
			return slices.DeleteFunc(l, func(x dataset.Tensor) bool { return x.Name == "convs.1.lin_l.bias" })
		}),
		"in the file, and not of the model: more [1]": change(func(l []dataset.Tensor) []dataset.Tensor {
			return append(l, dataset.Tensor{Name: "more", Shape: []int{1}, Values: []float32{0}})
		}),
		"of the model, and not in the file: layer1.W_self": {path: "w.pt"},
	} {
		if _, err := bad.For(m, o, params, nil); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if _, err := w.For(saga.Model{Name: "own", Layers: []saga.Layer{{Name: "own"}}}, o, []saga.Param{{Name: "layer1.W", Rows: 2, Cols: 3}}, nil); err == nil || !strings.Contains(err.Error(), "layer1.W") {
		t.Errorf("a layer that PyG does not have: %v", err)
	}
}
