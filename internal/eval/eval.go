package eval

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/kernel"
)

type node = dataflow.Node

// Run computes outs, whose entries may be nil, and every node that they depend on, on the graph g. g may
// be nil for programs without vertices and edges. leaves returns the values, rows ×
// columns, of parameters and inputs. The inputs "edge:rank", "edge:type", "edge:weight" and "edge:data"
// are taken from g instead. Run panics on a leaf of the wrong size and on an unknown op.
func Run(outs []*node, leaves func(n *node) []float32, g *chunk.Edges) map[*node][]float32 {
	return RunWith(outs, leaves, g, func(*node, []float32) {})
}

// Blocks are sampled blocks for RunBlocks, by level and by block.
type Blocks struct {
	Rows  []int         // by level
	Edges []chunk.Edges // by block: Src are rows of the level above, Dst rows of its level
	Rank  [][]int       // by block: the rank of each edge in the whole in-list of its destination
}

// RunBlocks is RunWith for a program over sampled blocks. leaves returns all leaves but "edge:…".
func RunBlocks(outs []*node, leaves func(n *node) []float32, b *Blocks, change func(n *node, x []float32)) map[*node][]float32 {
	e := &run{blocks: b, leaves: leaves, val: map[*node][]float32{}}
	return e.all(outs, change)
}

// RunWith is Run that calls change with every value after it is computed. Later nodes use the changed value.
func RunWith(outs []*node, leaves func(n *node) []float32, g *chunk.Edges, change func(n *node, x []float32)) map[*node][]float32 {
	if g == nil {
		g = &chunk.Edges{}
	}
	e := &run{g: g, rank: ranks(g), leaves: leaves, val: map[*node][]float32{}}
	return e.all(outs, change)
}

// all computes outs and every node that they depend on.
func (e *run) all(outs []*node, change func(n *node, x []float32)) map[*node][]float32 {
	for _, n := range dataflow.Live(outs) {
		e.turn(n)
		v := e.compute(n)
		if want := e.rows(n.Shape()) * n.Cols(); len(v) != want {
			panic(fmt.Sprintf("eval: %s%v made at %s has %d numbers, want %d", n.Op(), n.Attr(), n.Pos(), len(v), want))
		}
		change(n, v)
		e.val[n] = v
	}
	return e.val
}

type run struct {
	g      *chunk.Edges
	rank   []int
	leaves func(n *node) []float32
	val    map[*node][]float32

	blocks *Blocks // nil: g is a full graph
}

// turn sets g and rank to the block whose rows node n moves, or whose edges it reads.
func (e *run) turn(n *node) {
	if e.blocks == nil {
		return
	}
	sets := []dataflow.Set{n.Shape().Set}
	for i := range n.NumIn() {
		sets = append(sets, n.In(i).Shape().Set)
	}
	for _, s := range sets {
		if s.Kind == dataflow.Edge {
			e.g, e.rank = &e.blocks.Edges[s.Level()], e.blocks.Rank[s.Level()]
		}
	}
}

// ranks is the position of every edge among the in-edges of its destination.
func ranks(g *chunk.Edges) []int {
	rank, next := make([]int, g.E()), make([]int, g.V)
	for e, d := range g.Dst {
		rank[e] = next[d]
		next[d]++
	}
	return rank
}

// rows is the number of rows of a tensor of shape s.
func (e *run) rows(s dataflow.Shape) int {
	switch s.Set.Kind {
	case dataflow.Vertex:
		if e.blocks != nil {
			return e.blocks.Rows[s.Set.Level()]
		}
		return e.g.V
	case dataflow.Edge:
		if e.blocks != nil {
			return e.blocks.Edges[s.Set.Level()].E()
		}
		return e.g.E()
	}
	return s.Rows
}

func (e *run) compute(n *node) []float32 {
	d := n.Def()
	switch d.Class {
	case dataflow.Leaf:
		return e.leaf(n)
	case dataflow.Move:
		return e.move(n)
	case dataflow.Reduce:
		return e.reduce(n)
	case dataflow.View:
		x := e.val[n.In(0)]
		out := make([]float32, e.rows(n.Shape())*n.Cols())
		copy(out, x)
		return out
	}
	switch d.Role {
	case kernel.MatMul:
		return e.matmul(n, false)
	case kernel.MatMulNT:
		return e.matmul(n, true)
	}
	return e.strip(n)
}

func (e *run) leaf(n *node) []float32 {
	if n.Op() == dataflow.ConstOp {
		return []float32{n.Attr().F}
	}
	if n.Op() == dataflow.InputOp {
		switch n.Attr().S {
		case dataflow.RankInput:
			out := make([]float32, len(e.rank))
			for k, r := range e.rank {
				out[k] = float32(r)
			}
			return out
		case dataflow.TypeInput:
			out := make([]float32, len(e.g.Type))
			for k, t := range e.g.Type {
				out[k] = float32(t)
			}
			return out
		case dataflow.WeightInput:
			return e.g.Weight
		case dataflow.DataInput:
			return e.g.Data
		}
	}
	return e.leaves(n)
}

// strip runs the declared CPU code over all rows at once.
func (e *run) strip(n *node) []float32 {
	d := n.Def()
	a := &kernel.Args{
		Rows: e.rows(n.Shape()), OutCols: n.Cols(),
		I: n.Attr().I, J: n.Attr().J, F: n.Attr().F,
	}
	a.Out = make([]float32, a.Rows*a.OutCols)
	for i := range n.NumIn() {
		x := n.In(i)
		v, rows := e.val[x], 0
		if x.Shape().Set.Kind == dataflow.Global && n.Shape().Set.Kind != dataflow.Global {
			if d.Class == dataflow.Row {
				rows = x.Shape().Rows
			} else {
				v = spread(v, a.Rows)
			}
		} else if d.Class == dataflow.Elem && x.Shape().Set.Kind == dataflow.Global && x.Shape().Rows == 1 && a.Rows > 1 && n.Op() != dataflow.SpreadOp {
			v = spread(v, a.Rows)
		}
		a.In, a.InCols, a.InRows = append(a.In, v), append(a.InCols, x.Cols()), append(a.InRows, rows)
	}
	d.CPU(a)
	return a.Out
}

// spread repeats a row.
func spread(row []float32, rows int) []float32 {
	out := make([]float32, 0, len(row)*rows)
	for range rows {
		out = append(out, row...)
	}
	return out
}
