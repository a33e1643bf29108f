package dataflow

// Postponing. A sum over rows, such as X'·dY, that nothing else of the program reads may
// run in any later phase that can read what it is made of. Where only such sums bring X
// into their phase, and a later phase reads X anyway, they move there: a sweep over X less.

// postpone moves sums over rows, those that read one value together, to later phases
// while that makes the rows that phases read and store fewer.
func (p *phases) postpone() {
	read := map[*Node]bool{}
	for _, n := range p.live {
		for _, x := range n.in {
			read[x] = true
		}
	}
	sums := map[*Node][]*Node{} // of one phase, by what they read
	var shared []*Node
	for _, n := range p.live {
		if read[n] || n.shape.Set.Kind != Global || n.Def().Class != Reduce || root(n) || n.in[0].shape.Set.Kind != Vertex {
			continue
		}
		for _, x := range p.needs(n, p.phase[n]) {
			if sums[x] == nil {
				shared = append(shared, x)
			}
			sums[x] = append(sums[x], n)
		}
	}
	best := p.traffic()
	for _, x := range shared {
		for q := range p.count {
			var group []*Node
			from := map[*Node][2]int{}
			for _, n := range sums[x] {
				if p.phase[n] < q {
					group, from[n] = append(group, n), [2]int{p.phase[n], p.sub[n]}
				}
			}
			if len(group) == 0 || !p.ownReads(q)[x] {
				continue
			}
			for _, n := range group {
				p.move(n, q, p.last(q))
			}
			p.chooseKept()
			if t := p.traffic(); t < best {
				best = t
				continue
			}
			for _, n := range group {
				p.move(n, from[n][0], from[n][1])
			}
			p.chooseKept()
		}
	}
}

// last is the last sub-phase of phase q that works on rows.
func (p *phases) last(q int) int {
	sub := 0
	for _, m := range p.live {
		if at, ok := p.phase[m]; ok && at == q && !root(m) {
			sub = max(sub, p.sub[m])
		}
	}
	return sub
}

// move puts sum n into a sub-phase of phase q.
func (p *phases) move(n *Node, q, sub int) {
	p.phase[n], p.sub[n], p.avail[n] = q, sub, q+1
	p.count = max(p.count, q+2)
}

// traffic is the bytes of a vertex's rows that phases read at the own end or store.
func (p *phases) traffic() int64 {
	var n int64
	for q := range p.count {
		for x := range p.ownReads(q) {
			n += vertexValue(x).RowBytes
		}
	}
	for x := range p.keep {
		n += vertexValue(x).RowBytes
	}
	return n
}

// ownReads are the inputs and the values of earlier phases that phase q reads at the own
// end.
func (p *phases) ownReads(q int) map[*Node]bool {
	out := map[*Node]bool{}
	for _, m := range p.live {
		if at, ok := p.phase[m]; ok && at == q && (p.keep[m] || root(m) || m.shape.Set.Kind == Global) {
			for _, x := range p.needs(m, q) {
				out[x] = true
			}
		}
	}
	return out
}

// needs are the inputs and the values of earlier phases that node n, run in phase q, is
// made of at the own end.
func (p *phases) needs(n *Node, q int) []*Node {
	var out []*Node
	seen := map[*Node]bool{}
	var walk func(x *Node)
	walk = func(x *Node) {
		if seen[x] || x.shape.Set.Kind != Vertex {
			return
		}
		seen[x] = true
		switch {
		case !computed(x) || p.phase[x] < q && !p.remat[x]:
			out = append(out, x)
		case !root(x):
			for _, y := range x.in {
				walk(y)
			}
		}
	}
	in := n.in
	if root(n) {
		in = p.ownEnd(n)
	}
	for _, x := range in {
		walk(x)
	}
	return out
}

// ownEnd are the vertex nodes that root n reads at the own end.
func (p *phases) ownEnd(n *Node) []*Node {
	var out []*Node
	_, leaves := program(n)
	for _, l := range leaves {
		if isScatter(l.op) && l.op == dirOf(n) {
			out = append(out, l.in[0])
		}
	}
	return out
}
