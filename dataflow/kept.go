package dataflow

import "slices"

// What happens to values that later phases read at the own end only (Options.Save). Values that are
// read at the far end of an edge are always stored.
const (
	SaveSome = ""     // element-wise values are computed again, all others stored
	SaveAll  = "all"  // all are stored
	SaveNone = "none" // products and other row-wise ops are computed again, too; gathers are stored
)

// use is a reader of a vertex node.
type use struct {
	phase, sub int
	other      bool  // read at the far end of an edge
	by         *Node // the vertex op, gather or reduce that reads it
}

// chooseKept decides for each value that a later phase reads whether it is stored (keep) or
// computed again from values that are there anyway (remat). Values that are read at the far end
// are stored.
func (p *phases) chooseKept() {
	clear(p.keep)
	clear(p.remat)
	clear(p.redo)
	for i := range p.uses.at {
		p.uses.at[i] = p.uses.at[i][:0]
	}
	for _, n := range p.live {
		p.recordUses(n)
	}
	for _, o := range p.outs {
		if computed(o.node) && !isView(o.node) {
			p.keep.add(o.node)
		}
	}
	for _, n := range p.live {
		if n.op == JoinOp && sliceOf(n.in[0]) && p.needed(n, p.phase.of(n)) { // slices are stored, not their join
			for _, x := range n.in {
				p.keep.add(x)
			}
		}
	}
	for _, n := range p.live {
		if !computed(n) {
			continue
		}
		later, other := false, false
		for _, u := range p.uses.of(n) {
			later = later || u.phase > p.phase.of(n)
			other = other || u.other
		}
		switch {
		case isView(n): // lies in the memory of another node
			p.remat.add(n)
		case other || p.keep.has(n) || p.stored("", n):
			p.keep.add(n)
			if p.stored(Anew, n) && p.renewable(n) {
				p.redo.add(n)
			}
		case !(p.save == SaveAll && later) && p.cheap(n):
			p.remat.add(n)
		case later:
			p.keep.add(n)
		}
	}
}

func (p *phases) recordUses(n *Node) {
	if n.shape.Set.Kind == Edge || len(n.in) == 0 || n.shape.Set.Kind == Global && n.Def().Class != Reduce {
		return
	}
	add := func(x *Node, other bool) {
		if computed(x) {
			p.uses.set(x, append(p.uses.of(x), use{p.phase.of(n), p.sub.of(n), other, n}))
		}
	}
	if !root(n) {
		for _, x := range n.in {
			add(x, isView(n))
		}
		return
	}
	own := dirOf(n)
	for _, l := range p.leavesOf(n) {
		if !isScatter(l.op) {
			continue
		}
		if l.op == own {
			add(l.in[0], false)
		} else {
			p.eachArriving(l.in[0], add)
		}
	}
}

// needed tells whether a phase after q reads n, or an element-wise value computed from n, which
// it may compute again.
func (p *phases) needed(n *Node, q int) bool {
	var seen nodeSet
	var walk func(n *Node) bool
	walk = func(n *Node) bool {
		if !seen.add(n) { // it was not needed
			return false
		}
		for _, u := range p.uses.of(n) {
			if u.phase > q || computed(u.by) && elementwise(u.by) && walk(u.by) {
				return true
			}
		}
		return false
	}
	return walk(n)
}

// cheap tells whether n may be computed again: Options.Save allows it for n's op, and all its
// vertex operands are inputs, stored, or computed again themselves.
func (p *phases) cheap(n *Node) bool {
	if !elementwise(n) && (p.save != SaveNone || n.Def().Class != Row || root(n)) {
		return false
	}
	for _, x := range n.in {
		if computed(x) && !p.keep.has(x) && !p.remat.has(x) {
			return false
		}
	}
	return true
}

func elementwise(n *Node) bool {
	c := n.Def().Class
	return c == Elem || c == Group
}

// again tells whether n is computed again wherever it is read, also in other kernels of its phase.
func (p *phases) again(n *Node) bool { return p.remat.has(n) }

// computedAgain names the values that phases after their own compute again.
func (p *phases) computedAgain() []string {
	again, seen := map[*Node]bool{}, map[use]bool{}
	var walk func(x *Node, q int)
	walk = func(x *Node, q int) {
		k := use{phase: q, by: x}
		if seen[k] || !computed(x) || !p.remade(x, q) && p.phase.of(x) < q || root(x) {
			return
		}
		seen[k] = true
		if p.phase.of(x) < q && p.remat.has(x) {
			again[x] = true
		}
		for _, y := range x.in {
			walk(y, q)
		}
	}
	for _, n := range p.live {
		if q, ok := p.phase.get(n); ok && (p.keep.has(n) || root(n) || n.shape.Set.Kind == Global) {
			in := n.in
			if root(n) {
				in = p.ownEnd(n)
			}
			for _, x := range in {
				walk(x, q)
			}
		}
	}
	var names []string
	for _, n := range p.live {
		if again[n] {
			names = append(names, vertexValue(n).Name)
		}
	}
	return names
}

// Computing anew. A value that gathers read at the far end is stored. A later phase that reads it at the own end loads it, or computes it
// anew from what it is made of, which that phase may load anyway: h = x·W of attention, say, is read at the far end forward, and at the
// own end backward, where x is read, too. Which is faster depends on what each phase copies, so the search tries it (Options.Store).

// Anew is the prefix that marks a stored value's name in Options.Store as one that later phases compute anew at the own end.
const Anew = "anew:"

// remade tells whether phase q computes n again, if it is after n's own phase: at the own end, at least.
func (p *phases) remade(n *Node, q int) bool {
	return p.remat.has(n) || p.redo.has(n) && q > p.phase.of(n)
}

// renewable tells whether phases after its own could compute n, which is stored because gathers read it at the far end, anew: some read it
// at the own end, and it is computed row by row from inputs and from what is stored or computed again itself.
func (p *phases) renewable(n *Node) bool {
	if c := n.Def().Class; root(n) || isView(n) || n.Def().Effect || c != Row && c != Elem && c != Group {
		return false
	}
	far, later := false, false
	for _, u := range p.uses.of(n) {
		if isView(u.by) {
			return false
		}
		far = far || u.other
		later = later || !u.other && u.phase > p.phase.of(n)
	}
	for _, x := range n.in {
		later = later && (!computed(x) || p.keep.has(x) || p.remat.has(x))
	}
	return far && later && !slices.ContainsFunc(p.outs, func(o result) bool { return o.node == n })
}

// renewables names the values that Options.Store may name with the prefix Anew.
func (p *phases) renewables() (names []string) {
	if sampled(p.live) {
		return nil
	}
	for _, n := range p.live {
		if computed(n) && p.renewable(n) {
			names = append(names, Anew+vertexValue(n).Name)
		}
	}
	return names
}
