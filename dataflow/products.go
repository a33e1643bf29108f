package dataflow

import (
	"fmt"
	"slices"
)

// Features that are never dense. A program may read a wide vertex input by products with matrices only,
// on its way through sums, gathers and scalars a row. The products then move to the input itself, and
// what stands for the product of a row there knows how the row is really stored.

// ByProducts is p with every product of vertex input name, of its rows or of its rows with entries
// dropped, replaced by what product makes of both operands; nil: it cannot. The error names who
// reads the input otherwise.
func ByProducts(p *Program, name string, product func(x, w *Node) *Node) (*Program, error) {
	nodes := Rewrite(append(slices.Clone(p.Outs), p.Wrt...), simplify, func(n *Node) *Node {
		if !linearProduct(n) {
			return nil
		}
		return times(n.in[0], n.in[1], name, product)
	})
	q := *p
	q.Outs, q.Wrt = nodes[:len(p.Outs)], nodes[len(p.Outs):]
	for _, n := range Live(q.Outs) {
		for _, x := range n.in {
			if (x.op == InputOp && x.attr.S == name) && !dropped(n, name) || dropped(x, name) {
				return nil, fmt.Errorf("%s (%s) reads the %s other than by a product with a weight", n.pos, n.op, name)
			}
		}
	}
	return &q, nil
}

// wide tells whether x is input name.
func wide(x *Node, name string) bool { return x.op == InputOp && x.attr.S == name }

// dropped tells whether x is input name with entries dropped.
func dropped(x *Node, name string) bool { return x.op == DropoutOp && wide(x.in[0], name) }

// times is y·w where y is linear in input name, with products at the input only; nil: it is not.
func times(y, w *Node, name string, product func(x, w *Node) *Node) *Node {
	if wide(y, name) || dropped(y, name) {
		return product(y, w)
	}
	of := func(x *Node) *Node { return times(x, w, name, product) }
	switch {
	case isScatter(y.op) || sumGather(y.op) || isView(y):
		if x := of(y.in[0]); x != nil && y.attr == (Attr{}) {
			return Apply(y.op, Attr{}, x)
		}
	case y.op == NegOp || y.op == ScaleOp:
		if x := of(y.in[0]); x != nil {
			return Apply(y.op, y.attr, x)
		}
	case y.op == AddOp || y.op == SubOp:
		a, b := of(y.in[0]), of(y.in[1])
		if a != nil && b != nil {
			return Apply(y.op, y.attr, a, b)
		}
	case y.op == MulOp:
		for i, s := range y.in {
			if s.op == WidenOp && s.in[0].shape.Cols == 1 {
				if x := of(y.in[1-i]); x != nil {
					return mul(x, widen(s.in[0], w.shape.Cols))
				}
			}
		}
	}
	return nil
}

// Identity is p whose vertex input name, square, is the identity: a product of it with a parameter is
// the parameter, whose rows are rows of vertices then. Wrt has those inputs in place of the parameters;
// learned lists their names.
func Identity(p *Program, name string) (q *Program, learned []string, err error) {
	var set Set // the input's
	q, err = ByProducts(p, name, func(x, w *Node) *Node {
		if w.op != ParamOp {
			return nil
		}
		rows := x.g.Variable(w.attr.S, Shape{Set: x.shape.Set, Cols: w.shape.Cols})
		if !slices.Contains(learned, w.attr.S) {
			learned = append(learned, w.attr.S)
		}
		set = x.shape.Set
		if wide(x, name) {
			return rows
		}
		return mul(rows, widen(Apply(DropOwnOp, x.attr, x.in[1], x.in[2]), rows.shape.Cols))
	})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range Live(q.Outs) {
		if n.op == ParamOp && slices.Contains(learned, n.attr.S) {
			return nil, nil, fmt.Errorf("parameter %s is multiplied with the %s and used otherwise, too", n.attr.S, name)
		}
	}
	for i, w := range q.Wrt {
		if slices.Contains(learned, w.attr.S) {
			q.Wrt[i] = w.g.Variable(w.attr.S, Shape{Set: set, Cols: w.shape.Cols})
		}
	}
	return q, learned, nil
}
