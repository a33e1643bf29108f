package saga

import (
	"fmt"
	"hash/fnv"

	"sagann/dataflow"
	"sagann/ops"
	"sagann/saga/rows"
)

// What the functions of a model read: inputs of the vertices and edges of the current rows.

// at makes the vertices of type i the current ones.
func (t *tracer) at(i int) {
	if k := t.d.kinds; k != nil {
		t.typ, t.d.vertices = i, k.types[i].in.Edges.V
		t.place = k.typeDraws(i)
	}
}

// along makes the edges of relation r, and the vertices where they end, the current ones.
func (t *tracer) along(r int) {
	if k := t.d.kinds; k != nil {
		x := &k.relations[r]
		t.at(x.dst)
		t.rel, t.d.types, t.d.data, t.d.weight = r, x.types, x.data, x.weight
		t.place = k.draws(r)
	}
}

// relation names the current relation.
func (t *tracer) relation() Relation {
	if t.d.kinds == nil {
		return Relation{}
	}
	return t.d.kinds.relations[t.rel].Relation
}

// edges is what functions see of edges whose sources have rows x and whose destinations have rows self.
func (t *tracer) edges(x, self Tensor) Edge {
	set := t.edgeSet()
	e := Edge{Src: set.ScatterSrc(x), Dst: set.ScatterDst(self), Relation: t.relation(), Types: max(1, t.d.types), t: t, ends: [2]dataflow.Set{x.Shape().Set, self.Shape().Set}}
	if data := t.data[t.rel]; data != nil {
		e.Data = data()
	} else {
		e.Data = t.edgeData()
	}
	if t.d.weight || t.d.weighed {
		e.Weight = t.edge(dataflow.WeightInput, 1)
	}
	if t.d.types > 0 {
		e.Type = t.edge(dataflow.TypeInput, 1)
	}
	return e
}

func (t *tracer) vertex(name string, cols int) Tensor {
	if rows.OfDegrees(name) {
		name = dataflow.InRelation(name, t.rel)
	}
	return t.g.Leaf(dataflow.InputOp, name, dataflow.Shape{Set: t.vertices(), Cols: cols})
}

func (t *tracer) edge(name string, cols int) Tensor {
	return t.g.Leaf(dataflow.InputOp, name, dataflow.Shape{Set: t.edgeSet(), Cols: cols})
}

func (t *tracer) step() Tensor {
	return t.g.Leaf(dataflow.InputOp, dataflow.StepInput, dataflow.Shape{Rows: 1, Cols: 4})
}

// site numbers the next dropout. Over several types and relations the number is a hash of the layer, of the type or relation whose
// function drops, and of how many times it has done so: what others drop changes no number.
func (t *tracer) site() int {
	if t.place == "" {
		t.sites++
		return t.sites
	}
	at := t.dropsAt()
	t.drops[at]++
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", at, t.drops[at])
	return int(h.Sum32() >> 1)
}

// dropsAt names the layer and the type or relation whose function runs.
func (t *tracer) dropsAt() string { return fmt.Sprintf("%d %s", len(t.behind), t.place) }

func (t *tracer) dropout(x Tensor, p float32) Tensor {
	if !t.train || p == 0 {
		return x
	}
	return ops.Dropout(x, p, t.site(), t.ids(x), nil, t.step())
}

// vertices is the vertex set of the current rows.
func (t *tracer) vertices() dataflow.Set {
	s := dataflow.OfType(t.typ)
	if t.d.levels > 0 {
		s = s.At(t.level)
	}
	return s
}

// edgeSet is the set of the edges that end in the current rows.
func (t *tracer) edgeSet() dataflow.Set {
	s := dataflow.E0
	if t.d.kinds != nil {
		s = t.d.kinds.set(t.rel)
	}
	if t.d.levels > 0 {
		s = s.At(t.level)
	}
	return s
}

// ids are the user's IDs of the vertices that x has rows for, or of the current rows if x is no
// vertex tensor.
func (t *tracer) ids(x Tensor) Tensor {
	set := t.vertices()
	if s := x.Shape().Set; s.Kind == dataflow.Vertex {
		set = s
	}
	return t.g.Leaf(dataflow.InputOp, dataflow.IDInput, dataflow.Shape{Set: set, Cols: 1})
}

// ends returns the vertex input called name [V×1], once with the rows of the sources of the current edges, once with
// those of their destinations.
func (t *tracer) ends(name string) (src, dst Tensor) {
	dst = t.vertex(name, 1)
	from, _ := t.edgeSet().Ends()
	if t.d.kinds != nil && from.Type != t.vertices().Type { // 1/√(out-degree of u · in-degree of v)
		if name != rows.RsqrtDegree {
			Refuse("Edge.WeightNorm is for relations within a type of vertices")
		}
		return t.g.Leaf(dataflow.InputOp, dataflow.InRelation(rows.RsqrtOutDegree, t.rel), dataflow.Shape{Set: from, Cols: 1}), dst
	}
	if t.d.levels == 0 {
		return dst, dst
	}
	return t.g.Leaf(dataflow.InputOp, dst.Attr().S, dataflow.Shape{Set: from, Cols: 1}), dst
}

// labelCols is how many columns these are for so many targets; targets 0 means a class.
func labelCols(targets int) int { return max(1, targets) + 1 }

// edgeRow is all columns that cells carry as edge data.
func (t *tracer) edgeRow() Tensor {
	n := t.d.data
	if k := t.d.kinds; t.d.task == EdgeTask && (k == nil || k.labels(t.rel)) {
		n += labelCols(t.d.labels.targets)
	}
	if t.d.scaled {
		n++
	}
	return t.edge(dataflow.DataInput, n)
}

// edgeData is the user's columns of it; nil if there are none.
func (t *tracer) edgeData() Tensor {
	if t.d.data == 0 {
		return nil
	}
	return ops.Slice(t.edgeRow(), 0, t.d.data)
}
