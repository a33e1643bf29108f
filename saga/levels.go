package saga

import (
	"fmt"

	"sagann/dataflow"
	"sagann/ops"
)

// The rows that a layer sees. Over the full graph a layer's input and output have a row a
// vertex. Over sampled blocks its input has the rows of a level and its output those of the level
// below, where the edges of its block end; a layer that gathers nothing stays on its level.

// vertices are the rows in hand.
func (t *tracer) vertices() dataflow.Set {
	if t.d.levels == 0 {
		return dataflow.V0
	}
	return dataflow.Level(t.level)
}

// edgeSet are the edges that end in the rows in hand.
func (t *tracer) edgeSet() dataflow.Set {
	if t.d.levels == 0 {
		return dataflow.E0
	}
	return dataflow.Block(t.level)
}

// below goes to the level below where layer l gathers, and gives its rows of x.
func (t *tracer) below(l *Layer, x Tensor) Tensor {
	if t.d.levels == 0 || l.ApplyEdge == nil {
		return x
	}
	t.level--
	return dataflow.Prefix(x)
}

// ends is vertex input name [V×1] where the edges in hand begin and where they end.
func (t *tracer) ends(name string) (src, dst Tensor) {
	dst = t.vertex(name, 1)
	if t.d.levels == 0 {
		return dst, dst
	}
	return t.g.Leaf(dataflow.InputOp, name, dataflow.Shape{Set: dataflow.Level(t.level + 1), Cols: 1}), dst
}

// ids are the user's ids of the vertices that x has rows of.
func (t *tracer) ids(x Tensor) Tensor {
	set := t.vertices()
	if s := x.Shape().Set; s.Kind == dataflow.Vertex {
		set = s
	}
	return t.g.Leaf(dataflow.InputOp, dataflow.IDInput, dataflow.Shape{Set: set, Cols: 1})
}

// scaled is messages m times how many edges each that was drawn stands for, where sums are scaled. Sums of shares, as of
// Edge.Softmax, are not: the shares of what was drawn add up to 1.
func (t *tracer) scaled(m Tensor) Tensor {
	if !t.d.scaled || t.soft {
		return m
	}
	row := t.edgeRow()
	return ops.RowScale(m, ops.Slice(row, row.Cols()-1, 1))
}

// updateBlocks is updateEdge over blocks: each has edges of its own, whose ends have rows of x too, for levels lie within those above.
// So what update makes of x is made anew for the edges of every later layer, and draws what it drew the first time.
func (t *tracer) updateBlocks(x Tensor, update func(src, dst Tensor) Tensor) {
	before, first := t.data, t.sites
	rows := func(level int) Tensor {
		y := x
		for y.Shape().Set.Level() > level {
			y = dataflow.Prefix(y)
		}
		return y
	}
	again := func(level int) Tensor {
		sites, soft, data, in := t.sites, t.soft, t.data, t.level
		t.sites, t.data, t.level = first, before, level
		y := update(rows(level+1), rows(level))
		t.sites = max(sites, t.sites)
		t.soft, t.data, t.level = soft, data, in
		return y
	}
	if below := min(t.level, x.Shape().Set.Level()-1); below >= 0 {
		again(below) // for its errors, and so that later draws have the places that they have over the full graph
	}
	t.data = func() Tensor { return again(t.level) }
}

// wholeRows refuses what needs all in-edges of a vertex where blocks are sampled.
func (t *tracer) wholeRows(what dataflow.Op, f any) {
	if t.d.levels > 0 {
		panic(&dataflow.ShapeError{Op: what, Pos: dataflow.FuncPos(f),
			Err: fmt.Errorf("needs the whole graph: a sampled block has some of the in-edges of a vertex; train without sampling, or gather by Sum, Mean, Max or SoftmaxSum")})
	}
}

// gathers counts the layers of m that gather: each takes a step of a sampler.
func (m *Model) gathers() int {
	n := 0
	for i := range m.Layers {
		if m.Layers[i].ApplyEdge != nil {
			n++
		}
	}
	return n
}
