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

// SumExp is, over the rows of score [E×h] at their destinations and column by column, the maximum top [V×h] and
// sum = Σ exp(score - top) [V×h]: 0 and 1 without in-edges. Nothing overflows, and however large scores are, differences to top are exact where they
// matter. Where all scores of a vertex are -Inf, sum is their number. The gradient takes top for a constant: use both, in an expression such as top + log sum
// that shifting top does not change.
func SumExp(score *Node) (sum, top *Node) {
	return apply(dataflow.GatherExpOp, score), apply(dataflow.TopOp, score)
}

var _ = define(dataflow.GatherExpOp, Def{Class: dataflow.Move, Exact: true, Shape: dataflow.GatherShape, Acc: kernel.SumExp,
	VJP: func(n, dy *Node) []*Node {
		score := n.In(0)
		return []*Node{Mul(score.Shape().Set.ScatterDst(dy), below(score, apply(dataflow.TopOp, score)))}
	}})

// No gradient: see SumExp.
var _ = define(dataflow.TopOp, Def{Class: dataflow.Move, Exact: true, Shape: dataflow.GatherShape, Acc: kernel.SumExp})

// LSE is log Σ exp over the rows of score [E×h] at their destinations: [V×h],
// 0 without in-edges, -Inf where all scores are. It does not overflow.
func LSE(score *Node) *Node {
	sum, top := SumExp(score)
	return Add(top, Log(sum))
}

// below is e**(score - top), where top belongs to the destination.
func below(score, top *Node) *Node {
	return Exp(Sub(score, score.Shape().Set.ScatterDst(top)))
}

// EdgeSoftmax is the softmax of score [E×h] over the in-edges of every vertex, as two factors: of the edge [E×h] and of its destination [V×h].
func EdgeSoftmax(score *Node) (edge, vertex *Node) {
	sum, top := SumExp(score)
	return below(score, top), Inverse(sum)
}

// Shares are the factors of x, all of edges, if it is the product of what EdgeSoftmax gives; else nil.
func Shares(x *Node) (edge, dst *Node) {
	if x.Op() != mul || x.In(1).Op() != dataflow.ScatterDstOp {
		return nil, nil
	}
	if v := x.In(1).In(0); v.Op() != dataflow.InverseOp || v.In(0).Op() != dataflow.GatherExpOp {
		return nil, nil
	}
	return x.In(0), x.In(1)
}

// SoftmaxSum adds the rows of m [E×f] at their destinations, each weighted by the
// softmax of its score [E×h] among the in-edges of the destination, one weight for
// each of h heads: [V×f], 0 without in-edges. h must divide f.
func SoftmaxSum(score, m *Node) *Node {
	edge, vertex := EdgeSoftmax(score)
	return RowScale(Sum(RowScale(m, edge)), vertex)
}
