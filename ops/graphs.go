package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
	"sagann/kernel"
)

// SumRowsBy sums the rows of x [S×c] by key [S×1] into a Global [n×c]: row k is the
// sum of the rows whose key is k, zero if there are none. Keys are whole numbers as float32.
// Rows whose key is not in 0..n-1 are ignored.
func SumRowsBy(x, key *Node, n int) *Node { return applyI(sumRowsBy, n, x, key) }

const sumRowsBy Op = "sum_rows_by"

var _ = define(sumRowsBy, Def{Class: dataflow.Reduce, Acc: kernel.SumBy, Shape: rowsBy,
	VJP: func(n, dy *Node) []*Node { return []*Node{PickRows(dy, n.In(1)), nil} }})

// MaxRowsBy is SumRowsBy with the maximum instead of the sum, column by column, NaN if a row has NaN. The
// gradient is divided equally among the rows that have the maximum (or NaN).
func MaxRowsBy(x, key *Node, n int) *Node { return unordered(applyI(maxRowsBy, n, x, key)) }

const maxRowsBy Op = "max_rows_by" // its result is ordered bit patterns, which only unordered reads

var _ = define(maxRowsBy, Def{Class: dataflow.Reduce, Acc: kernel.MaxBy, Shape: rowsBy,
	VJP: func(n, dy *Node) []*Node {
		x, key := n.In(0), n.In(1)
		rows := n.Shape().Rows
		holds := orNaN(Eq(x, PickRows(unordered(n), key)), x)
		share := Div(dy, Maximum(SumRowsBy(holds, key, rows), unit(dy)))
		return []*Node{Mask(PickRows(share, key), holds), nil}
	}})

// unit is a tensor of ones with the shape of x.
func unit(x *Node) *Node { return Spread(Widen(x.Graph().Const(1), x.Cols()), x) }

// unordered turns ordered bit patterns into numbers, and 0 where no row had the key.
func unordered(x *Node) *Node { return apply(fromOrdered, x) }

const fromOrdered Op = "from_ordered"

var _ = define(fromOrdered, Def{Class: dataflow.Elem, Shape: same,
	VJP: func(n, dy *Node) []*Node { return []*Node{dy} },
	CPU: func(a *Args) {
		for i, x := range a.In[0] {
			a.Out[i] = kernel.Unordered(math.Float32bits(x))
		}
	}, CUDA: "saga_unordered($0)"})

// PickRows looks up, for every row of key [S×1], the row of the Global x [n×c] with that
// number: [S×c], the adjoint of SumRowsBy. A key that is not in 0..n-1 gives zeros.
func PickRows(x, key *Node) *Node { return applyI(pickRows, x.Shape().Rows, x, key) }

const pickRows Op = "pick_rows"

var _ = define(pickRows, Def{Class: dataflow.Row,
	Shape: func(a attr, in []shape) (shape, error) {
		x, key := in[0], in[1]
		if err := column("the key", key); err != nil {
			return x, err
		}
		switch {
		case x.Set.Kind != dataflow.Global:
			return x, fmt.Errorf("picks rows of a matrix, not one row for each of the %s", rows(x))
		case key.Set.Kind == dataflow.Global:
			return x, fmt.Errorf("keys of vertices or of edges, not %s", rows(key))
		case int(a.I) != x.Rows:
			return x, fmt.Errorf("picks among %d of %d rows", a.I, x.Rows)
		}
		return shape{Set: key.Set, Rows: key.Rows, Cols: x.Cols}, nil
	},
	VJP: func(n, dy *Node) []*Node { return []*Node{SumRowsBy(dy, n.In(1), n.In(0).Shape().Rows), nil} },
	CPU: func(a *Args) {
		clear(a.Out)
		for r := range a.Rows {
			if k := class(int(a.I), a.In[1][r]); k >= 0 {
				copy(outRow(a, r), inRow(a, 0, k))
			}
		}
	}, CUDA: "int t = saga_class($I, $1[0]); (t >= 0 ? $0[(size_t)t * $O + $C] : 0.f)"})

// rowsBy is the shape rule of reductions by key.
func rowsBy(a attr, in []shape) (shape, error) {
	if a.I < 1 {
		return in[0], fmt.Errorf("%d rows", a.I)
	}
	if err := column("the key", in[1]); err != nil {
		return in[0], err
	}
	return shape{Rows: int(a.I), Cols: in[0].Cols}, alike(in)
}
