package dataflow

import (
	"fmt"
	"hash/fnv"
)

// splitInvariant takes out of the program what cannot change between epochs: gathers
// over the graph and constant features, and packed features. Such values become inputs
// "inv:K" of the program; the returned results compute them, once. Without the pass
// gathers stay, and data is still packed once: how it is stored is no work of an epoch.
func (s *state) splitInvariant() []result {
	nodes := make([]*Node, len(s.outs))
	for i, o := range s.outs {
		nodes[i] = o.node
	}
	live := Live(nodes)
	expensive := map[*Node]bool{} // a gather is on the way
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
		if n.op == JoinOp && !n.vary { // of slices of data
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

// packedData: n is a constant input, or a slice of one, as it is stored for edges. What is
// made on arrival of packed rows is not.
func packedData(n *Node) bool {
	return (n.op == PackOp || n.op == PartOp) && (n.in[0].op == InputOp || packedData(n.in[0]))
}

// invariantName depends on what n computes only, so that programs of one session
// share the value.
func invariantName(n *Node) string {
	h := fnv.New64a()
	h.Write([]byte(Print([]result{{node: n}})))
	return fmt.Sprintf("inv:%x", h.Sum64())
}

// replace rebuilds the results with some nodes standing in for others.
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
