package dataflow

// Shares of softmaxes of several relations. Backward, rows of gradients are multiplied by 1/Σ exp of their vertex, a number a head, before edges read them
// (note 71). Where the sums of several relations are added, the gradient of all is one row, and multiplied it would be one for each relation: then edges
// read the row and the numbers, and multiply.

// shares is the pass. It leaves a program as it is, names of values included, where it finds nothing.
func shares(s *state) {
	live := Live(append(s.nodes(), s.wrt...))
	times := map[*Node]int{} // by row of gradients: how many of its multiples edges read
	var seen nodeSet
	for _, n := range live {
		if row, _ := shareRow(n); row != nil && seen.add(n.in[0]) {
			times[row]++
		}
	}
	if remadeAs(s, live, func(n *Node, of func(*Node) *Node) *Node {
		row, inverse := shareRow(n)
		if row == nil || times[row] < 2 {
			return nil
		}
		return mul(Apply(n.op, n.attr, of(row)), widen(Apply(n.op, n.attr, of(inverse)), n.shape.Cols))
	}) {
		s.rewrite(narrowed)
	}
}

// shareRow are the factors of what scatter n gives edges, if one is a number a head that belongs to a softmax and is repeated over columns; else nil.
func shareRow(n *Node) (row, inverse *Node) {
	if !isScatter(n.op) || n.attr.S != "" || n.in[0].op != MulOp {
		return nil, nil
	}
	for i, f := range n.in[0].in {
		if f.op == WidenOp && f.in[0].op == InverseOp && f.in[0].in[0].op == GatherExpOp {
			return n.in[0].in[1-i], f.in[0]
		}
	}
	return nil, nil
}

// narrowed is a rule that multiplies numbers a head before they are repeated over columns, or after columns are added up.
func narrowed(n *Node) *Node {
	if n.shape.Set.Kind != Edge || n.op != MulOp && n.op != GroupSumOp {
		return nil
	}
	p := n
	if n.op == GroupSumOp {
		p = n.in[0]
	}
	var numbers, rest []*Node
	for _, f := range factors(p) {
		if f.op == WidenOp && (len(numbers) == 0 || numbers[0].shape == f.in[0].shape) && (n.op == MulOp || f.in[0].shape == n.shape) {
			numbers = append(numbers, f.in[0])
		} else {
			rest = append(rest, f)
		}
	}
	switch {
	case len(rest) == 0 || len(numbers) == 0:
		return nil
	case n.op == GroupSumOp:
		return mul(Apply(n.op, n.attr, product(rest, -1)), product(numbers, -1))
	case len(numbers) > 1:
		return mul(product(rest, -1), widen(product(numbers, -1), n.shape.Cols))
	}
	return nil
}
