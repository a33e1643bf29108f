package ops

import (
	"fmt"

	"sagann/dataflow"
	"sagann/kernel"
)

// MatMul returns x·w: [·×k] times the Global [k×o] gives [·×o].
func MatMul(x, w *Node) *Node { return apply(matmul, x, w) }

const matmul Op = "matmul"

var _ = define(matmul, Def{Class: dataflow.Row, Linear: true, Role: kernel.MatMul,
	Shape: func(_ attr, in []shape) (shape, error) {
		x, w := in[0], in[1]
		if err := matrix(w); err != nil {
			return x, err
		}
		if x.Cols != w.Rows {
			return x, fmt.Errorf("inner dimensions %d and %d differ", x.Cols, w.Rows)
		}
		return shape{Set: x.Set, Rows: x.Rows, Cols: w.Cols}, nil
	},
	VJP: func(n, dy *Node) []*Node {
		x, w := n.In(0), n.In(1)
		return []*Node{MatMulNT(dy, w), MatMulTN(x, dy)}
	}})

// MatMulNT returns x·wᵀ: [·×k] times the transpose of the Global [o×k] gives [·×o].
func MatMulNT(x, w *Node) *Node { return apply(matmulNT, x, w) }

const matmulNT Op = "matmul_nt"

var _ = define(matmulNT, Def{Class: dataflow.Row, Linear: true, Role: kernel.MatMulNT,
	Shape: func(_ attr, in []shape) (shape, error) {
		x, w := in[0], in[1]
		if err := matrix(w); err != nil {
			return x, err
		}
		if x.Cols != w.Cols {
			return x, fmt.Errorf("inner dimensions %d and %d differ", x.Cols, w.Cols)
		}
		return shape{Set: x.Set, Rows: x.Rows, Cols: w.Rows}, nil
	},
	VJP: func(n, dy *Node) []*Node {
		x, w := n.In(0), n.In(1)
		return []*Node{MatMul(dy, w), MatMulTN(dy, x)}
	}})

// MatMulTN returns xᵀ·y, summed over all rows: [·×a] and [·×b] of the same rows
// give the Global [a×b].
func MatMulTN(x, y *Node) *Node { return apply(matmulTN, x, y) }

const matmulTN Op = "matmul_tn"

var _ = define(matmulTN, Def{Class: dataflow.Reduce, Acc: kernel.SumTN,
	Shape: func(_ attr, in []shape) (shape, error) {
		return shape{Rows: in[0].Cols, Cols: in[1].Cols}, alike(in)
	},
	VJP: func(n, dy *Node) []*Node {
		x, y := n.In(0), n.In(1)
		return []*Node{MatMulNT(y, dy), MatMul(x, dy)}
	}})

// matrix fails unless w is Global, as the right side of a product must be.
func matrix(w shape) error {
	if w.Set.Kind != dataflow.Global {
		return fmt.Errorf("the right side of a product must be a matrix, such as a parameter, not one row for each of the %s", rows(w))
	}
	return nil
}
