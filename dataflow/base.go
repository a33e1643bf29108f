package dataflow

import "slices"

// Rows of one base. Where relations are normalised, their gathers read rows that are a base times numbers of the row: dY/d of every
// relation. On chips whose gathers wait for memory an edge multiplies (Options.Bases): base alone is stored, and each edge reads the
// number, too. For the same reason a gradient is gathered before it is multiplied by a matrix, if that takes no more columns: dY is then
// the base of all relations.

// bases is the pass. It leaves a program as it is, names of values included, where it finds nothing.
func bases(s *state) {
	if !s.opt.Bases {
		return
	}
	live := Live(append(s.nodes(), s.wrt...))
	times := map[*Node]int{} // by base: how many different rows gathers read that are made of it
	var seen nodeSet
	for _, n := range live {
		if x := farRow(n); x != nil && seen.add(x) {
			base, _ := basis(x)
			times[base]++
		}
	}
	for _, n := range live {
		if times[n] > 0 && slices.ContainsFunc(live, func(m *Node) bool { return linearProduct(m) && m.shape.Set.Kind == Vertex && m.in[0] == n }) {
			times[n]++ // the base is stored for a product
		}
	}
	remade(s, live, func(n *Node, of func(*Node) *Node) *Node {
		x := farRow(n)
		if x == nil {
			return nil
		}
		base, numbers := basis(x)
		if len(numbers) == 0 || times[base] < 2 {
			return nil
		}
		sc := n.in[0]
		e := Apply(sc.op, sc.attr, of(base))
		for _, k := range numbers {
			e = mul(e, widen(Apply(sc.op, sc.attr, of(k)), x.shape.Cols))
		}
		s.note("bases", n, "edges multiply by numbers of the far end")
		return e
	})
}

// farRow is the row that n, a sum over edges of a full graph, reads at the far end as it is; nil: n is something else.
func farRow(n *Node) *Node {
	if !sumGather(n.op) || n.attr.S != "" {
		return nil
	}
	sc := n.in[0]
	if !isScatter(sc.op) || sc.op == adjoint[n.op] || sc.attr.S != "" || sc.shape.Set.ID > 0 || sc.shape.Cols == 1 {
		return nil
	}
	return sc.in[0]
}

// basis is what x is a multiple of, and the inputs of one column that it is multiplied by. x itself, if it is no such product.
func basis(x *Node) (base *Node, numbers []*Node) {
	for _, f := range factors(x) {
		switch {
		case f.op == WidenOp && narrow(f) != nil:
			numbers = append(numbers, f.in[0])
		case base != nil:
			return x, nil
		default:
			base = f
		}
	}
	if base == nil || base.shape != x.shape || !computed(base) {
		return x, nil
	}
	return base, numbers
}

// scaledProduct is the linear map that vertex rows x are, but for numbers of each row; nil: they are none, or something else reads it.
func scaledProduct(x *Node) (l *Node, numbers []*Node) {
	for _, f := range factors(x) {
		switch {
		case f.op == WidenOp && f.in[0].shape.Cols == 1:
			numbers = append(numbers, f.in[0])
		case l == nil && linearProduct(f) && f.read <= 1:
			l = f
		default:
			return nil, nil
		}
	}
	return l, numbers
}

// gatherFirst is the rule gather(s·linear(x, w)) = linear(gather(s·x), w) of gradients if the result has as many columns or more, where s is a product
// of numbers of each row.
func (s *state) gatherFirst(n *Node) *Node {
	x := farRow(n)
	if !s.opt.Bases || x == nil {
		return nil
	}
	l, numbers := scaledProduct(x)
	if l == nil || x.read > 1 || l.in[0].shape.Cols > l.shape.Cols {
		return nil
	}
	sc := n.in[0]
	return Apply(l.op, l.attr, Apply(n.op, Attr{}, Apply(sc.op, sc.attr, scale(l.in[0], numbers))), l.in[1])
}
