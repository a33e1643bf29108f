package dataflow

import (
	"fmt"
	"hash/fnv"
)

// splitInvariant takes values that cannot change between epochs out of the program: gathers of
// constant features, what is computed from them, and features packed for storage. These values
// become inputs "inv:HASH" of the program, and the returned results compute them once, before
// the first epoch. Without pass invariant the gathers stay in the program, but features are still
// packed only once.
func (s *state) splitInvariant() []result {
	nodes := s.nodes()
	live := Live(nodes)
	expensive := map[*Node]bool{} // invariant, and computed from a gather
	for _, n := range live {
		expensive[n] = !n.vary && isGather(n) && s.has("invariant")
		for _, x := range n.in {
			expensive[n] = expensive[n] || !n.vary && expensive[x]
		}
	}
	cut := map[*Node]string{}
	var inv []result
	take := func(n *Node) {
		if _, ok := cut[n]; ok || n.shape.Set.Kind != Vertex || n.vary || !expensive[n] && !packedData(n) {
			return
		}
		cut[n] = invariantName(n)
		inv = append(inv, result{name: cut[n], node: n})
	}
	for _, n := range live {
		if !n.vary || n.shape.Set.Kind == Edge {
			continue
		}
		for _, x := range n.in {
			take(x)
		}
	}
	for _, n := range live { // edge programs of the main program read invariants through scatters
		if n.shape.Set.Kind == Edge && isScatter(n.op) {
			take(n.in[0])
		}
	}
	reached := map[*Node]bool{}
	var reach func(n *Node)
	reach = func(n *Node) {
		if _, ok := cut[n]; ok || reached[n] {
			return
		}
		reached[n] = true
		if n.op == JoinOp && !n.vary { // joins slices of invariant data
			for _, x := range n.in {
				take(x)
			}
		}
		for _, x := range n.in {
			reach(x)
		}
	}
	for _, n := range nodes {
		reach(n)
	}
	if len(inv) == 0 {
		return nil
	}
	s.replace(func(n *Node, g *Graph) *Node {
		if name, ok := cut[n]; ok {
			return g.Leaf(InputOp, name, n.shape)
		}
		return nil
	})
	return inv
}

// packedData tells whether n is an input, or a slice of one, in the form that is stored for
// edges to read. Values derived on arrival from packed rows are not.
func packedData(n *Node) bool {
	return (n.op == PackOp || n.op == PartOp) && (n.in[0].op == InputOp || packedData(n.in[0]))
}

// invariantName is a hash of what n computes and of the user's lines that it stems from. Programs
// of one session that trace the same functions get the same name, and so share the value.
func invariantName(n *Node) string {
	h := fnv.New64a()
	h.Write([]byte(Print([]result{{node: n}})))
	return fmt.Sprintf("inv:%x", h.Sum64())
}

// replace rebuilds the results. Where f returns a node for n, that node stands in for n.
func (s *state) replace(f func(n *Node, g *Graph) *Node) {
	g := newMerged()
	memo := map[*Node]*Node{}
	var walk func(n *Node) *Node
	walk = func(n *Node) *Node {
		if m := memo[n]; m != nil {
			return m
		}
		g.at = n.pos
		m := f(n, g)
		if m == nil {
			in := make([]*Node, len(n.in))
			for i, x := range n.in {
				in[i] = walk(x)
			}
			g.at = n.pos
			m = g.add(n.op, n.attr, n.shape, in...)
		}
		memo[n] = m
		return m
	}
	for i := range s.outs {
		s.outs[i].node = walk(s.outs[i].node)
	}
	g.at = ""
}
