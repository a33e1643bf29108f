package ops

import (
	"sagann/dataflow"
	"sagann/kernel"
)

// The vocabulary of declarations.
type (
	Node = dataflow.Node // a tensor of a program
	Def  = dataflow.Def  // the declaration of an op
	Op   = dataflow.Op   // the name of an op
	Args = kernel.Args   // what a strip function sees

	attr  = dataflow.Attr
	shape = dataflow.Shape
)

func apply(op Op, in ...*Node) *Node { return dataflow.Apply(op, attr{}, in...) }

func applyF(op Op, f float32, in ...*Node) *Node {
	return dataflow.Apply(op, attr{F: f}, in...)
}

func applyI(op Op, i int, in ...*Node) *Node {
	return dataflow.Apply(op, attr{I: int32(i)}, in...)
}

func define(op Op, d Def) bool { return dataflow.Define(op, d) }

// map1 is the strip code of an op with one operand of the result's width.
func map1(f func(dst, x []float32)) kernel.StripFunc {
	return func(a *Args) { f(a.Out, a.In[0]) }
}

// map2 is the strip code of an op with two operands of the result's width.
func map2(f func(dst, x, y []float32)) kernel.StripFunc {
	return func(a *Args) { f(a.Out, a.In[0], a.In[1]) }
}

// mapF is map1 with the attribute F.
func mapF(f func(dst, x []float32, c float32)) kernel.StripFunc {
	return func(a *Args) { f(a.Out, a.In[0], a.F) }
}

// eachRow is the strip code of an op that computes one row from one row.
func eachRow(f func(dst, x []float32)) kernel.StripFunc {
	return func(a *Args) {
		for r := range a.Rows {
			f(outRow(a, r), inRow(a, 0, r))
		}
	}
}

// outRow is row r of the result.
func outRow(a *Args, r int) []float32 { return a.Out[r*a.OutCols:][:a.OutCols] }

// inRow is row r of operand i.
func inRow(a *Args, i, r int) []float32 { return a.In[i][r*a.InCols[i]:][:a.InCols[i]] }
