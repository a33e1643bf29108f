package dataflow

// Rule looks at a node of the graph being rebuilt and returns the node to put in its place, or
// nil to leave it. Nodes that the rule makes get the position of n.
type Rule func(n *Node) *Node

// maxRounds bounds the rounds of rewriting; rules that still change something then undo each other.
const maxRounds = 64

// Rewrite rebuilds the program under outs until no rule changes anything, and returns the new
// outs. Of each node the first rule that returns another node applies. Equal nodes become one,
// dead nodes vanish. Entries of outs may be nil. It panics if the rules do not settle.
func Rewrite(outs []*Node, rules ...Rule) []*Node {
	for range maxRounds {
		next, changed := rebuild(outs, rules)
		outs = next
		if !changed {
			return outs
		}
	}
	panic("dataflow: rewriting does not settle; two rules undo each other")
}

func rebuild(outs []*Node, rules []Rule) (next []*Node, changed bool) {
	live := Live(outs)
	var reads numbered[int]
	for _, n := range live {
		for _, x := range n.in {
			reads.set(x, reads.of(x)+1)
		}
	}
	for _, o := range outs {
		if o != nil {
			reads.set(o, reads.of(o)+1)
		}
	}
	g := &Graph{cse: make(map[nodeKey]*Node, len(live))}
	var memo numbered[*Node]
	for _, n := range live {
		in := make([]*Node, len(n.in))
		for i, x := range n.in {
			in[i] = memo.of(x)
		}
		g.at = n.pos
		m := g.add(n.op, n.attr, n.shape, in...)
		m.read += reads.of(n)
		for _, r := range rules {
			if k := r(m); k != nil && k != m {
				k.read += reads.of(n)
				m, changed = k, true
				break
			}
		}
		memo.set(n, m)
	}
	next = make([]*Node, len(outs))
	for i, o := range outs {
		if o != nil {
			next[i] = memo.of(o)
		}
	}
	g.at = ""
	return next, changed
}
