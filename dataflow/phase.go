package dataflow

import "slices"

// Phases. A phase is one sweep over all intervals. While an interval is visited, gathers and
// vertex ops alternate: sub-phase s is the s-th round of gathers and the vertex ops that follow
// it, sub-phase 0 the vertex ops before the first gathers. A gather may read rows of the visited
// interval in the visit that computes them, but rows of other intervals only if an earlier phase
// has computed them.

// result is one value that the caller wants from a program.
type result struct {
	name string
	node *Node
	next string // the vertex input that it replaces in the next step; "": none
}

// phases says in which phase and sub-phase everything is computed.
type phases struct {
	outs    []result
	live    []*Node       // all nodes, operands first
	phase   numbered[int] // by vertex node, gather and reduce
	sub     numbered[int] // their sub-phase
	avail   numbered[int] // by Global: the first phase that may read it
	count   int           // number of phases
	uses    numbered[[]use]
	keep    nodeSet           // values that are stored for later phases
	remat   nodeSet           // values that later phases compute again
	redo    nodeSet           // stored values that later phases compute again at the own end
	derived map[*Node]recipe  // values that are computed on arrival where gathers read them at the far end
	before  map[*Node]*Node   // by gather of a slice: the gather of the slice before
	old     map[*Node]*Node   // by result that replaces an input: that input
	save    string            // Options.Save
	store   []string          // Options.Store
	names   numbered[string]  // of values, as in store: those that were asked for
	leaves  numbered[[]*Node] // by root: those of its program, once they have been asked for
}

// root tells whether n is the last op of an edge program: a gather, or a reduce over edges.
func root(n *Node) bool {
	return isGather(n) || n.Def().Class == Reduce && n.in[0].shape.Set.Kind == Edge
}

// edgesOf is the edge set of root n.
func edgesOf(n *Node) Set { return n.in[0].shape.Set }

// dirOf is the scatter of the own end of root n: the end whose rows have the accumulators.
func dirOf(n *Node) Op {
	if n.op == GatherSrcOp || n.op == GatherSrcByTypeOp || n.op == SumByTypeOp && n.in[1].op == ScatterSrcOp {
		return ScatterSrcOp
	}
	return ScatterDstOp
}

// program lists the edge nodes under root r, operands first, and their leaves: scatters, edge
// inputs and Globals.
func program(r *Node) (body, leaves []*Node) {
	var seen nodeSet
	var walk func(n *Node)
	walk = func(n *Node) {
		if !seen.add(n) {
			return
		}
		if n.shape.Set.Kind == Global || isScatter(n.op) || len(n.in) == 0 {
			leaves = append(leaves, n)
			return
		}
		for _, x := range n.in {
			walk(x)
		}
		body = append(body, n)
	}
	for _, x := range r.in {
		walk(x)
	}
	return body, leaves
}

// leavesOf are the leaves of the program of root r.
func (p *phases) leavesOf(r *Node) []*Node {
	leaves, ok := p.leaves.get(r)
	if !ok {
		_, leaves = program(r)
		p.leaves.set(r, leaves)
	}
	return leaves
}

// stored tells whether Options.Store names n, with a word before its name.
func (p *phases) stored(word string, n *Node) bool {
	if len(p.store) == 0 {
		return false
	}
	name, ok := p.names.get(n)
	if !ok {
		name = vertexValue(n).Name
		p.names.set(n, name)
	}
	return slices.ContainsFunc(p.store, func(s string) bool {
		return len(s) == len(word)+len(name) && s[len(word):] == name && s[:len(word)] == word
	})
}

func assignPhases(outs []result, derive, postpone bool, opt Options) *phases {
	nodes := make([]*Node, len(outs))
	for i, o := range outs {
		nodes[i] = o.node
	}
	p := &phases{save: opt.Save, store: opt.Store, outs: outs, live: Live(nodes), derived: map[*Node]recipe{}}
	p.before = previous(p.live)
	p.live = inTurn(p.live, p.before)
	if sampled(p.live) { // all of a block is on the device: nothing arrives, and one more sweep loads nothing
		derive, postpone = false, false
	}
	if derive {
		p.chooseDerived()
		p.arrive()
	}
	for _, n := range p.live {
		p.assign(n)
	}
	p.chooseKept()
	if postpone {
		p.postpone(opt.Bases)
	}
	p.delay()
	p.sink()
	if sampled(p.live) {
		p.join()
	}
	p.replaceLast()
	return p
}

// computed tells whether n is a vertex node that the program computes, and no input.
func computed(n *Node) bool { return n.shape.Set.Kind == Vertex && len(n.in) > 0 }

// assign gives n the earliest phase and sub-phase in which all that it reads is there.
func (p *phases) assign(n *Node) {
	kind := n.shape.Set.Kind
	if len(n.in) == 0 || kind == Edge {
		return
	}
	at, sub := 0, 0
	read := func(x *Node, other bool) {
		switch {
		case x.shape.Set.Kind == Global:
			if p.avail.of(x) > at {
				at, sub = p.avail.of(x), 0
			}
		case !computed(x):
		case other:
			if p.phase.of(x)+1 > at {
				at, sub = p.phase.of(x)+1, 0
			}
		case p.phase.of(x) > at:
			at, sub = p.phase.of(x), p.sub.of(x)
		case p.phase.of(x) == at:
			sub = max(sub, p.sub.of(x))
		}
	}
	switch {
	case root(n):
		own := dirOf(n)
		leaves := p.leavesOf(n)
		for range 2 { // twice: sub counts only at the final phase
			sub = 0
			for _, l := range leaves {
				if !isScatter(l.op) {
					read(l, false)
				} else if l.op == own {
					read(l.in[0], false)
				} else {
					p.eachArriving(l.in[0], read)
				}
			}
			if m := p.before[n]; m != nil && p.phase.of(m)+1 > at { // one slice per phase
				at, sub = p.phase.of(m)+1, 0
			}
		}
		sub++
	default:
		for range 2 {
			sub = 0
			for _, x := range n.in {
				read(x, isView(n)) // a view reads only what an earlier phase has stored
			}
		}
	}
	if kind == Global {
		p.avail.set(n, at)
		if n.Def().Class == Reduce {
			p.avail.set(n, at+1)
			p.phase.set(n, at)
			p.sub.set(n, sub)
		}
		p.count = max(p.count, p.avail.of(n)+1)
		return
	}
	p.phase.set(n, at)
	p.sub.set(n, sub)
	p.count = max(p.count, at+1)
}
