package dataflow

import (
	"fmt"
	"slices"
)

// Features that are never stored dense. A program may use a wide vertex input only in products with
// matrices, with sums, gathers and scalars per row in between. Then the products can move to the
// input itself, and an op that knows how the rows are really stored, such as a sparse product,
// takes the place of each.

// ByProducts is p with each product x·w, where x is vertex input name or its dropout, replaced by
// product(x, w). Products of values that are linear in the input are first moved to the input. If
// product returns nil, the product stays. The error names an op that reads the input in another
// way.
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

// times is y·w with the product moved to input name; nil if y is not linear in the input, or if
// product returns nil.
func times(y, w *Node, name string, product func(x, w *Node) *Node) *Node {
	if wide(y, name) || dropped(y, name) {
		return product(y, w)
	}
	of := func(x *Node) *Node { return times(x, w, name, product) }
	switch {
	case isScatter(y.op) || sumGather(y.op) || isView(y):
		if x := of(y.in[0]); x != nil && y.attr.S == "" && y.attr.J == 0 {
			return Apply(y.op, y.attr, x)
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

// Identity is p for a vertex input name that is the identity matrix [V×V]. Its product with a
// parameter is that parameter, which becomes a vertex input: one learned row per vertex. q.Wrt has
// these inputs in place of the parameters, and learned lists their names. The error names an op
// that reads the identity, or such a parameter, in another way.
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
