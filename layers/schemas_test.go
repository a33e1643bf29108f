package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/ops"
	"sagann/saga"
)

// A random graph of several types, and what programs over it must keep.

// schemaCase is a random graph, whose vertices of the target have the labels, and a random model.
type schemaCase struct {
	r      *rand.Rand
	h      *dataset.Hetero
	target string
	m      saga.Model
	words  []string // what the model is made of
	rule   string   // optimiser
}

var oddNames = []string{"a", "b c", "d:e", "f.g", "Ünten", "h__i", "j", "\"k\""}

func (c *schemaCase) addType(name string, cols int) {
	v := 1 + c.r.IntN(12)
	if c.r.IntN(6) == 0 { // intervals that are wider than the others
		v += 60
	}
	d := &dataset.Data{Name: name, Edges: &chunk.Edges{V: v}, FeatureCols: cols}
	for range v * cols {
		d.Features = append(d.Features, float32(c.r.NormFloat64()))
	}
	at, _ := slices.BinarySearchFunc(c.h.Types, name, func(t dataset.VertexType, n string) int { return strings.Compare(t.Name, n) })
	for i := range c.h.Relations {
		x := &c.h.Relations[i]
		if x.Source >= at {
			x.Source++
		}
		if x.Target >= at {
			x.Target++
		}
	}
	c.h.Types = slices.Insert(c.h.Types, at, dataset.VertexType{Name: name, Rows: d})
}

// addRelation adds edges from one type to another, unless there are some of that name.
func (c *schemaCase) addRelation(src int, name string, dst, edges int) bool {
	less := func(x dataset.Relation, y dataset.Relation) int {
		for _, k := range []int{x.Source - y.Source, strings.Compare(x.Name, y.Name), x.Target - y.Target} {
			if k != 0 {
				return k
			}
		}
		return 0
	}
	from, to := c.h.Types[src].Rows.Edges.V, c.h.Types[dst].Rows.Edges.V
	e := &chunk.Edges{V: max(from, to)}
	for range edges {
		e.Src, e.Dst = append(e.Src, c.r.Uint32N(uint32(from))), append(e.Dst, c.r.Uint32N(uint32(to)))
	}
	x := dataset.Relation{Source: src, Name: name, Target: dst, Links: &dataset.Data{Name: name, Edges: e}}
	at, found := slices.BinarySearchFunc(c.h.Relations, x, less)
	if !found {
		c.h.Relations = slices.Insert(c.h.Relations, at, x)
	}
	return !found
}

// drawSchema draws a graph. identity lets types have no features.
func drawSchema(r *rand.Rand, types, relations int, identity bool) *schemaCase {
	c := &schemaCase{r: r, h: &dataset.Hetero{Name: "random"}}
	for _, k := range r.Perm(len(oddNames))[:types] {
		cols := 1 + r.IntN(5)
		if identity && r.IntN(4) == 0 {
			cols = 0
		}
		c.addType(oddNames[k], cols)
	}
	target := r.IntN(types)
	c.target = c.h.Types[target].Name
	c.addRelation(r.IntN(types), "to", target, 1+r.IntN(30))
	for range relations - 1 {
		c.addRelation(r.IntN(types), []string{"to", "of", "a", "x y"}[r.IntN(4)], r.IntN(types), r.IntN(30))
	}
	d := c.h.Types[target].Rows
	d.Classes = 2 + r.IntN(2)
	for v := range d.Edges.V {
		d.Labels = append(d.Labels, int32(r.IntN(d.Classes)))
		if v == 0 || r.IntN(3) > 0 {
			d.Train = append(d.Train, uint32(v))
		}
	}
	return c
}

// layer draws a layer. It is one over messages that are products, so that types may have no features, unless any is set.
func (c *schemaCase) layer(out int, act Activation, any bool) saga.Layer {
	r, n := c.r, 6
	if any {
		n = 10
	}
	word := []string{"rgcn", "sage", "gcn", "gat", "gatv2", "hgt", "each", "of", "max", "gin"}[r.IntN(n)]
	c.words = append(c.words, word)
	l := RGCN(0, out, act)
	switch word {
	case "sage":
		l = SAGE(0, out, act)
	case "gcn":
		l = GCN(0, out, saga.Edge.SymNorm, act, WithBias)
	case "gat":
		l = GAT(0, out, 1+r.IntN(2), true, 0.2, act)
	case "gatv2":
		l = GATv2(0, out, 1+r.IntN(2), true, 0.2, act, WithBias)
	case "hgt":
		l = HGT(out, 1, nil)
	case "gin":
		l = GIN(0, 3, out, act, WithBias)
	case "each": // the largest mean of those relations that have edges
		l = saga.Layer{Name: word, ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), out))
		}, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			own := ops.MatMul(v.Self, p.Weight("R", v.Self.Cols(), out))
			for _, x := range v.Each(saga.Mean) {
				own = ops.Maximum(own, v.Dropout(x, 0.1))
			}
			return act.of(own)
		}}
	case "of": // another message beside that of ApplyEdge, dropped on edges
		l = saga.Layer{Name: word, Gather: saga.Mean, ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return e.Dropout(ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), out)), 0.3)
		}, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			x := v.GatherOf(saga.Sum, func(e saga.Edge, p saga.Params) saga.Tensor {
				return ops.Tanh(ops.MatMul(ops.Concat(e.Dst, e.Src), p.Weight("M", e.Dst.Cols()+e.Src.Cols(), out)))
			})
			return act.of(ops.Add(v.Dropout(ops.Add(v.Accum, x), 0.2), ops.MatMul(v.Self, p.Weight("R", v.Self.Cols(), out))))
		}}
	case "max":
		l = saga.Layer{Name: word, Gather: saga.Max, ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return ops.MatMul(e.Src, p.Weight("W", e.Src.Cols(), out))
		}, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			own := ops.MatMul(v.Self, p.Weight("R", v.Self.Cols(), out))
			return act.of(ops.Add(ops.RowScale(ops.Add(v.Accum, v.Gather(saga.Min)), ops.Log(ops.Shift(v.InDegree, 2))), own))
		}}
	}
	l.PerRelation = slices.Contains([]string{"sage", "gcn", "gat", "gatv2", "gin"}, word)
	l.Dropout = []float32{0, 0.3}[r.IntN(2)]
	return l
}

// model draws one or two layers.
func (c *schemaCase) model(any bool) {
	t, _ := c.h.Type(c.target)
	c.m = saga.Model{Name: "random", SelfLoops: c.r.IntN(2) == 0}
	if c.r.IntN(3) > 0 {
		c.m.Layers = append(c.m.Layers, c.layer(1+c.r.IntN(4), []Activation{ops.ReLU, ops.Tanh, nil}[c.r.IntN(3)], any))
		any = true
	}
	c.m.Layers = append(c.m.Layers, c.layer(c.h.Types[t].Rows.Classes, nil, any))
}

func (c *schemaCase) String() string {
	text := fmt.Sprint(c.words)
	for _, t := range c.h.Types {
		text += fmt.Sprintf(", %d %s of %d", t.Rows.Edges.V, t.Name, t.Rows.FeatureCols)
	}
	for r := range c.h.Relations {
		text += fmt.Sprintf(", %d %s", c.h.Relations[r].Links.Edges.E(), c.h.FullName(r))
	}
	return text + ", labels of " + c.target
}

// at is the vertices with the labels.
func (c *schemaCase) at(h *dataset.Hetero) *dataset.Data {
	t, _ := h.Type(c.target)
	return h.At(t)
}

// outcome is what training gave: losses and then the logits; the digest; first values of parameters.
type outcome struct {
	z      []float32
	digest string
	params map[string][]float32
}

// train trains for some updates. change, which may be nil, is called before the first.
func (c *schemaCase) train(d *dataset.Data, cfg saga.Config, updates int, change func(p *saga.Program) error) (outcome, error) {
	return c.trainBy(saga.Compile, d, cfg, updates, change)
}

// trainBy is train by a program that compile makes.
func (c *schemaCase) trainBy(compile func(saga.Model, *dataset.Data, saga.Config) (*saga.Program, error), d *dataset.Data, cfg saga.Config, updates int,
	change func(p *saga.Program) error) (out outcome, err error) {
	cfg.Seed, cfg.Optimizer = 9, saga.Optimizer{LR: 0.05, Kind: c.rule}
	p, err := compile(c.m, d, cfg)
	if err != nil {
		return out, err
	}
	defer p.Close()
	out.digest, out.params = p.Digest(), map[string][]float32{}
	for _, q := range p.Params() {
		if out.params[q.Name], err = p.Param(q.Name); err != nil {
			return out, err
		}
	}
	if change != nil {
		if err := change(p); err != nil {
			return out, err
		}
	}
	for range updates {
		loss, err := p.Step()
		if err != nil {
			return out, err
		}
		out.z = append(out.z, float32(loss))
	}
	z, classes, err := p.Predict()
	if err != nil {
		return out, err
	}
	out.z = append(out.z, z...)
	s, err := p.Evaluate()
	if loss := lossOf(z, classes, d); err == nil && !(math.Abs(s.Train.Loss-loss) <= 1e-4*max(1, loss)) {
		err = fmt.Errorf("evaluation has the loss %v, and the logits of prediction give %v", s.Train.Loss, loss)
	}
	return out, err
}

// lossOf is the mean cross-entropy of the training vertices of d with logits z.
func lossOf(z []float32, classes int, d *dataset.Data) (sum float64) {
	for _, v := range d.Train {
		total, row := 0.0, z[int(v)*classes:][:classes]
		for _, x := range row {
			total += math.Exp(float64(x - row[d.Labels[v]]))
		}
		sum += math.Log(total) / float64(len(d.Train))
	}
	return sum
}

// near compares numbers but for rounding.
func near(x, y []float32, tol float64) bool {
	if len(x) != len(y) {
		return false
	}
	most := 1.0
	for _, v := range y {
		most = max(most, math.Abs(float64(v)))
	}
	for i := range x {
		if !(math.Abs(float64(x[i]-y[i])) <= tol*most) {
			return false
		}
	}
	return true
}

// schemaLaws are what must hold of every case. Each returns what is wrong, "" for nothing.
var schemaLaws = map[string]func(t *testing.T, r *rand.Rand) (*schemaCase, string){
	"idle": lawIdle, "single": lawSingle, "plans": lawPlans, "resumed": lawResumed, "draws": lawDraws, "split": lawSplit, "merged": lawMerged,
}

// TestSchemas: laws of random graphs of several types and random models over them.
func TestSchemas(t *testing.T) {
	cases := 60
	if testing.Short() {
		cases = 5
	}
	for name, law := range schemaLaws {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := 0
			for k := range cases {
				c, text := law(t, rand.New(rand.NewPCG(draw.Seed(t), uint64(k))))
				if text == "" {
					continue
				}
				t.Errorf("case %d, %v: %s", k, c, text)
				if wrong++; wrong > 4 {
					return
				}
			}
		})
	}
}

// drawCase draws a graph and a model that can be trained.
func drawCase(r *rand.Rand) (*schemaCase, outcome, error) {
	for {
		identity := r.IntN(3) == 0
		c := drawSchema(r, 1+r.IntN(4), 1+r.IntN(6), identity)
		c.model(!identity)
		out, err := c.train(c.at(c.h), saga.Config{}, 3, nil)
		if err == nil || !strings.Contains(err.Error(), "get no messages") && !strings.Contains(err.Error(), "products with weights") && !strings.Contains(err.Error(), "layer 1 (gin): gin.go:23: add") {
			return c, out, err
		}
	}
}

// lawIdle: types and relations that no label depends on change no bit and no digest.
func lawIdle(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	c, want, err := drawCase(r)
	if err != nil {
		return c, err.Error()
	}
	if len(c.h.Types) == 1 && len(c.h.Relations) == 1 {
		return c, "" // lawSingle
	}
	for _, name := range []string{"0", "b", "zoo"}[:1+r.IntN(3)] {
		c.addType(name, r.IntN(3))
		t, _ := c.h.Type(name)
		c.addRelation(r.IntN(len(c.h.Types)), "to", t, r.IntN(9))
		c.addRelation(t, "idle", t, r.IntN(9))
	}
	got, err := c.train(c.at(c.h), saga.Config{}, 3, nil)
	switch {
	case err != nil:
		return c, err.Error()
	case !slices.Equal(got.z, want.z):
		return c, fmt.Sprintf("with idle types %v, without %v", got.z, want.z)
	case got.digest != want.digest:
		return c, "another digest"
	}
	return c, ""
}

// lawSingle: one type and one relation, of whatever a graph has beside them, is the graph without types.
func lawSingle(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	c := drawSchema(r, 1, 1, r.IntN(3) == 0)
	c.model(c.h.Types[0].Rows.FeatureCols > 0)
	cfg := saga.Config{Chunks: 1 + r.IntN(4), Stream: r.IntN(2) == 0}
	want, err := c.train(c.h.Single(), cfg, 3, nil)
	if err != nil {
		if strings.Contains(err.Error(), "products with weights") {
			return c, ""
		}
		return c, err.Error()
	}
	c.addType([]string{"0", "zoo"}[r.IntN(2)], r.IntN(3))
	t, _ := c.h.Type(c.target)
	c.addRelation(t, "to", 1-t, 1+r.IntN(9))
	got, err := c.train(c.at(c.h), cfg, 3, nil)
	switch {
	case err != nil:
		return c, err.Error()
	case !slices.Equal(got.z, want.z):
		return c, fmt.Sprintf("beside an idle type %v, without %v", got.z, want.z)
	}
	return c, ""
}

// lawPlans: intervals, schedules, devices, memory and passes change results by rounding only.
func lawPlans(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	c, _, err := drawCase(r)
	if err != nil {
		return c, err.Error()
	}
	c.rule = "sgd" // Adam's steps do not shrink with gradients that are rounding alone
	want, err := c.train(c.at(c.h), saga.Config{}, 3, nil)
	if err != nil {
		return c, err.Error()
	}
	for _, cfg := range []saga.Config{
		{Chunks: len(c.h.Types) + r.IntN(9), Stream: true, Schedule: []string{"", "sag", "stage", "dest-order"}[r.IntN(4)]},
		{Chunks: len(c.h.Types) + r.IntN(6), Device: []string{"cpu:2", "cpu:3"}[r.IntN(2)], Stream: r.IntN(2) == 0},
		{Mem: 1 << (13 + r.IntN(4))},
		{Without: slices.DeleteFunc(dataflow.Passes(), func(string) bool { return r.IntN(3) > 0 })},
	} {
		got, err := c.train(c.at(c.h), cfg, 3, nil)
		if err != nil && cfg.Mem > 0 && strings.Contains(err.Error(), "smallest") {
			continue
		}
		if err != nil {
			return c, fmt.Sprintf("%+v: %v", cfg, err)
		}
		if !near(got.z, want.z, 1e-4) {
			return c, fmt.Sprintf("%+v: %v, want %v", cfg, got.z, want.z)
		}
	}
	return c, ""
}

// lawResumed: a run that is saved and goes on elsewhere has the bits of one that is not.
func lawResumed(t *testing.T, r *rand.Rand) (*schemaCase, string) {
	c, want, err := drawCase(r)
	if err != nil {
		return c, err.Error()
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if _, err := c.train(c.at(c.h), saga.Config{}, 0, func(p *saga.Program) error {
		for range 2 {
			if _, err := p.Step(); err != nil {
				return err
			}
		}
		return p.Save(path, "")
	}); err != nil {
		return c, err.Error()
	}
	got, err := c.train(c.at(c.h), saga.Config{}, 1, func(p *saga.Program) error { return p.Restore(path) })
	if err != nil {
		return c, err.Error()
	}
	if !slices.Equal(got.z, want.z[2:]) {
		return c, fmt.Sprintf("resumed %v, want %v", got.z, want.z[2:])
	}
	return c, ""
}

// lawDraws: one more relation changes no draw. Its messages are made 0, and all first values and results stay.
func lawDraws(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	return drawsBy(r, (*schemaCase).train)
}

// drawsBy is lawDraws for a way of training.
func drawsBy(r *rand.Rand, train func(c *schemaCase, d *dataset.Data, cfg saga.Config, updates int, change func(p *saga.Program) error) (outcome, error)) (*schemaCase, string) {
	c := drawSchema(r, 2+r.IntN(3), 2+r.IntN(4), r.IntN(3) == 0)
	t, _ := c.h.Type(c.target)
	layers := []saga.Layer{RGCN(0, 1+r.IntN(4), ops.ReLU), RGCN(0, c.h.Types[t].Rows.Classes, nil)}
	for i := range layers {
		edge := layers[i].ApplyEdge
		layers[i].Dropout = 0.3
		layers[i].ApplyEdge = func(e saga.Edge, p saga.Params) saga.Tensor { return e.Dropout(edge(e, p), 0.2) }
		vertex := layers[i].ApplyVertex
		layers[i].ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
			return v.Dropout(ops.Add(v.Gather(saga.Mean), vertex(v, p)), 0.1)
		}
	}
	c.m = saga.Model{Name: "draws", Layers: layers[c.r.IntN(2):]}
	want, err := train(c, c.at(c.h), saga.Config{Without: []string{"balance"}}, 1, nil)
	if err != nil {
		return c, err.Error()
	}
	if !c.addRelation(r.IntN(len(c.h.Types)), []string{"new", "0"}[r.IntN(2)], t, 1+r.IntN(20)) {
		return c, ""
	}
	if _, ok := want.params[fmt.Sprintf("layer%d.b", len(c.m.Layers))]; ok { // of one type and relation, which are drawn for as without types
		return c, ""
	}
	var wrong string
	got, err := train(c, c.at(c.h), saga.Config{Without: []string{"balance"}}, 1, func(p *saga.Program) error {
		for _, q := range p.Params() {
			w, err := p.Param(q.Name)
			if err != nil {
				return err
			}
			if strings.Contains(q.Name, ".new.") || strings.Contains(q.Name, ".0.") {
				if err := p.SetParam(q.Name, make([]float32, len(w))); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return c, err.Error()
	}
	same := 0
	for name, w := range want.params {
		if x, ok := got.params[name]; ok {
			if same++; !slices.Equal(x, w) {
				wrong = name + " is drawn anew"
			}
		}
	}
	if wrong == "" && same == len(want.params) && !near(got.z[:1], want.z[:1], 1e-5) {
		wrong = fmt.Sprintf("loss %v, without the relation %v", got.z[0], want.z[0])
	}
	return c, wrong
}
