package saga_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/ops"
	"sagann/saga"
)

// Random layers of one's own over random graphs of several types, held against formulas on whole matrices in float64 (typedoracle_test.go):
// logits, the loss, and the gradient of every number of every parameter by differences.

// typedMessage draws what a message is made of.
type typedMessage struct {
	name   string // begins the names of its parameters
	weight int    // of the relation, shared, or of the source's type
	dst    bool   // reads the row of the destination
	data   bool   // numbers of edges, where there are some
	byType bool   // types of edges
	early  int    // rows behind this layer, -1: none
	ofDst  bool   // these are the destination's
	act    int
	scale  int // what it is multiplied by: see apply
}

// typedLayer is a layer of random parts.
type typedLayer struct {
	out, heads          int
	per, after, update  bool // PerRelation, After, UpdateEdge
	message, other      typedMessage
	gather, second, way int // gathers by number; how the second is used: see secondOf
	self, first         bool
	degree              int // 1: divided by the in-degree, 2: by the out-degree
	act                 int
}

var (
	typedGathers = []saga.Accumulator{saga.Sum, saga.Mean, saga.Max, saga.Min, saga.Var, saga.SoftmaxSum, saga.SoftmaxSum.Across()}
	typedActs    = []func(saga.Tensor) saga.Tensor{func(x saga.Tensor) saga.Tensor { return x }, ops.Tanh, ops.ReLU, ops.Sigmoid, ops.ELU}
)

func drawMessage(r *rand.Rand, name string, layer int) typedMessage {
	m := typedMessage{name: name, dst: r.IntN(3) == 0, data: r.IntN(3) == 0, byType: r.IntN(4) == 0, early: -1, ofDst: r.IntN(2) == 0, act: r.IntN(5), scale: r.IntN(7)}
	if layer > 0 { // rows of one width for all types
		m.weight = max(0, r.IntN(4)-1)
	}
	if r.IntN(4) == 0 {
		m.early = r.IntN(layer + 1)
	}
	return m
}

func drawTypedLayer(r *rand.Rand, layer, out int, last bool) typedLayer {
	l := typedLayer{out: out, heads: 1 + r.IntN(2), per: r.IntN(3) == 0, after: r.IntN(3) == 0, update: r.IntN(4) == 0, gather: r.IntN(7), second: r.IntN(7), way: r.IntN(5), self: r.IntN(3) > 0, first: r.IntN(5) == 0,
		degree: max(0, r.IntN(4)-1), act: r.IntN(5), message: drawMessage(r, "m", layer), other: drawMessage(r, "n", layer)}
	if last {
		l.act, l.update = 0, false // nobody reads what it would make of edges
	}
	if out%l.heads != 0 {
		l.heads = 1
	}
	if l.per {
		l.gather = min(l.gather, 5)
	}
	if l.per || l.way >= 2 { // Score is of the messages of ApplyEdge
		l.second %= 5
	}
	return l
}

// apply is the message of ApplyEdge or GatherOf.
func (m typedMessage) apply(out int) func(e saga.Edge, p saga.Params) saga.Tensor {
	return func(e saga.Edge, p saga.Params) saga.Tensor {
		of := []saga.Params{p, p.Shared(), p.Of(e.Relation.Src)}[m.weight]
		product := func(p saga.Params, x saga.Tensor, name string) saga.Tensor {
			return ops.MatMul(x, p.Weight(m.name+name, x.Cols(), out))
		}
		h := product(of, e.Src, "W")
		if m.dst {
			h = ops.Add(h, product(p, e.Dst, "V"))
		}
		if m.data && e.Data != nil {
			h = ops.Add(h, product(p, e.Data, "D"))
		}
		if m.byType && e.Type != nil {
			h = ops.Add(h, e.MatMulByType(e.Src, p.TypedWeight(m.name+"T", e.Types, e.Src.Cols(), out)))
		}
		if m.early >= 0 && m.ofDst {
			h = ops.Add(h, product(p, e.DstRows(m.early), "E"))
		} else if m.early >= 0 {
			h = ops.Add(h, product(p, e.SrcRows(m.early), "E"))
		}
		h = typedActs[m.act](h)
		switch {
		case m.scale == 1:
			h = ops.RowScale(h, e.SymNorm())
		case m.scale == 2 && e.Weight != nil:
			h = ops.RowScale(h, e.Weight)
		case m.scale == 3:
			h = ops.RowScale(h, ops.Sigmoid(ops.RowSum(ops.Mul(product(p, e.Dst, "G"), h))))
		case m.scale == 4:
			h = ops.RowScale(h, e.Softmax(ops.MatMul(e.Src, p.Weight(m.name+"S", e.Src.Cols(), 1))))
		case m.scale == 5 && e.Type != nil:
			h = ops.RowScale(h, e.TypeNorm())
		}
		return h
	}
}

func (l typedLayer) score(e saga.Edge, p saga.Params) saga.Tensor {
	return ops.LeakyReLU(ops.Add(ops.MatMul(e.Src, p.Weight("Q", e.Src.Cols(), l.heads)), ops.MatMul(e.Dst, p.Weight("K", e.Dst.Cols(), l.heads))), 0.2)
}

// secondOf is what the second gather adds.
func (l typedLayer) secondOf(v saga.Vertex) (all saga.Tensor) {
	switch acc := typedGathers[l.second]; l.way {
	case 1:
		return ops.Tanh(v.Gather(acc))
	case 2:
		return v.GatherOf(acc, l.other.apply(l.out))
	case 3:
		for _, y := range v.Each(acc) {
			if all == nil {
				all = y
			} else {
				all = ops.Maximum(all, y)
			}
		}
	case 4:
		for _, y := range v.Each(acc) {
			if y = ops.Tanh(y); all != nil {
				y = ops.Add(all, y)
			}
			all = y
		}
	}
	return all
}

func (l typedLayer) vertex(v saga.Vertex, p saga.Params) saga.Tensor {
	x := v.Accum
	if y := l.secondOf(v); y != nil {
		x = ops.Add(x, y)
	}
	switch l.degree {
	case 1:
		x = ops.RowScale(x, ops.Inverse(ops.Shift(v.InDegree, 1)))
	case 2:
		x = ops.RowScale(x, ops.Inverse(ops.Shift(v.OutDegree, 1)))
	}
	if l.self {
		x = ops.Add(x, ops.MatMul(v.Self, p.Weight("own", v.Self.Cols(), l.out)))
	}
	if l.first {
		x = ops.Add(x, ops.MatMul(v.Rows(0), p.Weight("first", v.Rows(0).Cols(), l.out)))
	}
	if l.after {
		return x
	}
	return typedActs[l.act](x)
}

// layer is the layer as a user writes it.
func (l typedLayer) layer() saga.Layer {
	s := saga.Layer{Name: "random", ApplyEdge: l.message.apply(l.out), Gather: typedGathers[l.gather], ApplyVertex: l.vertex, PerRelation: l.per}
	if l.gather >= 5 || l.way == 1 && l.second >= 5 {
		s.Score = l.score
	}
	if l.after {
		s.After = func(_ saga.Vertex, x saga.Tensor, p saga.Params) saga.Tensor {
			return typedActs[l.act](ops.Bias(x, p.Bias("bias", l.out)))
		}
	}
	if l.update {
		s.UpdateEdge = func(e saga.Edge, p saga.Params) saga.Tensor {
			h := ops.MatMul(ops.Concat(e.Src, e.Dst), p.Weight("U", e.Src.Cols()+e.Dst.Cols(), 2))
			if e.Data != nil && e.Data.Cols() == 2 {
				h = ops.Add(h, e.Data)
			}
			return ops.Tanh(h)
		}
	}
	return s
}

// drawTyped draws a graph: types t0, t1, …, relations r0, r1, …, the first one to the type with labels.
func drawTyped(r *rand.Rand, loops bool) (*dataset.Hetero, int) {
	h, types := &dataset.Hetero{Name: "random"}, 1+r.IntN(3)
	for i := range types {
		d := &dataset.Data{Edges: &chunk.Edges{V: 1 + r.IntN(7)}, FeatureCols: 1 + r.IntN(3)}
		for range d.Edges.V * d.FeatureCols {
			d.Features = append(d.Features, float32(r.NormFloat64()))
		}
		h.Types = append(h.Types, dataset.VertexType{Name: fmt.Sprint("t", i), Rows: d})
	}
	target := r.IntN(types)
	for i := range 1 + r.IntN(5) {
		x := dataset.Relation{Source: r.IntN(types), Name: fmt.Sprint("r", i), Target: r.IntN(types)}
		edges := oneOf(r, 0, 1, 2+r.IntN(12), 2+r.IntN(12))
		if i == 0 {
			x.Target, edges = target, max(edges, 2)
		}
		from, to := h.Types[x.Source].Rows.Edges.V, h.Types[x.Target].Rows.Edges.V
		e := &chunk.Edges{V: max(from, to)}
		weights, typed := r.IntN(2) == 0, r.IntN(3) == 0 && !loops && edges > 0
		if typed {
			e.Types = 2 + r.IntN(2)
		}
		if r.IntN(2) == 0 && !loops && edges > 0 {
			e.DataCols = 1 + r.IntN(3)
		}
		for k := range edges {
			e.Src, e.Dst = append(e.Src, r.Uint32N(uint32(from))), append(e.Dst, r.Uint32N(uint32(to)))
			if weights {
				e.Weight = append(e.Weight, r.Float32()+0.1)
			}
			if typed {
				e.Type = append(e.Type, uint32(k%e.Types))
			}
			for range e.DataCols {
				e.Data = append(e.Data, float32(r.NormFloat64()))
			}
		}
		x.Links = &dataset.Data{Edges: e}
		h.Relations = append(h.Relations, x)
	}
	slices.SortStableFunc(h.Relations, func(a, b dataset.Relation) int {
		return 100*(a.Source-b.Source) + 10*strings.Compare(a.Name, b.Name)
	})
	d := h.Types[target].Rows
	d.Classes = 2 + r.IntN(2)
	for v := range d.Edges.V {
		if d.Labels = append(d.Labels, int32(r.IntN(d.Classes))); v == 0 || r.IntN(3) > 0 {
			d.Train = append(d.Train, uint32(v))
		}
	}
	return h, target
}

// TestTypedPrograms: see the top of the file.
func TestTypedPrograms(t *testing.T) {
	cases := 12
	if draw.Soak() {
		cases = 400
	}
	for k := range cases {
		r := rand.New(rand.NewPCG(draw.Seed(t), uint64(k)))
		loops := r.IntN(4) == 0
		h, target := drawTyped(r, loops)
		hidden, count := 2*(1+r.IntN(2)), 1+r.IntN(3)
		o, m := newTypedOracle(h, target, count, loops), saga.Model{Name: "random", SelfLoops: loops}
		for i := range count {
			out := hidden
			if i == count-1 {
				out = h.Types[target].Rows.Classes
			}
			l := drawTypedLayer(r, i, out, i == count-1)
			o.layers, m.Layers = append(o.layers, l), append(m.Layers, l.layer())
		}
		c := saga.Config{Seed: uint64(k), Optimizer: saga.Optimizer{Kind: "sgd", LR: 0.05}, Save: oneOf(r, "", "all", "none")}
		switch r.IntN(4) {
		case 0:
			c.Chunks, c.Stream = len(h.Types)+r.IntN(6), true
		case 1:
			c.Chunks, c.Device = 2*len(h.Types), "cpu:2"
		case 2:
			c.Machine, c.Save = "h200", ""
		}
		if text := o.compare(m, h.At(target), c); text != "" {
			t.Errorf("case %d: %s\nlayers %+v\ntypes %v, relations %+v, %+v", k, text, o.layers, o.n, o.relations, c)
		}
	}
}

// compare says what a step of m and the formulas differ in.
func (o *typedOracle) compare(m saga.Model, d *dataset.Data, c saga.Config) string {
	p, err := saga.Compile(m, d, c)
	if err != nil {
		if strings.Contains(err.Error(), "get no messages") {
			return ""
		}
		return err.Error()
	}
	defer p.Close()
	for _, q := range p.Params() {
		w, err := p.Param(q.Name)
		if err != nil {
			return err.Error()
		}
		x := newMatrix(q.Rows, q.Cols)
		for i := range w {
			if strings.HasSuffix(q.Name, "bias") {
				w[i] = float32(i%3)*0.1 - 0.15 // none is 0, where ReLU of a row of zeros has two slopes
			}
			x.x[i] = float64(w[i])
		}
		if err := p.SetParam(q.Name, w); err != nil {
			return err.Error()
		}
		o.params[q.Name] = x
	}
	z, classes, err := p.Predict()
	if err != nil {
		return err.Error()
	}
	want := o.forward()
	if want == nil || want.cols != classes {
		return fmt.Sprintf("no logits by formulas, %d classes", classes)
	}
	if k := farApart(z, want.x, 2e-4, 1); k >= 0 {
		return fmt.Sprintf("logit %d is %v, want %v", k, z[k], want.x[k])
	}
	loss, err := p.Step()
	if err != nil {
		return err.Error()
	}
	if l := o.loss(); !(math.Abs(l-loss) <= 2e-4*max(1, l)) {
		return fmt.Sprintf("the loss is %v, want %v", loss, l)
	}
	grads, most := o.gradients()
	for name, w := range grads {
		g, err := p.Grad(name)
		if err != nil {
			return err.Error()
		}
		if k := farApart(g, w, 1e-3, most); k >= 0 {
			return fmt.Sprintf("number %d of the gradient of %s is %v, want %v; the largest is %v", k, name, g[k], w[k], most)
		}
		if !o.read[name] {
			return "formulas do not read " + name
		}
	}
	return ""
}

// farApart is the first number that differs from the one wanted by more than tol of the largest, which is at least least; -1: none.
func farApart(got []float32, want []float64, tol, least float64) int {
	for _, y := range want {
		least = max(least, math.Abs(y))
	}
	for i, y := range want {
		if !(math.Abs(float64(got[i])-y) <= tol*least) {
			return i
		}
	}
	return -1
}
