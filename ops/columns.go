package ops

import (
	"fmt"

	"sagann/dataflow"
)

// Concat puts tensors of the same row set side by side, in the order given; their widths add
// up. A Global of one row is broadcast over the rows of the others.
func Concat(x *Node, more ...*Node) *Node {
	like := x
	for _, y := range more {
		if like.Shape().Set.Kind == dataflow.Global {
			like = y
		}
	}
	x = beside(x, like)
	for _, y := range more {
		x = apply(concat, x, beside(y, like))
	}
	return x
}

// beside broadcasts x, if it is a Global of one row, over the rows of like.
func beside(x, like *Node) *Node {
	s := x.Shape()
	if s.Set.Kind == dataflow.Global && s.Rows == 1 && like.Shape().Set.Kind != dataflow.Global {
		return Spread(x, like)
	}
	return x
}

const concat Op = "concat"

var _ = define(concat, Def{Class: dataflow.Row,
	Shape: func(_ attr, in []shape) (shape, error) {
		s := in[0]
		s.Cols += in[1].Cols
		return s, alike(in)
	},
	VJP: func(n, dy *Node) []*Node {
		a, b := n.In(0).Cols(), n.In(1).Cols()
		return []*Node{Slice(dy, 0, a), Slice(dy, a, b)}
	},
	CPU: func(a *Args) {
		for r := range a.Rows {
			out := outRow(a, r)
			copy(out[copy(out, inRow(a, 0, r)):], inRow(a, 1, r))
		}
	}, CUDA: "($C < $W0 ? $0[$C] : $1[$C - $W0])"})

// Slice is columns at to at+n-1 of x: [·×c] to [·×n]. All columns give x itself.
func Slice(x *Node, at, n int) *Node {
	if at == 0 && n == x.Cols() {
		return x
	}
	return dataflow.Apply(slice, attr{I: int32(at), J: int32(n)}, x)
}

const slice Op = "slice"

var _ = define(slice, columns(dataflow.Row))

// columns is the declaration of an op of the class that takes columns Attr.I to Attr.I+Attr.J-1.
func columns(class dataflow.Class) Def {
	return Def{Class: class, Linear: true,
		Shape: func(a attr, in []shape) (shape, error) {
			s, at, n := in[0], int(a.I), int(a.J)
			if at < 0 || n < 1 || at > s.Cols-n {
				return s, fmt.Errorf("columns %d to %d of a tensor of %d", at, at+n-1, s.Cols)
			}
			s.Cols = n
			return s, nil
		},
		VJP: func(n, dy *Node) []*Node { return []*Node{Pad(dy, int(n.Attr().I), n.In(0).Cols())} },
		CPU: func(a *Args) {
			for r := range a.Rows {
				copy(outRow(a, r), inRow(a, 0, r)[a.I:])
			}
		}, CUDA: "$0[$C + $I]"}
}

// Pad puts x [·×c] at column at of a [·×total] tensor of zeros: the adjoint of Slice.
func Pad(x *Node, at, total int) *Node {
	if at == 0 && total == x.Cols() {
		return x
	}
	return dataflow.Apply(pad, attr{I: int32(at), J: int32(total)}, x)
}

const pad Op = "pad"

var _ = define(pad, Def{Class: dataflow.Row, Linear: true,
	Shape: func(a attr, in []shape) (shape, error) {
		s, at, total := in[0], int(a.I), int(a.J)
		if at < 0 || at > total-s.Cols {
			return s, fmt.Errorf("%d columns at column %d do not fit into %d", s.Cols, at, total)
		}
		s.Cols = total
		return s, nil
	},
	VJP: func(n, dy *Node) []*Node { return []*Node{Slice(dy, int(n.Attr().I), n.In(0).Cols())} },
	CPU: func(a *Args) {
		clear(a.Out)
		for r := range a.Rows {
			copy(outRow(a, r)[a.I:], inRow(a, 0, r))
		}
	}, CUDA: "($C >= $I && $C < $I + $W0 ? $0[$C - $I] : 0.f)"})
