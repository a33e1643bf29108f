package ops

import (
	"sagann/dataflow"
	"sagann/kernel"
)

// Ops on slices of columns, which the compiler inserts (dataflow/slice.go). Users call Slice and
// Concat instead.

const part = dataflow.PartOp

var _ = define(part, columns(dataflow.Group))

const joinCols = dataflow.JoinOp

var _ = define(joinCols, Def{Class: dataflow.Group, Role: kernel.Concat,
	Shape: func(_ attr, in []shape) (shape, error) {
		s := in[0]
		for _, t := range in[1:] {
			s.Cols += t.Cols
		}
		return s, alike(in)
	},
	VJP: func(n, dy *Node) []*Node {
		at := 0
		var grads []*Node
		for i := range n.NumIn() {
			w := n.In(i).Cols()
			grads = append(grads, Slice(dy, at, w))
			at += w
		}
		return grads
	},
	CPU: func(a *Args) {
		for r := range a.Rows {
			out := outRow(a, r)
			for i := range a.In {
				out = out[copy(out, inRow(a, i, r)):]
			}
		}
	}})
