package dataflow

import "slices"

// What dropout keeps of r, backward. The gradient of relu is that of what follows where r, its result, is not 0, and the gradient of
// dropout draws again what it keeps. But where dropout(r) is not 0, r was not, and it was kept. So neither r is stored for the way back,
// which dropout(r) is anyway, as what follows reads it, nor is anything drawn. No bit changes: a number that is kept grows.

// masks is the pass. It leaves a program as it is, names of values included, where it finds nothing.
func masks(s *state) {
	if slices.ContainsFunc(Live(s.nodes()), func(n *Node) bool { return unmask(n) != nil }) {
		s.rewrite(unmask)
	}
}

// unmask is the rule mask(dropout(g), r) = mask(g/(1-p), dropout(r)), if the program has dropout(r).
func unmask(n *Node) *Node {
	if n.op != MaskOp || n.in[0].op != DropoutOp {
		return nil
	}
	d := n.in[0]
	k := nodeKey{op: d.op, a: d.attr}
	for i, x := range append([]*Node{n.in[1]}, d.in[1:]...) {
		k.in[i] = int32(x.id) + 1
	}
	kept := n.g.cse[k]
	if kept == nil || kept.id > n.id || kept == d {
		return nil
	}
	return Apply(MaskOp, Attr{}, Apply(ScaleOp, Attr{F: 1 / (1 - d.attr.F)}, d.in[0]), kept)
}
