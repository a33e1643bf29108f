package ops

import (
	"fmt"

	"sagann/dataflow"
	"sagann/internal/simd"
	"sagann/kernel"
)

// SumRows is the sum of all rows: [·×c] to the Global [1×c].
func SumRows(x *Node) *Node { return apply(sumRows, x) }

const sumRows Op = "sum_rows"

var _ = define(sumRows, Def{Class: dataflow.Reduce, Acc: kernel.SumRows,
	Shape: func(_ attr, in []shape) (shape, error) { return shape{Rows: 1, Cols: in[0].Cols}, nil },
	VJP:   func(n, dy *Node) []*Node { return []*Node{Spread(dy, n.In(0))} }})

// Spread repeats the row g [1×c] for every row of like: the adjoint of SumRows. The values and
// width of like do not matter.
func Spread(g, like *Node) *Node { return apply(spread, g, like) }

const spread = dataflow.SpreadOp

var _ = define(spread, Def{Class: dataflow.Elem,
	Shape: func(_ attr, in []shape) (shape, error) {
		g, like := in[0], in[1]
		if g.Set.Kind != dataflow.Global || g.Rows != 1 {
			return g, fmt.Errorf("spreads a matrix of one row, not %s", rows(g))
		}
		return shape{Set: like.Set, Rows: like.Rows, Cols: g.Cols}, nil
	},
	VJP: func(n, dy *Node) []*Node { return []*Node{SumRows(dy), nil} },
	CPU: func(a *Args) {
		if len(a.In[0]) == len(a.Out) { // repeated already, as for vertices and edges
			copy(a.Out, a.In[0])
			return
		}
		simd.RepeatRow(a.Out, a.In[0][:a.OutCols], a.Rows)
	},
	CUDA: "$0"})
