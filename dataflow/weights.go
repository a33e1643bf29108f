package dataflow

// sumWeights is the rule x·a + y + x·b = x·(a+b) + y of products of one operand in a sum. Biases of such a sum are added to each other
// first, too. A type of vertices has such terms where several relations lead to it. Products that something else reads stay: they are computed anyway.
func sumWeights(n *Node) *Node {
	if n.op != AddOp || n.shape.Set.Kind == Global {
		return nil
	}
	type factor struct { // what terms must share to become one
		op   Op
		attr Attr
		of   *Node
		w    Shape
	}
	first, ts, left, fewer := map[factor]int{}, terms(n), 0, false
	times := map[*Node]int{} // in the sum
	for _, t := range ts {
		times[t]++
	}
	for _, t := range ts {
		k := factor{}
		switch {
		case t.shape.Set.Kind == Global:
			k.w = t.shape
		case linearProduct(t) && t.read <= times[t]:
			k = factor{t.op, t.attr, t.in[0], t.in[1].shape}
		}
		i, ok := first[k]
		switch {
		case k == factor{} || !ok:
			first[k] = left
			ts[left] = t
			left++
		case k.of == nil:
			ts[i] = Apply(AddOp, Attr{}, ts[i], t)
		default:
			ts[i], fewer = Apply(t.op, t.attr, k.of, Apply(AddOp, Attr{}, ts[i].in[1], t.in[1])), true
		}
	}
	if !fewer {
		return nil
	}
	sum := ts[0]
	for _, t := range ts[1:left] {
		sum = Apply(AddOp, Attr{}, sum, t)
	}
	return sum
}

// terms flattens a sum. Sums in it that something else reads, too, are terms.
func terms(n *Node) []*Node {
	if n.op != AddOp {
		return []*Node{n}
	}
	var list []*Node
	for _, x := range n.in {
		if x.op == AddOp && x.read > 1 {
			list = append(list, x)
		} else {
			list = append(list, terms(x)...)
		}
	}
	return list
}
