package layers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// lawSplit: a relation divided in two, which share weights, is the relation, for sums of messages.
func lawSplit(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	c := drawSchema(r, 1+r.IntN(4), 2+r.IntN(4), false)
	t, _ := c.h.Type(c.target)
	sum := func(out int, act Activation) saga.Layer {
		return saga.Layer{Name: "sum", ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			x := p.Of(strings.TrimSuffix(e.Relation.Name, "'") + e.Relation.Src + e.Relation.Dst)
			m := ops.MatMul(e.Src, x.Weight("W", e.Src.Cols(), out))
			return ops.Mul(m, ops.Sigmoid(ops.MatMul(e.Dst, x.Weight("G", e.Dst.Cols(), out))))
		}, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return act.of(ops.Add(v.Accum, ops.MatMul(v.Self, p.Weight("R", v.Self.Cols(), out))))
		}}
	}
	c.m = saga.Model{Name: "sum", Layers: []saga.Layer{sum(1+r.IntN(4), ops.Tanh), sum(c.h.Types[t].Rows.Classes, nil)}}
	want, err := c.train(c.at(c.h), saga.Config{}, 3, nil)
	if err != nil {
		return c, err.Error()
	}
	if _, ok := want.params["layer2.R"]; ok { // of one type, perhaps of one relation, which are drawn for as without types
		return c, ""
	}
	x := &c.h.Relations[r.IntN(len(c.h.Relations))]
	e := x.Links.Edges
	half := r.IntN(e.E() + 1)
	src, name, dst, v := x.Source, x.Name+"'", x.Target, e.V
	x.Links = &dataset.Data{Name: x.Name, Edges: &chunk.Edges{V: v, Src: e.Src[:half], Dst: e.Dst[:half]}}
	c.addRelation(src, name, dst, 0)
	for i := range c.h.Relations {
		if y := &c.h.Relations[i]; y.Name == name {
			y.Links.Edges = &chunk.Edges{V: v, Src: e.Src[half:], Dst: e.Dst[half:]}
		}
	}
	got, err := c.train(c.at(c.h), saga.Config{}, 3, nil)
	if err != nil {
		return c, err.Error()
	}
	if !near(got.z, want.z, 1e-4) {
		return c, fmt.Sprintf("%s divided at %d: %v, want %v", name, half, got.z, want.z)
	}
	return c, ""
}

// merged is the graph of c as one of one type: relations are types of edges, features of each type have columns of their own, with one
// more that is 1, and weights of both layers, of so many hidden columns, have blocks in places of their own.
type merged struct {
	c      *schemaCase
	hidden int
	d      *dataset.Data
	first  []int // of each type: its first vertex
	at     []int // of each type: its first column; behind them all, a column for each type
}

func (c *schemaCase) merge(hidden int) *merged {
	m := &merged{c: c, hidden: hidden}
	v, cols := 0, 0
	for _, t := range c.h.Types {
		m.first, m.at = append(m.first, v), append(m.at, cols)
		v, cols = v+t.Rows.Edges.V, cols+t.Rows.FeatureCols
	}
	n := len(c.h.Types)
	e := &chunk.Edges{V: v, Types: len(c.h.Relations)}
	for r, x := range c.h.Relations {
		for k, u := range x.Links.Edges.Src {
			e.Src, e.Dst = append(e.Src, uint32(m.first[x.Source])+u), append(e.Dst, uint32(m.first[x.Target])+x.Links.Edges.Dst[k])
			e.Type = append(e.Type, uint32(r))
		}
	}
	target, _ := c.h.Type(c.target)
	rows := c.h.Types[target].Rows
	m.d = &dataset.Data{Name: "merged", Edges: e, FeatureCols: cols + n, Features: make([]float32, v*(cols+n)), Classes: rows.Classes, Labels: slices.Repeat([]int32{-1}, v)}
	copy(m.d.Labels[m.first[target]:], rows.Labels)
	for _, u := range rows.Train {
		m.d.Train = append(m.d.Train, u+uint32(m.first[target]))
	}
	for t, x := range c.h.Types {
		for u := range x.Rows.Edges.V {
			row := m.d.Features[(m.first[t]+u)*(cols+n):][:cols+n]
			copy(row[m.at[t]:], x.Rows.Features[u*x.Rows.FeatureCols:][:x.Rows.FeatureCols])
			row[cols+t] = 1
		}
	}
	return m
}

// params are the weights that give what the types apart compute with those in p.
func (m *merged) params(p map[string][]float32) map[string][]float32 {
	h, n := m.c.h, len(m.c.h.Types)
	in, wide, classes := m.d.FeatureCols, n*m.hidden+n, m.d.Classes
	out := map[string][]float32{"layer1.W": make([]float32, len(h.Relations)*in*wide), "layer1.W_root": make([]float32, in*wide), "layer1.b": make([]float32, wide),
		"layer2.W": make([]float32, len(h.Relations)*wide*classes), "layer2.W_root": make([]float32, wide*classes), "layer2.b": make([]float32, classes)}
	put := func(to []float32, cols, row, col int, w []float32, wcols int) {
		for i := range len(w) / max(1, wcols) {
			copy(to[(row+i)*cols+col:], w[i*wcols:][:wcols])
		}
	}
	for r, x := range h.Relations {
		full := h.FullName(r)
		put(out["layer1.W"][r*in*wide:], wide, m.at[x.Source], x.Target*m.hidden, p["layer1."+full], m.hidden)
		put(out["layer2.W"][r*wide*classes:], classes, x.Source*m.hidden, 0, p["layer2."+full], classes)
	}
	for t, x := range h.Types {
		put(out["layer1.W_root"], wide, m.at[t], t*m.hidden, p["layer1."+x.Name+".W_root"], m.hidden)
		put(out["layer1.W_root"], wide, in-n+t, t*m.hidden, p["layer1."+x.Name+".b"], m.hidden)
		out["layer1.W_root"][(in-n+t)*wide+n*m.hidden+t] = 1
		put(out["layer2.W_root"], classes, t*m.hidden, 0, p["layer2."+x.Name+".W_root"], classes)
		put(out["layer2.W_root"], classes, n*m.hidden+t, 0, p["layer2."+x.Name+".b"], classes)
	}
	return out
}

// lawMerged: types merged into one, with features padded by zeros and typed weights, give what types apart give.
func lawMerged(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	c := drawSchema(r, 2+r.IntN(3), 2+r.IntN(4), false)
	target, _ := c.h.Type(c.target)
	hidden, rows := 1+r.IntN(4), c.h.Types[target].Rows
	// A relation's weight has its full name here, so that merged finds it.
	rgcn := func(out int, act Activation) saga.Layer {
		l := RGCN(0, out, act)
		l.ApplyEdge = func(e saga.Edge, p saga.Params) saga.Tensor {
			w := p.Shared().Weight(e.Relation.Src+":"+e.Relation.Name+":"+e.Relation.Dst, e.Src.Cols(), out)
			return ops.RowScale(ops.MatMul(e.Src, w), e.TypeNorm())
		}
		return l
	}
	c.m = saga.Model{Name: "apart", Layers: []saga.Layer{rgcn(hidden, ops.ReLU), rgcn(rows.Classes, nil)}}
	want, err := c.train(c.at(c.h), saga.Config{}, 0, nil)
	if err != nil {
		return c, err.Error()
	}
	first, err := c.train(c.at(c.h), saga.Config{}, 1, nil)
	if err != nil {
		return c, err.Error()
	}
	if len(c.h.Types) > 1 && !slices.ContainsFunc(c.h.Relations, func(x dataset.Relation) bool { return x.Source != x.Target }) {
		return c, "" // labels may depend on one type, whose parameters have no name in them
	}
	for name := range want.params {
		if strings.HasSuffix(name, ".W_root") && strings.Count(name, ".") < 2 {
			return c, ""
		}
	}
	m := c.merge(hidden)
	one := *c
	one.m = saga.Model{Name: "merged", Layers: []saga.Layer{RGCN(0, len(c.h.Types)*(hidden+1), ops.ReLU), RGCN(0, rows.Classes, nil)}}
	set := func(p *saga.Program) error {
		for name, w := range m.params(want.params) {
			if err := p.SetParam(name, w); err != nil {
				return err
			}
		}
		return nil
	}
	got, err := one.train(m.d, saga.Config{}, 0, set)
	if err != nil {
		return c, err.Error()
	}
	v := rows.Edges.V
	if z := got.z[m.first[target]*rows.Classes:][:v*rows.Classes]; !near(z, want.z, 1e-5) {
		return c, fmt.Sprintf("merged %v, apart %v", z, want.z)
	}
	if got, err = one.train(m.d, saga.Config{}, 1, set); err != nil || !near(got.z[:1], first.z[:1], 1e-5) {
		return c, fmt.Sprintf("loss merged %v (%v), apart %v", got.z, err, first.z[:1])
	}
	return c, ""
}
