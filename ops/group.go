package ops

import (
	"fmt"

	"sagann/dataflow"
	"sagann/internal/simd"
	"sagann/kernel"
)

// Widen repeats every column of x [·×h] f/h times side by side, to [·×f]: the number of a
// head is copied to each of its columns. f must be a multiple of h; equal
// widths give x itself.
func Widen(x *Node, f int) *Node {
	if x.Cols() == f {
		return x
	}
	return applyI(widen, f, x)
}

const widen = dataflow.WidenOp

var _ = define(widen, Def{Class: dataflow.Group, Role: kernel.Widen, Linear: true,
	Shape: func(a attr, in []shape) (shape, error) {
		s, f := in[0], int(a.I)
		if f < 1 || f%s.Cols != 0 {
			return s, fmt.Errorf("%d columns do not widen to %d: no multiple", s.Cols, f)
		}
		s.Cols = f
		return s, nil
	},
	VJP: func(n, dy *Node) []*Node { return []*Node{GroupSum(dy, n.In(0).Cols())} },
	CPU: func(a *Args) { simd.Widen(a.Out, a.In[0], a.Rows, a.InCols[0], a.OutCols) }})

// GroupSum sums the f/h neighbouring columns of each of h groups of x [·×f], to
// [·×h]: the adjoint of Widen. h must divide f; equal widths give x itself.
func GroupSum(x *Node, h int) *Node {
	if x.Cols() == h {
		return x
	}
	return applyI(groupSum, h, x)
}

const groupSum = dataflow.GroupSumOp

var _ = define(groupSum, Def{Class: dataflow.Group, Role: kernel.GroupSum, Linear: true,
	Shape: func(a attr, in []shape) (shape, error) {
		s, h := in[0], int(a.I)
		if h < 1 || s.Cols%h != 0 {
			return s, fmt.Errorf("%d columns do not fall into %d equal groups", s.Cols, h)
		}
		s.Cols = h
		return s, nil
	},
	VJP: func(n, dy *Node) []*Node { return []*Node{Widen(dy, n.In(0).Cols())} },
	CPU: func(a *Args) { simd.GroupSum(a.Out, a.In[0], a.Rows, a.InCols[0], a.OutCols) }})

// RowScale multiplies every row of x [·×c] by its number in s [·×1]. With s [·×h]
// each of h heads is multiplied by its own number.
func RowScale(x, s *Node) *Node {
	if x.IsAbsent() {
		return x
	}
	return Mul(x, Widen(s, x.Cols()))
}

// RowSum is the sum of every row: [·×c] to [·×1].
func RowSum(x *Node) *Node { return GroupSum(x, 1) }

// RowDot is the inner product of every row of x with that of y: [·×c] to [·×1].
func RowDot(x, y *Node) *Node { return GroupSum(Mul(x, y), 1) }
