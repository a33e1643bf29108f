package eval_test

import (
	"math"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/internal/eval"
	"sagann/ops"
)

// Three vertices; in-edges: 0 from 1 and 2, 1 from 0, none for 2. Ranks 0, 0, 1.
var graph = &chunk.Edges{
	V: 3, Src: []uint32{1, 0, 2}, Dst: []uint32{0, 1, 0},
	Type: []uint32{0, 1, 1}, Types: 2, Weight: []float32{.5, 1, 2},
	Data: []float32{1, 2, 3, 4, 5, 6}, DataCols: 2,
}

func TestRunByHand(t *testing.T) {
	g := dataflow.NewTrace()
	x := g.Leaf(dataflow.InputOp, "x", dataflow.Shape{Set: dataflow.V0, Cols: 2})
	wide := g.Leaf(dataflow.InputOp, "wide", dataflow.Shape{Set: dataflow.V0, Cols: 4})
	w := g.Leaf(dataflow.ParamOp, "w", dataflow.Shape{Rows: 2, Cols: 1})
	by := g.Leaf(dataflow.InputOp, "by", dataflow.Shape{Set: dataflow.V0, Cols: 1})
	edge := func(name string, cols int) *dataflow.Node {
		return g.Leaf(dataflow.InputOp, name, dataflow.Shape{Set: dataflow.E0, Cols: cols})
	}
	leaves := func(n *dataflow.Node) []float32 {
		return map[string][]float32{
			"x": {1, -2, 3, 4, 5, -6}, "by": {0, 2, 0}, "w": {10, 1},
			"wide": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		}[n.Attr().S]
	}
	src := dataflow.ScatterSrc(x)
	lse := float32(math.Log(math.Exp(3) + math.Exp(5)))
	for _, tc := range []struct {
		name string
		node *dataflow.Node
		want []float32
	}{
		{"rank", edge("edge:rank", 1), []float32{0, 0, 1}},
		{"type", edge("edge:type", 1), []float32{0, 1, 1}},
		{"weight", edge("edge:weight", 1), []float32{.5, 1, 2}},
		{"data", edge("edge:data", 2), []float32{1, 2, 3, 4, 5, 6}},
		{"const", ops.Mul(g.Const(3), edge("edge:type", 1)), []float32{0, 3, 3}},
		{"src", src, []float32{3, 4, 1, -2, 5, -6}},
		{"dst", dataflow.ScatterDst(x), []float32{1, -2, 3, 4, 1, -2}},
		{"sum", ops.Sum(src), []float32{8, -2, 1, -2, 0, 0}},
		{"sum at sources", dataflow.GatherSrc(src), []float32{1, -2, 3, 4, 5, -6}},
		{"max", ops.Max(src), []float32{5, 4, 1, -2, 0, 0}},
		{"arg", dataflow.Apply(dataflow.ArgMaxOp, dataflow.Attr{}, src), []float32{1, 0, 0, 0, 0, 0}},
		{"min", ops.Min(src), []float32{3, -6, 1, -2, 0, 0}},
		{"lse", ops.LSE(ops.Slice(src, 0, 1)), []float32{lse, 1, 0}},
		{"first one", ops.ConcatFirst(src, 1), []float32{3, 4, 1, -2, 0, 0}},
		{"first two", ops.ConcatFirst(src, 2), []float32{3, 4, 5, -6, 1, -2, 0, 0, 0, 0, 0, 0}},
		{"gather by type", dataflow.Keyed(dataflow.GatherDstOp, "type", 2, src), []float32{3, 4, 5, -6, 0, 0, 1, -2, 0, 0, 0, 0}},
		{"scatter by type", dataflow.Keyed(dataflow.ScatterSrcOp, "type", 2, wide), []float32{5, 6, 3, 4, 11, 12}},
		{"matmul", ops.MatMul(x, w), []float32{8, 34, 44}},
		{"matmul_nt", ops.MatMulNT(ops.MatMul(x, w), w), []float32{80, 8, 340, 34, 440, 44}},
		{"matmul_tn", ops.MatMulTN(x, x), []float32{35, -20, -20, 56}},
		{"sum_rows", ops.SumRows(x), []float32{9, -4}},
		{"sum_rows_by", ops.SumRowsBy(x, by, 3), []float32{6, -8, 0, 0, 3, 4}},
		{"max_rows_by", ops.MaxRowsBy(x, by, 3), []float32{5, -2, 0, 0, 3, 4}},
		{"max_rows_by, one left out", ops.MaxRowsBy(x, by, 2), []float32{5, -2, 0, 0}},
		{"pick_rows", ops.PickRows(ops.SumRowsBy(x, by, 3), by), []float32{6, -8, 3, 4, 6, -8}},
	} {
		got := eval.Run([]*dataflow.Node{nil, tc.node}, leaves, graph)[tc.node]
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestRunRefusesWrongLeaves(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a leaf of the wrong size was accepted")
		}
	}()
	x := dataflow.NewTrace().Leaf(dataflow.InputOp, "x", dataflow.Shape{Rows: 2, Cols: 2})
	eval.Run([]*dataflow.Node{x}, func(*dataflow.Node) []float32 { return []float32{1} }, nil)
}
