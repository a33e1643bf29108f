package dataflow

// factor is the rule gather_x(scatter_x(a)·b) = a·gather_x(b), also through Widen, GroupSum,
// sums and signs: a factor that belongs to the gathering vertex leaves the sum over edges.
func factor(n *Node) *Node {
	if !sumGather(n.op) {
		return nil
	}
	if n.attr.S != "" {
		return factorBlocks(n)
	}
	own, e := adjoint[n.op], n.in[0]
	gather := func(x *Node) *Node {
		if x.shape.Set.Kind == Global { // one row that was spread over the edges
			return mul(widen(degree(n), x.shape.Cols), x)
		}
		return Apply(n.op, Attr{}, x)
	}
	if scaled(e) {
		return Apply(e.op, e.attr, gather(e.in[0]))
	}
	switch e.op {
	case AddOp, SubOp:
		if hasOwn(e.in[0], own) || hasOwn(e.in[1], own) {
			return Apply(e.op, Attr{}, gather(e.in[0]), gather(e.in[1]))
		}
		return nil
	case own: // the sum of the own row over the edges of a vertex: the row times the degree
		if e.attr.S != "" {
			return nil
		}
		return mul(e.in[0], widen(degree(n), n.shape.Cols))
	case MaskOp: // the same over edges whose mask is not 0: the row times the number of those
		if !isOwn(e.in[0], own) {
			return nil
		}
		some := gather(Apply(NonzeroOp, Attr{}, e.in[1]))
		return mul(Apply(MaskOp, Attr{}, ownRow(e.in[0]), some), some)
	}
	fs := factors(e)
	for i, f := range fs {
		rest := product(fs, i)
		switch {
		case isOwn(f, own) && rest != nil:
			return mul(ownRow(f), gather(rest))
		case f.op == GroupSumOp:
			if r := throughGroup(f, rest, own, gather); r != nil {
				return r
			}
		case (f.op == AddOp || f.op == SubOp) && rest != nil && (hasOwn(f.in[0], own) || hasOwn(f.in[1], own)):
			return Apply(f.op, Attr{}, gather(mul(f.in[0], rest)), gather(mul(f.in[1], rest)))
		}
	}
	return nil
}

// factorBlocks is the rule gather{k}(scatter{k}(a)·b) = a·gather{k}(b) of keyed movements at one end: a
// number of the gathering vertex and the edge's block leaves the sum over edges.
func factorBlocks(n *Node) *Node {
	fs := factors(n.in[0])
	for i, f := range fs {
		if f.op == WidenOp {
			f = f.in[0]
		}
		if rest := product(fs, i); f.op == adjoint[n.op] && f.attr == n.transposed() && rest != nil {
			return mul(widen(f.in[0], n.shape.Cols), Apply(n.op, n.attr, rest))
		}
	}
	return nil
}

// degree is how many edges each row of gather n sums, a vertex input of one column.
func degree(n *Node) *Node {
	name := InDegree
	if n.op == GatherSrcOp {
		if name = OutDegree; n.shape.Set.ID > 0 {
			name = BlockOutDegree
		}
	}
	return n.g.Leaf(InputOp, InRelation(name, int(n.in[0].shape.Set.Type)), Shape{Set: n.shape.Set, Cols: 1})
}

// throughGroup is the rule gather(r·gsum(own·b)) = gsum(own·gather(widen(r)·b)) for f = gsum(own·b).
func throughGroup(f, rest *Node, own Op, gather func(*Node) *Node) *Node {
	gs := factors(f.in[0])
	for k, h := range gs {
		if !isOwn(h, own) {
			continue
		}
		b := product(gs, k)
		if rest != nil {
			if r := widen(rest, f.in[0].shape.Cols); b == nil {
				b = r
			} else {
				b = mul(r, b)
			}
		}
		if b == nil {
			return nil
		}
		return Apply(GroupSumOp, f.attr, mul(ownRow(h), gather(b)))
	}
	return nil
}

// isOwn tells whether n is a plain scatter from the gathering end, possibly widened.
func isOwn(n *Node, own Op) bool {
	if n.op == WidenOp {
		n = n.in[0]
	}
	return n.op == own && n.attr.S == ""
}

// ownRow is the vertex tensor behind isOwn.
func ownRow(n *Node) *Node {
	if n.op == WidenOp {
		return widen(n.in[0].in[0], n.shape.Cols)
	}
	return n.in[0]
}

// scaled tells whether n is a linear map of each number of its one operand, such as a sign.
func scaled(n *Node) bool {
	d := n.Def()
	return d.Class == Elem && d.Linear && len(n.in) == 1
}

// hasOwn tells whether a factor of n (through signs) belongs to the gathering row.
func hasOwn(n *Node, own Op) bool {
	for scaled(n) {
		n = n.in[0]
	}
	for _, f := range factors(n) {
		if isOwn(f, own) {
			return true
		}
	}
	return false
}
