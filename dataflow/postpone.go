package dataflow

import (
	"slices"

	"sagann/kernel"
)

// Postponing. A sum over rows of which no rows are computed, such as the weight gradient
// X'·dY, may run in any later phase that can read its operands. If only such sums read X in
// their phase, and a later phase reads X anyway, moving the sums there saves one sweep over X.

// postpone moves sums over rows to later phases as long as that lowers traffic(). Sums that read
// the same value move together.
// With beside the sum of the rows themselves moves along with X'·dY, which it is computed with (GPUs).
func (p *phases) postpone(beside bool) {
	readers, rows := p.readers()
	sums := map[*Node][]*Node{} // by a value that they read
	var shared []*Node
	for _, n := range p.live {
		if rows.has(n) || n.shape.Set.Kind != Global || n.Def().Class != Reduce || root(n) || n.in[0].shape.Set.Kind != Vertex {
			continue
		}
		for _, x := range p.needs(n, p.phase.of(n)) {
			if sums[x] == nil {
				shared = append(shared, x)
			}
			sums[x] = append(sums[x], n)
		}
	}
	best := p.traffic()
	reads := p.ownReads()
	undone := false // chooseKept has chosen for a move that was taken back
	for _, x := range shared {
		for q := range p.count {
			var group []*Node
			from := map[*Node][2]int{}
			for _, n := range sums[x] {
				if p.phase.of(n) < q {
					group, from[n] = append(group, n), [2]int{p.phase.of(n), p.sub.of(n)}
				}
			}
			if beside {
				for _, m := range rowSums(group, sums) {
					if _, ok := from[m]; !ok && p.phase.of(m) < q {
						group, from[m] = append(group, m), [2]int{p.phase.of(m), p.sub.of(m)}
					}
				}
			}
			if len(group) == 0 || q >= len(reads) || !reads[q].set.has(x) { // q >= len(reads): a phase that an earlier move has added
				continue
			}
			sub := p.last(q)
			for _, n := range group {
				p.move(n, q, sub, readers)
			}
			p.chooseKept()
			t := p.traffic()
			if undone = t >= best; !undone {
				best, reads = t, p.ownReads()
				continue
			}
			for _, n := range group {
				p.move(n, from[n][0], from[n][1], readers)
			}
		}
	}
	if undone {
		p.chooseKept()
	}
}

// rowSums lists the sums of dY of the sums X'·dY in group.
func rowSums(group []*Node, sums map[*Node][]*Node) (list []*Node) {
	for _, n := range group {
		if n.Def().Acc != kernel.SumTN {
			continue
		}
		for _, some := range sums {
			for _, m := range some {
				if m.Def().Acc == kernel.SumRows && m.in[0] == n.in[1] && !slices.Contains(list, m) {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// last is the last sub-phase of phase q that works on rows.
func (p *phases) last(q int) int {
	sub := 0
	for _, m := range p.live {
		if at, ok := p.phase.get(m); ok && at == q && !root(m) {
			sub = max(sub, p.sub.of(m))
		}
	}
	return sub
}

// move puts sum n into a sub-phase of phase q, and what is computed of it behind it.
func (p *phases) move(n *Node, q, sub int, readers map[*Node][]*Node) {
	p.phase.set(n, q)
	p.sub.set(n, sub)
	p.avail.set(n, q+1)
	p.count = max(p.count, q+2)
	for _, m := range readers[n] {
		p.assign(m)
	}
}

// readers lists, in the order of the program, the Globals that are computed of each sum over rows, and the nodes of which rows are.
func (p *phases) readers() (of map[*Node][]*Node, rows nodeSet) {
	of = map[*Node][]*Node{}
	for _, n := range slices.Backward(p.live) {
		for _, x := range n.in {
			if n.shape.Set.Kind != Global || rows.has(n) || n.in[0].shape.Set.Kind != Global {
				rows.add(x)
			}
		}
	}
	sums := map[*Node][]*Node{}
	for _, n := range p.live {
		if n.shape.Set.Kind != Global || len(n.in) == 0 {
			continue
		}
		if n.Def().Class == Reduce && n.in[0].shape.Set.Kind == Vertex {
			sums[n] = []*Node{n}
			continue
		}
		for _, x := range n.in {
			for _, s := range sums[x] {
				if !slices.Contains(sums[n], s) {
					sums[n] = append(sums[n], s)
					of[s] = append(of[s], n)
				}
			}
		}
	}
	return of, rows
}

// traffic is how many bytes per vertex all phases together read at the own end and store.
func (p *phases) traffic() int64 {
	var n int64
	for _, reads := range p.ownReads() {
		for _, x := range reads.list {
			n += rowBytes(x)
		}
	}
	for _, x := range p.live {
		if p.keep.has(x) {
			n += rowBytes(x)
		}
	}
	return n
}

// nodeList is a list of nodes, and the set of them.
type nodeList struct {
	list []*Node
	set  nodeSet
}

// ownReads lists by phase the inputs and the values of earlier phases that the phase reads at
// the own end.
func (p *phases) ownReads() []nodeList {
	out, seen := make([]nodeList, p.count), make([]nodeSet, p.count)
	for _, m := range p.live {
		q, ok := p.phase.get(m)
		if !ok || q >= p.count || !p.keep.has(m) && !root(m) && m.shape.Set.Kind != Global {
			continue
		}
		p.eachNeed(m, q, &seen[q], func(x *Node) {
			if out[q].set.add(x) {
				out[q].list = append(out[q].list, x)
			}
		})
	}
	return out
}

// needs lists the inputs and the values of earlier phases that node n, if run in phase q, is
// computed from at the own end.
func (p *phases) needs(n *Node, q int) []*Node {
	var out []*Node
	p.eachNeed(n, q, &nodeSet{}, func(x *Node) { out = append(out, x) })
	return out
}

// eachNeed calls f for each node that needs would list and that is not reached through a node
// in seen. It adds the nodes that it reaches to seen.
func (p *phases) eachNeed(n *Node, q int, seen *nodeSet, f func(x *Node)) {
	var walk func(x *Node)
	walk = func(x *Node) {
		if x.shape.Set.Kind != Vertex || !seen.add(x) {
			return
		}
		switch {
		case !computed(x) || p.phase.of(x) < q && !p.remade(x, q):
			f(x)
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
}

// ownEnd are the vertex nodes that root n reads at the own end.
func (p *phases) ownEnd(n *Node) []*Node {
	var out []*Node
	for _, l := range p.leavesOf(n) {
		if isScatter(l.op) && l.op == dirOf(n) {
			out = append(out, l.in[0])
		}
	}
	return out
}
