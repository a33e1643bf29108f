package saga

import (
	"errors"
	"fmt"
	"strings"

	"sagann/dataflow"
	"sagann/ops"
)

// Tracing over several vertex types and relations: ApplyEdge, Score and UpdateEdge run once for each relation, ApplyVertex and After once for each type.

// trace turns m into a program. It is the only place where a panic in a user's function becomes
// an error.
func trace(m Model, d dims, train bool) (tr *traced, err error) {
	if len(m.Layers) == 0 {
		return nil, errors.New("a model needs at least one layer")
	}
	layer := 0
	t := &tracer{g: dataflow.NewTrace(), d: d, train: train, level: d.levels, params: map[string]*dataflow.Node{}, drops: map[string]int{}, data: map[int]func() Tensor{}, averages: map[*dataflow.Node]Tensor{}, means: map[*dataflow.Node]Tensor{}, average: m.Average}
	defer func() {
		if r := recover(); r != nil {
			tr, err = nil, layerError(&m, layer, t.failed(r))
		}
	}()
	if d.kinds != nil {
		return t.kinds(&m, &layer)
	}
	return t.whole(&m, &layer)
}

// kinds is trace over several types and relations. at is the layer that it traces.
func (t *tracer) kinds(m *Model, at *int) (*traced, error) {
	k := t.d.kinds
	wanted := k.wanted(m)
	xs := make([]Tensor, len(k.types))
	for i := range k.types {
		if t.at(i); wanted[0][i] {
			cols := k.types[i].features
			if k.types[i].identity {
				cols = t.d.vertices
			}
			if k.types[i].learned {
				xs[i] = t.embed()
			} else {
				xs[i] = t.vertex(k.featuresOf(i), cols)
			}
		}
	}
	tr := &traced{t: t, features: xs[k.target]}
	for *at = range m.Layers {
		l := &m.Layers[*at]
		fails := func(err error) (*traced, error) { return nil, layerError(m, *at, err) }
		if err := l.fits(); err != nil {
			return fails(err)
		}
		tr.hidden, tr.rows = xs[k.target], xs[k.target]
		t.behind = append(t.behind, xs)
		xs = t.kindsLayer(l, *at, xs, wanted[*at+1], k.later(m, *at, wanted))
		if err := k.given(xs); err != nil {
			return fails(err)
		}
	}
	*at = len(m.Layers)
	t.at(k.target)
	if len(k.ends) > 1 && m.Task != "" && m.Task != VertexTask {
		tr.far = xs[k.ends[1]]
	}
	if err := tr.head(m, xs[k.target]); err != nil {
		return nil, err
	}
	return tr, nil
}

// given is an error if a layer that gave the types rows xs gives none for a type whose rows are wanted.
func (k *kinds) given(xs []Tensor) error {
	for _, t := range k.ends {
		switch x := xs[t]; {
		case x == nil:
			return fmt.Errorf("vertices of type %s, which have the labels, get no messages, and the layer computes nothing without: no relation leads to them from vertices that have rows then; the reverse of a relation (--undirected) would", k.types[t].name)
		case x.Shape().Set.Kind != dataflow.Vertex:
			return fmt.Errorf("ApplyVertex and After must return one row per vertex, not %v", x.Shape())
		}
	}
	return nil
}

// pass is the output of a forward pass; of vertices of type typ these are rows that enter the last layer, or its head. "": of the target.
func (tr *traced) pass(output, typ string) (Tensor, error) {
	switch {
	case typ != "":
		return tr.ofType(typ)
	case output == "hidden":
		return tr.hidden, nil
	}
	return tr.logits, nil
}

// ofType are the rows of the vertices of that type that enter the last layer, or the head.
func (tr *traced) ofType(name string) (Tensor, error) {
	k, rows := tr.t.d.kinds, tr.t.behind[len(tr.t.behind)-1]
	if tr.t.d.task == EdgeTask {
		rows = make([]Tensor, len(k.types))
		for i, x := range []Tensor{tr.rows, tr.far}[:len(k.ends)] {
			rows[k.ends[i]] = x
		}
	}
	var names []string
	for i, x := range rows {
		if x == nil {
			continue
		}
		if k.types[i].name == name {
			return x, nil
		}
		names = append(names, k.types[i].name)
	}
	return nil, fmt.Errorf("saga: the model gives no rows of vertices of type %.40q; there are rows of %.400s, which enter the last layer or the head", name, strings.Join(names, ", "))
}

// wanted tells, by layer and type, whose rows the labels depend on; entry 0 is the features.
func (k *kinds) wanted(m *Model) [][]bool {
	list := make([][]bool, len(m.Layers)+1)
	for l := len(m.Layers); l >= 0; l-- {
		list[l] = make([]bool, len(k.types))
		if l == len(m.Layers) {
			for _, t := range k.ends {
				list[l][t] = true
			}
			continue
		}
		copy(list[l], list[l+1])
		for i := range k.relations {
			if r := &k.relations[i]; m.Layers[l].ApplyEdge != nil && list[l+1][r.dst] {
				list[l][r.src] = true
			}
		}
	}
	return list
}

// later tells on the edges of which relations the labels depend behind layer l of m.
func (k *kinds) later(m *Model, l int, wanted [][]bool) []bool {
	list := make([]bool, len(k.relations))
	for r := range list {
		list[r] = m.Task == EdgeTask && r == k.linked()
		for i := l + 1; i < len(m.Layers); i++ {
			list[r] = list[r] || m.Layers[i].ApplyEdge != nil && wanted[i+1][k.relations[r].dst]
		}
	}
	return list
}

// kindsLayer are the new rows of the vertices of all wanted types, by type, computed from their rows xs; nil: a type has none. later tells for
// which relations UpdateEdge runs.
func (t *tracer) kindsLayer(l *Layer, index int, xs []Tensor, wanted, later []bool) []Tensor {
	t.g.Origin(fmt.Sprintf("layer %d", index+1))
	defer t.g.Origin("")
	ins := make([]Tensor, len(xs))
	for i, x := range xs {
		if t.at(i); x != nil {
			ins[i] = t.dropout(x, l.Dropout)
		}
	}
	own := t.eachBelow(l, ins)
	ys := make([]Tensor, len(xs))
	for i := range ys {
		if wanted[i] && ins[i] != nil {
			if y := t.kindRows(l, index, ins, own[i], i); !y.IsAbsent() {
				ys[i] = y
			}
		}
	}
	for r := range t.d.kinds.relations { // only now: the layer itself has seen the data as it was
		if x := &t.d.kinds.relations[r]; l.UpdateEdge != nil && later[r] && ins[x.src] != nil && ins[x.dst] != nil {
			t.along(r)
			t.updateEdge(l, index, ins[x.src], ins[x.dst], t.paramsOf(l, index).as(x.scope, t.d.kinds.draws(r)))
		}
	}
	return ys
}

// kindRows are the new rows of the vertices of type i, which have rows self of rows xs of all types.
func (t *tracer) kindRows(l *Layer, index int, xs []Tensor, self Tensor, i int) Tensor {
	k, p := t.d.kinds, t.paramsOf(l, index)
	v := Vertex{Self: self, Type: k.types[i].name, InDegree: t.g.Absent(), OutDegree: t.g.Absent(), t: t}
	t.at(i)
	for r := range k.relations {
		if k.relations[r].src == i { // out-degrees are of sources, which t.along would not make the current vertices
			t.rel = r
			v.OutDegree = ops.Add(v.OutDegree, t.vertex(dataflow.OutDegree, 1))
		}
	}
	sum := t.g.Absent()
	for r := range k.relations {
		if x := &k.relations[r]; x.dst != i || xs[x.src] == nil || l.ApplyEdge == nil {
			continue
		}
		t.along(r)
		t.g.Origin(fmt.Sprintf("layer %d", index+1))
		q := p.as(k.relations[r].scope, k.draws(r))
		g := t.messages(l, xs[k.relations[r].src], self, q)
		v.InDegree = ops.Add(v.InDegree, t.vertex(dataflow.InDegree, 1))
		if !l.PerRelation {
			v.in = append(v.in, g)
			continue
		}
		one := v
		one.InDegree, one.OutDegree = t.vertex(dataflow.InDegree, 1), t.g.Absent()
		if k.relations[r].src == i {
			one.OutDegree = t.vertex(dataflow.OutDegree, 1)
		}
		t.g.Origin(fmt.Sprintf("layer %d gather", index+1))
		one.Accum, one.in = g.gather(l.Gather, g.rows), []*messages{g}
		sum = ops.Add(sum, t.applyVertex(l, one, q))
	}
	own := p.as(k.typeScope(i), k.typeDraws(i))
	if l.PerRelation && l.ApplyEdge != nil {
		t.at(i)
		return t.after(l, v, sum, own)
	}
	t.lacks = l.ApplyEdge != nil && len(v.in) == 0
	defer func() { t.lacks = false }()
	if l.ApplyEdge != nil {
		t.g.Origin(fmt.Sprintf("layer %d gather", index+1))
		v.Accum = v.sum(l.Gather, (*messages).own)
		if v.in == nil {
			v.in = []*messages{}
		}
	}
	t.at(i)
	return t.after(l, v, t.applyVertex(l, v, own), own)
}
