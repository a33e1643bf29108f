package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/ops"
)

// Which rows a layer sees. Over the full graph, a layer's input and output have one row per vertex. Over sampled
// blocks, a layer that gathers reads the rows of one level and writes the rows of the level below, which are the
// vertices where the block's edges end. Other layers stay on their level.

// below moves to the level below if layer l gathers, and returns the rows of x that this level has.
func (t *tracer) below(l *Layer, x Tensor) Tensor {
	if t.d.levels == 0 || l.ApplyEdge == nil {
		return x
	}
	t.level--
	return dataflow.Prefix(x)
}

// eachBelow is below for the rows xs of several types; nil: a type has none.
func (t *tracer) eachBelow(l *Layer, xs []Tensor) []Tensor {
	if t.d.levels == 0 || l.ApplyEdge == nil {
		return xs
	}
	t.level--
	own := make([]Tensor, len(xs))
	for i, x := range xs {
		if x != nil {
			own[i] = dataflow.Prefix(x)
		}
	}
	return own
}

// scaled multiplies each of the messages m by the number of edges that it stands for, if sums are scaled
// (NormFull). Sums weighted by Edge.Softmax are not scaled: the weights of the edges drawn add up to 1.
func (t *tracer) scaled(m Tensor) Tensor {
	if !t.d.scaled || t.soft {
		return m
	}
	row := t.edgeRow()
	return ops.RowScale(m, ops.Slice(row, row.Cols()-1, 1))
}

// updateBlocks is updateEdge over sampled blocks. Each block has its own edges. x and y have rows for the ends of the
// edges of all later blocks, since each level contains the levels below it. So update runs again for the edges
// of every later layer, and its dropouts draw the same numbers each time.
func (t *tracer) updateBlocks(x, y Tensor, update func(src, dst Tensor) Tensor) {
	r, drops, behind := t.rel, t.dropsAt(), t.behind
	before, first, dropped := t.data[r], t.sites, t.drops[drops]
	rows := func(x Tensor, level int) Tensor {
		for x.Shape().Set.Level() > level {
			x = dataflow.Prefix(x)
		}
		return x
	}
	again := func(level int) Tensor {
		sites, count, soft, data, in, later := t.sites, t.drops[drops], t.soft, t.data[r], t.level, t.behind
		t.sites, t.drops[drops], t.data[r], t.level, t.behind = first, dropped, before, level, behind
		z := update(rows(x, level+1), rows(y, level))
		t.sites, t.drops[drops] = max(sites, t.sites), max(count, t.drops[drops])
		t.soft, t.data[r], t.level, t.behind = soft, data, in, later
		return z
	}
	if below := min(t.level, x.Shape().Set.Level()-1); below >= 0 {
		again(below) // for its errors, and so that later dropouts get the same numbers as over the full graph
	}
	t.data[r] = func() Tensor { return again(t.level) }
}

// wholeRows panics over sampled blocks. The op what, which the user's function f calls, needs all in-edges of a vertex.
func (t *tracer) wholeRows(what dataflow.Op, f any) {
	if t.d.levels > 0 {
		panic(&dataflow.ShapeError{Op: what, Pos: dataflow.FuncPos(f),
			Err: fmt.Errorf("needs the whole graph: a sampled block has some of the in-edges of a vertex; train without sampling, or gather by Sum, Mean, Max or SoftmaxSum")})
	}
}

// drawnPairs panics if logits of sampled pairs depend on a sum or maximum over them: over the full graph it would be over all
// in-edges of a vertex.
func (t *tracer) drawnPairs(logits Tensor) {
	seen := map[Tensor]bool{}
	var visit func(n Tensor)
	visit = func(n Tensor) {
		if seen[n] {
			return
		}
		seen[n] = true
		for i := range n.NumIn() {
			if n.Shape().Set.Kind == dataflow.Vertex && n.In(i).Shape().Set == t.edgeSet() {
				panic(&dataflow.ShapeError{Op: n.Op(), Pos: n.Pos(), Err: errors.New("over the edges of the head: a batch has some of the in-edges of a vertex; train without sampling, or gather in a layer")})
			}
			visit(n.In(i))
		}
	}
	visit(logits)
}

// gathers counts the layers of m that gather. A sampler needs one step for each.
func (m *Model) gathers() int {
	n := 0
	for i := range m.Layers {
		if m.Layers[i].ApplyEdge != nil {
			n++
		}
	}
	return n
}
