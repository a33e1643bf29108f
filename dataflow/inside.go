package dataflow

import "slices"

// Own rows inside sums. Backward, attention needs numbers such as Σ dY·x·s of a vertex, a number a head, over its in-edges, where dY is a row of the
// vertex, and x a row of the far end. The forward pass can sum the rows x·s, which factor has it do: then no edge is read again, but a row
// of each relation is kept until dY is there. Or the backward pass sums the numbers, and nothing is kept. Which is faster depends on the
// memory, so the search tries both (Lowering.Inside).

// sumsApart is the pass at which the two programs part.
func sumsApart(s *state) {
	if s.opt.Sizes == nil && s.has("factor") && hasGroupSums(s.nodes()) {
		from := *s
		from.outs, from.wrt, from.notes = slices.Clone(s.outs), slices.Clone(s.wrt), slices.Clone(s.notes)
		s.inside = &other{from: &from, move: rowsInside}
	}
}

// hasGroupSums tells whether a program adds up columns of rows that a gather sums, times others.
func hasGroupSums(outs []*Node) bool {
	for _, n := range Live(outs) {
		if g, _, _ := rowTimesSum(n, func(*Node) bool { return true }); g != nil {
			return true
		}
	}
	return false
}

// rowsInside is the rule gsum(own·gather(s·x)) = gather(s·gsum(scatter(own)·x)), for numbers s a head and sums of earlier phases than that of own: those of
// the same phase are not kept. It reports whether it finds any.
func rowsInside(s *state) bool {
	p := assignPhases(s.outs, false, false, Options{})
	if !remadeAs(s, p.live, func(n *Node, of func(*Node) *Node) *Node {
		sum, own, numbers := rowTimesSum(n, func(g *Node) bool { return p.phase.of(g) < p.phase.of(n) })
		if sum == nil {
			return nil
		}
		var few, wide []*Node
		for _, f := range factors(sum.in[0]) {
			if f.op == WidenOp && f.in[0].shape.Cols == n.shape.Cols {
				few = append(few, of(f.in[0]))
			} else {
				wide = append(wide, of(f))
			}
		}
		if wide == nil {
			return nil
		}
		for i, x := range own {
			own[i] = of(x)
		}
		row := Apply(adjoint[sum.op], Attr{E: sum.in[0].shape.Set.along()}, product(own, -1))
		few = append(few, Apply(n.op, n.attr, product(append(wide, row), -1)))
		m := Apply(sum.op, sum.attr, product(few, -1))
		for _, k := range numbers {
			m = mul(m, of(k))
		}
		s.note("inside", n, "on edges of the backward pass, so that the sum of rows is not kept")
		return m
	}) {
		return false
	}
	s.rewrite(simplify, narrowed)
	return true
}

// leastHeads is the least number of columns of a head that a sum is worth moving for: an edge reads them all again.
const leastHeads = 2

// rowTimesSum are the factors of a product of rows whose columns n adds up: the sum of a gather that is true for, other rows, and numbers
// a head. nil: n is something else.
func rowTimesSum(n *Node, is func(g *Node) bool) (sum *Node, own, numbers []*Node) {
	if n.op != GroupSumOp || !computed(n) || n.in[0].shape.Cols < leastHeads*n.shape.Cols {
		return nil, nil, nil
	}
	for _, f := range factors(n.in[0]) {
		switch {
		case sum == nil && sumGather(f.op) && f.attr == (Attr{}) && is(f):
			sum = f
		case f.op == WidenOp && f.in[0].shape == n.shape:
			numbers = append(numbers, f.in[0])
		default:
			own = append(own, f)
		}
	}
	if own == nil {
		return nil, nil, nil
	}
	return sum, own, numbers
}
