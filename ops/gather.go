package ops

import (
	"sagann/dataflow"
	"sagann/kernel"
)

// Sum adds the rows of m [E×c] at their destinations: [V×c], 0 without in-edges.
func Sum(m *Node) *Node { return dataflow.GatherDst(m) }

// Mean is the mean of the rows of m [E×c] at their destinations, given
// invDegree [V×1], 1/max(in-degree, 1): [V×c], 0 without in-edges.
func Mean(m, invDegree *Node) *Node { return RowScale(Sum(m), invDegree) }

// Max is the maximum of the rows of m [E×c] at their destinations, column by
// column: [V×c], 0 without in-edges, NaN if an edge has NaN. The gradient goes to the
// edge that has the maximum (or the NaN); if several have it, to the first in stored order.
func Max(m *Node) *Node { return apply(dataflow.GatherMaxOp, m) }

var _ = define(dataflow.GatherMaxOp, Def{Class: dataflow.Move, Shape: dataflow.GatherShape, Acc: kernel.Max,
	VJP: func(n, dy *Node) []*Node {
		m := n.In(0)
		arg := apply(dataflow.ArgMaxOp, m)
		rank := n.Graph().Leaf(dataflow.InputOp, dataflow.RankInput, shape{Set: m.Shape().Set, Cols: 1})
		holds := Eq(m.Shape().Set.ScatterDst(arg), Widen(rank, m.Cols()))
		return []*Node{Mask(m.Shape().Set.ScatterDst(dy), holds)}
	}})

// The rank of the in-edge that has the maximum; no gradient.
var _ = define(dataflow.ArgMaxOp, Def{Class: dataflow.Move, Exact: true, Shape: dataflow.GatherShape, Acc: kernel.Max})

// Min is the minimum of the rows of m [E×c] at their destinations, column by
// column: [V×c], 0 without in-edges; its gradient is like that of Max.
func Min(m *Node) *Node { return Neg(Max(Neg(m))) }

// ConcatFirst puts the rows of the first k in-edges of every vertex, in stored
// order, side by side: [E×c] to [V×k·c], zeros where there are fewer.
func ConcatFirst(m *Node, k int) *Node {
	return dataflow.Keyed(dataflow.GatherDstOp, "rank", k, m)
}

// LSE is log Σ exp over the rows of score [E×h] at their destinations: [V×h],
// 0 without in-edges, -Inf where all scores are. It does not overflow.
func LSE(score *Node) *Node { return apply(dataflow.GatherLSEOp, score) }

var _ = define(dataflow.GatherLSEOp, Def{Class: dataflow.Move, Exact: true, Shape: dataflow.GatherShape, Acc: kernel.LSE,
	VJP: func(n, dy *Node) []*Node {
		return []*Node{Mul(n.In(0).Shape().Set.ScatterDst(dy), edgeSoftmax(n.In(0), n))}
	}})

// edgeSoftmax is e**(score - lse at the destination): over the in-edges of a
// vertex it sums to one.
func edgeSoftmax(score, lse *Node) *Node {
	return Exp(Sub(score, score.Shape().Set.ScatterDst(lse)))
}

// SoftmaxSum adds the rows of m [E×f] at their destinations, each weighted by the
// softmax of its score [E×h] among the in-edges of the destination, one weight for
// each of h heads: [V×f], 0 without in-edges. h must divide f.
func SoftmaxSum(score, m *Node) *Node {
	return Sum(RowScale(m, edgeSoftmax(score, LSE(score))))
}
