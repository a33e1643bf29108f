package dataflow

// Grad is reverse-mode differentiation. It returns the gradient with respect to each entry of
// wrt, given that the gradient with respect to root is seed; nil where root does not depend on
// the entry. It works on whole tensors: gradient rules never see chunks.
func Grad(root, seed *Node, wrt []*Node) []*Node {
	g := root.g
	defer func(at string) { g.at = at }(g.at)
	need := map[*Node]bool{} // nodes on a path from wrt to root
	for _, w := range wrt {
		need[w] = true
	}
	live := Live([]*Node{root})
	for _, n := range live {
		for _, x := range n.in {
			need[n] = need[n] || need[x]
		}
	}
	grads := map[*Node]*Node{root: seed}
	for i := len(live) - 1; i >= 0; i-- {
		n := live[i]
		dy := grads[n]
		if dy == nil || !need[n] || len(n.in) == 0 || n.Def().VJP == nil {
			continue
		}
		g.at = "grad of " + n.pos
		for k, d := range n.Def().VJP(n, dy) {
			if d == nil {
				continue
			}
			x := n.in[k]
			if !need[x] {
				continue
			}
			if grads[x] == nil {
				grads[x] = d
			} else {
				grads[x] = Apply(AddOp, Attr{}, grads[x], d)
			}
		}
	}
	out := make([]*Node, len(wrt))
	for i, w := range wrt {
		out[i] = grads[w]
	}
	return out
}
