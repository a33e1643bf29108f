package dataflow

// Operator motion (paper, section 3.2): an op that depends on only one end of the edge is
// computed once per vertex instead of once per edge.

// hoist is the rule op(scatter_x(a), scatter_x(b), global) = scatter_x(op(a, b, global)).
// Ops whose value depends on which row it is in (Def.Effect) stay where they are.
func hoist(n *Node) *Node {
	d := n.Def()
	if n.shape.Set.Kind != Edge || d.Effect || d.Class != Elem && d.Class != Group && d.Class != Row {
		return nil
	}
	end := oneEnd(n.in)
	if end == nil {
		return nil
	}
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = x
		if x.shape.Set.Kind == Edge {
			in[i] = x.in[0]
		}
	}
	return Apply(end.op, end.attr, Apply(n.op, n.attr, in...))
}

// oneEnd returns one of the scatters if all edge operands are unkeyed scatters of the same end,
// else nil.
func oneEnd(in []*Node) *Node {
	var end *Node
	for _, x := range in {
		if x.shape.Set.Kind == Global {
			continue
		}
		if !isScatter(x.op) || x.attr.S != "" || end != nil && end.op != x.op {
			return nil
		}
		end = x
	}
	return end
}

// transpose moves reductions from edges to vertices: matmul_tn(scatter_x(a), m) =
// matmul_tn(a, gather_x(m)) and its mirror image, and sum_rows(m) = sum_rows(gather_dst(m)).
func transpose(n *Node) *Node {
	if n.Def().Class != Reduce || n.in[0].shape.Set.Kind != Edge || n.Def().Acc.KeyedRows() {
		return nil
	}
	if len(n.in) == 1 {
		return Apply(n.op, n.attr, GatherDst(n.in[0]))
	}
	a, m := n.in[0], n.in[1]
	if isScatter(a.op) && a.attr.S == "" {
		return Apply(n.op, n.attr, a.in[0], Apply(adjoint[a.op], Attr{}, m))
	}
	if isScatter(m.op) && m.attr.S == "" {
		return Apply(n.op, n.attr, Apply(adjoint[m.op], Attr{}, a), m.in[0])
	}
	return nil
}

// keyed fuses a gather of rows that were placed into block key(e), and a pick of block key(e)
// from a scattered row, into one keyed movement.
func keyed(n *Node) *Node {
	switch {
	case sumGather(n.op) && n.attr.S == "" && n.in[0].op == PlaceOp && keyLeaf(n.in[0]):
		p := n.in[0]
		return Keyed(n.op, p.attr.S, int(p.attr.I), p.in[0])
	case n.op == PickOp && isScatter(n.in[0].op) && n.in[0].attr.S == "" && keyLeaf(n):
		return Apply(n.in[0].op, Attr{S: n.attr.S, I: n.attr.I, E: n.in[0].attr.E}, n.in[0].in[0])
	}
	return nil
}

// keyLeaf tells whether the key operand of place or pick n is the array of the cell that the
// op's attribute names.
func keyLeaf(n *Node) bool {
	k := n.in[1]
	return k.op == InputOp && (n.attr.S == "type" && k.attr.S == TypeInput || n.attr.S == "rank" && k.attr.S == RankInput)
}
