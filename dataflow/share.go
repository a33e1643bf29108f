package dataflow

import (
	"slices"

	"sagann/kernel"
)

// Several gathers of one message. Hoist has an op of one end computed once a vertex, so the sum of x, the sum of its squares and the
// maximum of -x read three rows an edge. Where a gather reads x as it is, those of x² and of -x compute them of that row instead.
// Backward the gradient of a maximum goes to one edge for each column: a sum over edges of it and of what goes to all edges is two sums,
// as an edge reads few numbers for the first, and for the second a row as it is.

// share is the pass. It leaves a program as it is, names of values included, where it finds nothing.
func share(s *state) {
	live := Live(append(s.nodes(), s.wrt...))
	if slices.ContainsFunc(live, mixed) {
		s.rewrite(apart)
		live = Live(append(s.nodes(), s.wrt...))
	}
	read := map[nodeKey]bool{} // scatters that gathers read as they are
	key := func(sc, x *Node) nodeKey { return nodeKey{op: sc.op, a: sc.attr, in: [8]int32{int32(x.id)}} }
	for _, n := range live {
		if isGather(n) && isScatter(n.in[0].op) {
			read[key(n.in[0], n.in[0].in[0])] = true
		}
	}
	if remade(s, live, func(n *Node, of func(*Node) *Node) *Node {
		if !isGather(n) || !isScatter(n.in[0].op) {
			return nil
		}
		sc := n.in[0]
		f := sc.in[0]
		if f.Def().Role != kernel.Square && f.Def().Role != kernel.Neg || !read[key(sc, f.in[0])] {
			return nil
		}
		s.note("share", f, "of the row that another gather reads")
		return Apply(f.op, f.attr, Apply(sc.op, sc.attr, of(f.in[0])))
	}) {
		s.rewrite(unsign)
	}
}

// remade makes the nodes of a program anew, each after its operands, and reports whether any differs: else the program stays as it is. edge returns what a
// node reads in place of its first operand, nil: the same; of returns what an old node is now.
func remade(s *state, live []*Node, edge func(n *Node, of func(*Node) *Node) *Node) (some bool) {
	return remadeAs(s, live, func(n *Node, of func(*Node) *Node) *Node {
		e := edge(n, of)
		if e == nil {
			return nil
		}
		in := []*Node{e}
		for _, x := range n.in[1:] {
			in = append(in, of(x))
		}
		return Apply(n.op, n.attr, in...)
	})
}

// remadeAs is remade where other returns what stands in place of a node; nil: the same.
func remadeAs(s *state, live []*Node, other func(n *Node, of func(*Node) *Node) *Node) (some bool) {
	g := newMerged()
	var memo numbered[*Node]
	for _, n := range live {
		in := make([]*Node, len(n.in))
		for i, x := range n.in {
			in[i] = memo.of(x)
		}
		g.at = n.pos
		m := other(n, memo.of)
		if m == nil {
			m = g.add(n.op, n.attr, n.shape, in...)
		} else {
			some = true
		}
		memo.set(n, m)
	}
	g.at = ""
	if !some {
		return false
	}
	for i := range s.outs {
		s.outs[i].node = memo.of(s.outs[i].node)
	}
	for i, w := range s.wrt {
		s.wrt[i] = memo.of(w)
	}
	return true
}

// mixed tells whether n is the sum of several terms over edges, one of them the gradient of a maximum.
func mixed(n *Node) bool {
	return sumGather(n.op) && n.attr.S == "" && n.in[0].op == AddOp && hasPicked(n.in[0])
}

// apart is the rule gather(a + b) = gather(a) + gather(b).
func apart(n *Node) *Node {
	if !mixed(n) {
		return nil
	}
	e := n.in[0]
	return Apply(AddOp, Attr{}, Apply(n.op, Attr{}, e.in[0]), Apply(n.op, Attr{}, e.in[1]))
}

// unsign is the rule -gather(mask(scatter(-x), m)) = gather(mask(scatter(x), m)): of the gradient of a minimum.
func unsign(n *Node) *Node {
	if n.op != NegOp || !sumGather(n.in[0].op) || n.in[0].attr.S != "" {
		return nil
	}
	sum := n.in[0]
	m := sum.in[0]
	if !picked(m) || !isScatter(m.in[0].op) || m.in[0].in[0].op != NegOp {
		return nil
	}
	sc := m.in[0]
	return Apply(sum.op, sum.attr, Apply(m.op, m.attr, Apply(sc.op, sc.attr, sc.in[0].in[0]), m.in[1]))
}

// hasPicked tells whether a term of edge rows n is picked.
func hasPicked(n *Node) bool {
	if n.op == AddOp {
		return hasPicked(n.in[0]) || hasPicked(n.in[1])
	}
	return picked(n)
}

// picked tells whether edge rows n are masked by whether the edge has the maximum of a gather.
func picked(n *Node) bool {
	if n.op != MaskOp || n.in[1].Def().Role != kernel.Eq {
		return false
	}
	for _, x := range n.in[1].in {
		if isScatter(x.op) && x.in[0].op == ArgMaxOp {
			return true
		}
	}
	return false
}
