package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// typedModels are the modules of testdata/pyghetero (bench/pyg/heteroweights.py), by name: their options but for widths.
var typedModels = map[string]Options{
	"sage": {Between: Between{Norm: NormLayer}}, "sage-to": {Between: Between{Norm: NormLayer}}, "sage-cat": {Between: Between{Jump: JumpCat}},
	"gat": {Bias: true}, "rgcn": {}, "hgt": {}, "han": {Layers: 1}, "gcn": {Bias: true},
}

// typedModel is a model of typedModels for its graph, with the weights of its file.
func typedModel(t *testing.T, name string) (saga.Model, Options, *Weights, *dataset.Data) {
	t.Helper()
	h, target := readHetero(t).graph(t), 2
	if name == "gcn" {
		knows := h.Relations[0]
		e := *knows.Links.Edges
		e.Src, e.Dst = e.Dst, e.Src
		knows.Name, knows.Links = "known.by", &dataset.Data{Name: "known.by", Edges: &e}
		h.Relations, h.Types, target = []dataset.Relation{knows, h.Relations[0]}, h.Types[:1], 0
		h.Types[0].Rows.Classes = 3
	}
	o := typedModels[name]
	o.Features, o.Hidden, o.Classes, o.Heads, o.OutHeads = 4, 6, 3, 2, 2
	if o.Layers == 0 {
		o.Layers = 2
	}
	kind, _, _ := strings.Cut(name, "-")
	if kind == "gat" || kind == "hgt" || kind == "han" {
		o.Hidden = 3
	}
	m := must(New(kind, o))(t)
	m.SelfLoops = kind == "gcn"
	return m, o, must(ReadWeights(filepath.Join("testdata/pyghetero", name+".pt")))(t), h.At(target)
}

// TestTypedWeights: with the weights of PyG's modules over several types logits are those of PyG in float64, in full memory, streamed
// through the least that does, on two devices and in a batch of everything. What is written in both forms has the tensors of PyG's file
// that were read, in their shapes and to the bit, and is read again as it was.
func TestTypedWeights(t *testing.T) {
	text, err := os.ReadFile("testdata/pyghetero/logits.json")
	if err != nil {
		t.Fatal(err)
	}
	var logits map[string]tree
	if err := json.Unmarshal(text, &logits); err != nil {
		t.Fatal(err)
	}
	if len(logits) != len(typedModels) {
		t.Errorf("%d modules in the file, %d in the test", len(logits), len(typedModels))
	}
	for name := range typedModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, o, w, d := typedModel(t, name)
			parts := saga.PartsOf(&m, d)
			for i, c := range []saga.Config{{}, {Chunks: 4, Device: "cpu:2"}, {Stream: true}} {
				if c.Stream {
					c.Mem = smallest(t, m, d, c)
				}
				got, _, err := saga.PredictWith(m, d, c, func(params []saga.Param) (map[string][]float32, error) { return w.For(m, o, params, parts) })
				if err != nil {
					t.Fatal(err)
				}
				compare(t, fmt.Sprint("logits ", i), got, logits[name].values, 1e-5)
			}
			p := must(saga.Compile(m, d, saga.Config{}))(t)
			defer p.Close()
			written(t, name, m, o, p.Params(), parts, w)
			if name == "gcn" {
				return // nothing is trained there
			}
			q := must(saga.CompileSampled(m, d, saga.Config{Outputs: []string{"logits"}, Optimizer: saga.Optimizer{Kind: "sgd", LR: 1e-20}},
				saga.Sampling{Sampler: sample.Neighbours(slices.Repeat([]int{everything}, gathersOf(m))...), Batch: len(d.Train)}))(t)
			defer q.Close()
			for param, x := range must(w.For(m, o, q.Params(), parts))(t) {
				if err := q.SetParam(param, x); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := q.Step(); err != nil {
				t.Fatal(err)
			}
			if name == "han" {
				return // the mean over a batch's vertices is another
			}
			rows, _, err := q.Output("logits")
			if err != nil {
				t.Fatal(err)
			}
			var want []float32
			for _, v := range q.Seeds() {
				want = append(want, logits[name].values[3*v:3*v+3]...)
			}
			compare(t, "logits of a batch", rows, want, 1e-5)
		})
	}
}

// written checks what WriteWeights writes of the weights of PyG's module name.
func written(t *testing.T, name string, m saga.Model, o Options, params []saga.Param, parts []saga.Part, w *Weights) {
	t.Helper()
	read := must(w.For(m, o, params, parts))(t)
	idle := w.Idle()
	for _, ending := range []string{".pt", ".safetensors"} {
		var b bytes.Buffer
		path := filepath.Join(t.TempDir(), "w"+ending)
		err := WriteWeights(&b, ending, m, o, params, parts, func(name string) ([]float32, error) { return read[name], nil })
		if err = errors.Join(err, os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		again := must(ReadWeights(path))(t)
		values, err := again.For(m, o, params, parts)
		if name == "hgt" && ending == ".safetensors" {
			if err == nil || !strings.Contains(err.Error(), "save the state_dict as a .pt") {
				t.Errorf("%s%s: error %v", name, ending, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for param, x := range values {
			if !slices.Equal(x, read[param]) {
				t.Errorf("%s%s: %s is %v, and was %v", name, ending, param, x, read[param])
			}
		}
		for _, x := range again.list { // of modules with members as those that are written
			if !slices.Contains([]string{"sage-to", "hgt", "han"}, name) && !slices.ContainsFunc(w.list, func(y dataset.Tensor) bool { return x.Name == y.Name && slices.Equal(x.Values, y.Values) }) {
				t.Errorf("%s%s has %s, which PyG's file has not so", name, ending, x.Name)
			}
		}
		if name == "hgt" { // it stacks relations in another order, and writes zeros for what no label depends on
			continue
		}
		theirs := &Weights{}
		for _, x := range w.list {
			if !slices.Contains(idle, x.Name) {
				theirs.list = append(theirs.list, x)
			}
		}
		if got, want := tensorsOf(again), tensorsOf(theirs); !slices.Equal(got, want) {
			t.Errorf("%s%s has %v, PyG's file %v", name, ending, got, want)
		}
	}
}

// TestTypedWeightsRefused: what is missing, left over or of another shape is named, also where it is a part of a tensor; tensors of relations that
// no label depends on are not left over, those of relations that the graph does not have are. Layers that PyG does not have so are refused.
func TestTypedWeightsRefused(t *testing.T) {
	change := func(name string, f func(list []dataset.Tensor) []dataset.Tensor) error {
		m, o, w, d := typedModel(t, name)
		var list []dataset.Tensor
		for _, x := range w.list {
			list = append(list, dataset.Tensor{Name: x.Name, Shape: slices.Clone(x.Shape), Values: slices.Clone(x.Values)})
		}
		p := must(saga.Compile(m, d, saga.Config{}))(t)
		defer p.Close()
		_, err := (&Weights{path: "w.pt", list: f(list)}).For(m, o, p.Params(), saga.PartsOf(&m, d))
		return err
	}
	without := func(name string) func(list []dataset.Tensor) []dataset.Tensor {
		return func(list []dataset.Tensor) []dataset.Tensor {
			return slices.DeleteFunc(list, func(x dataset.Tensor) bool { return x.Name == name })
		}
	}
	renamed := func(from, to string) func(list []dataset.Tensor) []dataset.Tensor {
		return func(list []dataset.Tensor) []dataset.Tensor {
			for i := range list {
				list[i].Name = strings.ReplaceAll(list[i].Name, from, to)
			}
			return list
		}
	}
	same := func(list []dataset.Tensor) []dataset.Tensor { return list }
	for want, err := range map[string]error{
		"layer2.writes.b (in PyG convs.1.convs.<author___writes___paper>.lin_l.bias":  change("sage", without("convs.1.convs.<author___writes___paper>.lin_l.bias")),
		"layer1.writes.W_neigh (in PyG convs.0.convs.<author___writes___paper>.lin_l": change("sage", renamed("writes", "wrote")),
		"convs.0.convs.<author___wrote___paper>.lin_l.bias [6]":                       change("sage", renamed("writes", "wrote")),
		"in the file, and not of the model: convs.2.weight [1]": change("sage", func(l []dataset.Tensor) []dataset.Tensor {
			return append(l, dataset.Tensor{Name: "convs.2.weight", Shape: []int{1}, Values: []float32{0}})
		}),
		"layer2.author.K (in PyG convs.0.kqv_lin.lins.author.weight":   change("hgt", without("convs.0.kqv_lin.lins.author.weight")),
		"layer2.cites.prior (in PyG convs.0.p_rel.paper__cites__paper": change("hgt", without("convs.0.p_rel.paper__cites__paper")),
		"kqv_lin.lins.author.weight has shape [17 6]": change("hgt", func(l []dataset.Tensor) []dataset.Tensor {
			i := slices.IndexFunc(l, func(x dataset.Tensor) bool { return x.Name == "convs.0.kqv_lin.lins.author.weight" })
			l[i].Shape, l[i].Values = []int{17, 6}, l[i].Values[:17*6]
			return l
		}),
		"roots.1.paper.weight has shape [3 6]; layer1.paper.W_root [4×6] needs [6 4]": change("rgcn", without("roots.0.paper.weight")),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := change("sage", same); err != nil {
		t.Error(err)
	}
	d := readHetero(t).graph(t).At(2)
	for _, name := range []string{"gcn", "sgc", "tag", "pna", "ggnn", "gcn2"} {
		m := must(New(name, Options{Features: 4, Hidden: 4, Classes: 3, Layers: 2, Between: Between{Project: true}}))(t)
		p, err := saga.Compile(m, d, saga.Config{})
		if err != nil {
			continue
		}
		err = WriteWeights(&bytes.Buffer{}, ".pt", m, Options{}, p.Params(), saga.PartsOf(&m, d), p.Param)
		if p.Close(); err == nil || !strings.Contains(err.Error(), "over several types") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestParts: names of relations that are those of types, that stand twice or have colons are found in the names of parameters, of every layer that
// PyG has over several types, also where labels depend on one type alone. What is written, from a run or its checkpoint, is all of them, and is
// read again as it was.
func TestParts(t *testing.T) {
	h := &dataset.Hetero{Name: "names"}
	for _, name := range []string{"a", "b:c", "d.e", "norm"} {
		h.Types = append(h.Types, dataset.VertexType{Name: name, Rows: &dataset.Data{Name: name, Edges: &chunk.Edges{V: 2}, FeatureCols: 2, Features: make([]float32, 4)}})
	}
	for _, target := range []int{0, 3} {
		h.Types[target].Rows.Labels, h.Types[target].Rows.Classes, h.Types[target].Rows.Train = []int32{0, 1}, 2, []uint32{0}
	}
	for _, r := range []struct {
		src  int
		name string
		dst  int
	}{{0, "a", 0}, {0, "twice", 0}, {1, "b", 0}, {1, "twice", 0}, {2, "x.y", 0}, {2, "z", 1}, {3, "norm", 3}, {3, "twice", 3}} {
		e := &chunk.Edges{V: 2, Src: []uint32{0, 1}, Dst: []uint32{1, 1}}
		h.Relations = append(h.Relations, dataset.Relation{Source: r.src, Name: r.name, Target: r.dst, Links: &dataset.Data{Name: r.name, Edges: e}})
	}
	names := slices.Concat(slices.Sorted(maps.Keys(single)), slices.Sorted(maps.Keys(typed)))
	for _, name := range names {
		for _, target := range []int{0, 3} {
			if name == "root" || name == "gcn" && target == 0 { // no model; between two types there is no such layer
				continue
			}
			list := tensorsOfAll(t, name, h.At(target))
			if want := "convs.0.convs.<d#e___x#y___a>.lin_l.weight"; name == "sage" && target == 0 && !slices.Contains(list, want) {
				t.Errorf("no %s: %v", want, list)
			}
		}
	}
}

// tensorsOfAll are the tensors of model name over d, which are written and read again.
func tensorsOfAll(t *testing.T, name string, d *dataset.Data) []string {
	t.Helper()
	o := Options{Features: 2, Hidden: 2, Classes: 2, Layers: 2, Heads: 2, OutHeads: 1, Between: Between{Norm: NormBatch}}
	if name == "hgt" || name == "han" {
		o.Hidden, o.Between = 1, Between{}
	}
	m := must(New(name, o))(t)
	p := must(saga.Compile(m, d, saga.Config{Optimizer: saga.Optimizer{Kind: "adam", LR: 0.1}}))(t)
	defer p.Close()
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	_, err := p.Step()
	if err = errors.Join(err, p.Save(path, "")); err != nil {
		t.Fatal(err)
	}
	kept := must(ReadWeights(path))(t)
	params, value := kept.Params()
	var names []string
	for _, q := range params {
		names = append(names, q.Name)
	}
	for _, q := range p.Params() {
		if !slices.Contains(names, q.Name) || !slices.Equal(must(value(q.Name))(t), must(p.Param(q.Name))(t)) {
			t.Errorf("%s of %s: %s of the checkpoint is not that of the run", name, d.Name, q.Name)
		}
	}
	parts := must(kept.Run().Parts(&m, ""))(t)
	path = filepath.Join(t.TempDir(), "w.pt")
	var b bytes.Buffer
	err = WriteWeights(&b, ".pt", m, o, params, parts, value)
	if err = errors.Join(err, os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	w := must(ReadWeights(path))(t)
	for _, from := range []*Weights{w, kept} {
		for param, x := range must(from.For(m, o, p.Params(), saga.PartsOf(&m, d)))(t) {
			if !slices.Equal(x, must(p.Param(param))(t)) {
				t.Errorf("%s of %s: %s is %v", name, d.Name, param, x)
			}
		}
	}
	var list []string
	for _, x := range w.list {
		if list = append(list, x.Name); strings.Contains(x.Name, "..") || strings.HasPrefix(x.Name, "convs.") && typed[name] == nil && !strings.Contains(x.Name, ".convs.<") {
			t.Errorf("%s is no member of a HeteroConv of %s", x.Name, name)
		}
	}
	return list
}
