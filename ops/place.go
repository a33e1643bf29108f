package ops

import (
	"fmt"

	"sagann/dataflow"
)

// Place puts every row of x [S×c] into one of blocks blocks of columns of a row of zeros:
// [S×blocks·c]. k [S×1] is the number of the block of each row. A number that is not in 0..blocks-1 gives
// zeros. name says what k is: "type" or "rank" of an edge.
func Place(name string, x, k *Node, blocks int) *Node {
	return dataflow.Apply(place, attr{S: name, I: int32(blocks)}, x, k)
}

const place = dataflow.PlaceOp

var _ = define(place, Def{Class: dataflow.Row, Linear: true,
	Shape: func(a attr, in []shape) (shape, error) {
		s := in[0]
		if err := keyed(a, in); err != nil {
			return s, err
		}
		s.Cols *= int(a.I)
		return s, nil
	},
	VJP: func(n, dy *Node) []*Node {
		return []*Node{dataflow.Apply(pick, n.Attr(), dy, n.In(1)), nil}
	},
	CPU: func(a *Args) {
		clear(a.Out)
		w := a.InCols[0]
		for r := range a.Rows {
			if k := class(int(a.I), a.In[1][r]); k >= 0 {
				copy(outRow(a, r)[k*w:], inRow(a, 0, r))
			}
		}
	}, CUDA: "int t = saga_class($I, $1[0]); (t >= 0 && $C / $W0 == t ? $0[$C - t * $W0] : 0.f)"})

// Pick takes block number k [S×1] of every row of x [S×blocks·c]: [S×c], the adjoint of
// Place. A number that is not in 0..blocks-1 gives zeros.
func Pick(name string, x, k *Node, blocks int) *Node {
	return dataflow.Apply(pick, attr{S: name, I: int32(blocks)}, x, k)
}

const pick = dataflow.PickOp

var _ = define(pick, Def{Class: dataflow.Row, Linear: true,
	Shape: func(a attr, in []shape) (shape, error) {
		s := in[0]
		if err := keyed(a, in); err != nil {
			return s, err
		}
		if s.Cols%int(a.I) != 0 {
			return s, fmt.Errorf("%d columns do not fall into %d equal blocks", s.Cols, a.I)
		}
		s.Cols /= int(a.I)
		return s, nil
	},
	VJP: func(n, dy *Node) []*Node {
		return []*Node{dataflow.Apply(place, n.Attr(), dy, n.In(1)), nil}
	},
	CPU: func(a *Args) {
		clear(a.Out)
		w := a.OutCols
		for r := range a.Rows {
			if k := class(int(a.I), a.In[1][r]); k >= 0 {
				copy(outRow(a, r), inRow(a, 0, r)[k*w:])
			}
		}
	}, CUDA: "int t = saga_class($I, $1[0]); (t >= 0 ? $0[t * $O + $C] : 0.f)"})

// keyed checks a tensor and its keys [S×1].
func keyed(a attr, in []shape) error {
	if a.I < 1 {
		return fmt.Errorf("%d blocks", a.I)
	}
	if err := column("the key", in[1]); err != nil {
		return err
	}
	return alike(in)
}

// MatMulByType multiplies every row of x [S×i] by the matrix of its type. a
// [types·i×o] has the matrices one below the other, typ [S×1] the types as
// numbers. The result is [S×o], zero where the type is not in 0..types-1.
func MatMulByType(x, a, typ *Node, types int) *Node {
	return MatMul(Place("type", x, typ, types), a)
}
