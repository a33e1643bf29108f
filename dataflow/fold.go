package dataflow

import "sagann/kernel"

// fold is the rule group_sum((x·w)∘a) = x·group_sum(w∘a), where a is a row of parameters and nothing else reads x·w: the score of an
// end of an edge is then a product of as many columns as there are heads. An end in another type of vertices, or in a block's level
// of its own, sends no message there, so that its x·w is for the score alone.
func fold(n *Node) *Node {
	if n.op != GroupSumOp || n.shape.Set.Kind == Global || n.in[0].op != MulOp || n.in[0].read > 1 {
		return nil
	}
	m := n.in[0]
	for i, x := range m.in {
		a := m.in[1-i]
		if x.Def().Role != kernel.MatMul || x.read > 1 || a.shape.Set.Kind != Global || a.shape.Rows != 1 || x.in[1].shape.Rows <= 1 {
			continue
		}
		return Apply(x.op, x.attr, x.in[0], Apply(GroupSumOp, n.attr, Apply(MulOp, Attr{}, x.in[1], a)))
	}
	return nil
}
