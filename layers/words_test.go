package layers_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/net"
	"sagann/ops"
	"sagann/saga"
	"sagann/sample"
)

// wordGraphs are a graph with one type, one with two types and three relations, all with numbers of edges, and a set of graphs.
func wordGraphs(t *testing.T) map[string]*dataset.Data {
	r := rand.New(rand.NewPCG(3, 4))
	rowsOf := func(name string, v int) *dataset.Data {
		d := &dataset.Data{Name: name, Edges: &chunk.Edges{V: v}, FeatureCols: 4}
		for range v * 4 {
			d.Features = append(d.Features, float32(r.NormFloat64()))
		}
		return d
	}
	labelled := func(name string, v int) *dataset.Data {
		d := rowsOf(name, v)
		d.Classes = 3
		for i := range v {
			d.Labels = append(d.Labels, int32(r.IntN(3)))
			to := []*[]uint32{&d.Train, &d.Train, &d.Val, &d.Test}[i%4]
			*to = append(*to, uint32(i))
		}
		return d
	}
	edges := func(e *chunk.Edges, src, dst, n int) {
		e.DataCols = 2
		for range n {
			e.Src, e.Dst = append(e.Src, r.Uint32N(uint32(src))), append(e.Dst, r.Uint32N(uint32(dst)))
			e.Data = append(e.Data, r.Float32(), r.Float32())
		}
	}
	one := labelled("one", 40)
	edges(one.Edges, 40, 40, 120)

	h := &dataset.Hetero{Name: "two", Types: []dataset.VertexType{{Name: "a", Rows: labelled("a", 40)}, {Name: "b", Rows: rowsOf("b", 30)}}}
	for _, x := range []struct {
		src  int
		name string
		dst  int
	}{{0, "joins", 0}, {0, "leads", 1}, {1, "comes", 0}} {
		e := &chunk.Edges{V: 40}
		edges(e, []int{40, 30}[x.src], []int{40, 30}[x.dst], 80)
		h.Relations = append(h.Relations, dataset.Relation{Source: x.src, Name: x.name, Target: x.dst, Links: &dataset.Data{Name: x.name, Edges: e}})
	}

	set := rowsOf("set", 36)
	for v := range uint32(36) {
		g := v / 3
		set.GraphOf = append(set.GraphOf, g)
		for range 2 {
			set.Edges.Src, set.Edges.Dst = append(set.Edges.Src, v), append(set.Edges.Dst, 3*g+r.Uint32N(3))
		}
	}
	for g := range uint32(12) {
		set.GraphLabels = append(set.GraphLabels, int32(r.IntN(3)))
		to := []*[]uint32{&set.GraphSplit.Train, &set.GraphSplit.Train, &set.GraphSplit.Val, &set.GraphSplit.Test}[g%4]
		*to = append(*to, g)
	}
	if err := dataset.VirtualVertices(set); err != nil {
		t.Fatal(err)
	}
	return map[string]*dataset.Data{"one": one, "two": h.At(0), "set": set}
}

// word is a word of models, in a model of two layers.
type word struct {
	model   saga.Model
	gathers int    // 0: two
	batch   string // why batches of all in-edges give other numbers
}

// named is model name with these options.
func named(t *testing.T, name string, change func(*layers.Options)) word {
	o := layers.Options{Features: 4, Hidden: 5, Classes: 3, Layers: 2, Heads: 2, Init: layers.InitPyG}
	if change != nil {
		change(&o)
	}
	m, err := layers.New(name, o)
	if err != nil {
		t.Fatal(name, err)
	}
	return word{model: m}
}

// own is a model with a layer of its own behind one that has five columns.
func own(l saga.Layer) word {
	return word{model: saga.Model{Name: "own", Layers: []saga.Layer{layers.SAGE(4, 5, ops.ReLU), l}}}
}

// words are the words that models have: of layers, of models, of losses.
func words(t *testing.T) map[string]word {
	list := map[string]word{}
	for _, name := range []string{"pna", "gcn2", "graphconv", "edgeconv", "nnconv", "tag", "cheb", "gen", "film", "cg", "lg"} {
		list[name] = named(t, name, nil)
	}
	for _, name := range []string{"gat", "gatv2", "gine", "transformer"} {
		list[name+" with numbers of edges"] = named(t, name, func(o *layers.Options) { o.Own.Edges = layers.EdgesOn })
	}
	for _, jump := range layers.Jumps() {
		list["jumping knowledge, "+jump] = named(t, "sage", func(o *layers.Options) { o.Between.Jump = jump })
	}
	tag, gen := list["tag"], list["gen"]
	tag.gathers, gen.batch = 4, "statistics over the rows of a batch"
	list["tag"], list["gen"] = tag, gen

	ema, frozen, loss := named(t, "sage", nil), named(t, "sage", nil), named(t, "sage", nil)
	ema.model.Average, frozen.model.Frozen = 0.5, []string{"layer1"}
	loss.model.Loss.Func = func(logits, labels, weight saga.Tensor) saga.Tensor {
		return ops.RowScale(ops.RowSum(ops.Square(ops.Sub(logits, ops.Widen(labels, 3)))), weight)
	}
	list["averages"], list["frozen parameters"], list["loss of one's own"] = ema, frozen, loss

	message := func(e saga.Edge, p saga.Params) saga.Tensor { return ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), 3)) }
	list["several gathers, Std, Var"] = own(saga.Layer{Name: "several", ApplyEdge: message, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
		a := ops.Concat(v.Gather(saga.Mean), v.Gather(saga.Max), v.Gather(saga.Std), v.Gather(saga.Var))
		return ops.MatMul(a, p.Weight("R", a.Cols(), 3))
	}})
	list["GatherOf"] = own(saga.Layer{Name: "of", ApplyEdge: message, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
		return ops.Add(v.Accum, v.GatherOf(saga.Min, func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.Tanh(ops.MatMul(ops.Sub(e.Src, e.Dst), p.Weight("M", 5, 3)))
		}))
	}})
	list["Rows"] = own(saga.Layer{Name: "rows", ApplyEdge: message, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
		own := ops.Concat(v.Rows(0), v.Rows(1))
		return ops.Add(v.Accum, ops.MatMul(own, p.Weight("R", own.Cols(), 3)))
	}})
	list["SrcRows and DstRows"] = own(saga.Layer{Name: "ends", ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
		return ops.MatMul(ops.Mul(e.SrcRows(0), e.DstRows(0)), p.Weight("W", 4, 3))
	}})
	return list
}

// wordRun trains for three epochs and gives the loss and the losses of the splits of each.
func wordRun(compile func(saga.Config) (*saga.Program, error), c saga.Config) (list []float64, err error) {
	c.Seed, c.Epochs, c.Optimizer = 5, 3, saga.Optimizer{Kind: "sgd", LR: 0.2}
	p, err := compile(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	_, err = p.Train(context.Background(), saga.TrainOptions{OnEpoch: func(e saga.Epoch) error {
		list = append(list, e.Loss, e.Scores.Train.Loss, e.Scores.Val.Loss, e.Scores.Test.Loss)
		return nil
	}})
	return list, err
}

// wordColumns are the ways to train that must give the same numbers. Where ranks share devices the bits are those of one process with as
// many devices.
var wordColumns = map[string]func(compile func(saga.Config) (*saga.Program, error)) ([]float64, error){
	"smallest budget": func(compile func(saga.Config) (*saga.Program, error)) ([]float64, error) {
		var small *plan.BudgetError
		if _, err := compile(saga.Config{Mem: 1}); !errors.As(err, &small) {
			return nil, fmt.Errorf("a byte of memory: %w", err)
		}
		return wordRun(compile, saga.Config{Mem: small.Smallest})
	},
	"two ranks": func(compile func(saga.Config) (*saga.Program, error)) ([]float64, error) {
		var all [2][]float64
		err := onRanks(2, func(g *net.Group) (err error) {
			all[g.Rank()], err = wordRun(compile, saga.Config{Device: "cpu:2", Net: g})
			return err
		})
		if err == nil && !slices.Equal(all[0], all[1]) {
			err = errors.New("ranks have other losses")
		}
		return all[0], err
	},
	"two devices": func(compile func(saga.Config) (*saga.Program, error)) ([]float64, error) {
		return wordRun(compile, saga.Config{Device: "cpu:2"})
	},
}

// TestWords: every word of models gives the same numbers over graphs of one type and of several, over sets of graphs, with the smallest memory,
// on two devices, over two ranks, and in batches of all in-edges. docs/models.md says so. make soak tries all; else what other tests
// have is left out: most words over one type, several devices of one process, and batches in the smallest memory.
func TestWords(t *testing.T) {
	all := words(t)
	for name, d := range wordGraphs(t) {
		for what, w := range all {
			general := slices.Contains([]string{"jumping knowledge, max", "loss of one's own", "averages", "several gathers, Std, Var", "SrcRows and DstRows"}, what)
			if !general && (name == "set" || name == "one" && !draw.Soak()) {
				continue
			}
			if name == "set" {
				w.model.Task, w.model.Readout = saga.GraphTask, saga.ReadoutMean
			}
			t.Run(name+"/"+what, func(t *testing.T) { checkWord(t, d, w) })
		}
	}
}

func checkWord(t *testing.T, d *dataset.Data, w word) {
	whole := func(c saga.Config) (*saga.Program, error) { return saga.Compile(w.model, d, c) }
	batches := func(c saga.Config) (*saga.Program, error) {
		all := slices.Repeat([]int{100}, cmp.Or(w.gathers, 2))
		return saga.CompileSampled(w.model, d, c, saga.Sampling{Sampler: sample.Neighbours(all...), Batch: 40})
	}
	want := must(wordRun(whole, saga.Config{}))(t)
	drawn := must(wordRun(batches, saga.Config{}))(t)
	if w.batch == "" {
		sameLosses(t, "batches", drawn, want)
	}
	for where, column := range wordColumns {
		if where == "two devices" && !draw.Soak() {
			continue
		}
		sameLosses(t, where, must(column(whole))(t), want)
		if where == "two ranks" || draw.Soak() {
			sameLosses(t, where+", batches", must(column(batches))(t), drawn)
		}
	}
}

// TestNumbersOfSomeRelations: a relation without numbers leaves out the terms with them.
func TestNumbersOfSomeRelations(t *testing.T) {
	d := wordGraphs(t)["two"]
	links := d.Vertices.Kinds.Graph.Relations[0].Links
	links.Edges.Data, links.Edges.DataCols = nil, 0
	for _, name := range []string{"gat", "gatv2", "gine", "transformer", "gen", "cg", "nnconv", "edgemlp"} {
		w := named(t, name, func(o *layers.Options) { o.Own.Edges = layers.EdgesOn })
		losses := must(wordRun(func(c saga.Config) (*saga.Program, error) { return saga.Compile(w.model, d, c) }, saga.Config{}))(t)
		if !(losses[8] < losses[0]) {
			t.Errorf("%s: losses %v", name, losses)
		}
	}
}

func sameLosses(t *testing.T, where string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 2e-6*max(1, math.Abs(want[i]))) {
			t.Errorf("%s: losses %v, want %v", where, got, want)
			return
		}
	}
}

// must is x, and ends the test with err.
func must[T any](x T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}
