package dataflow

import "slices"

// Phases. A phase is one sweep over all intervals. Inside the visit of an interval,
// vertex ops and gathers alternate: sub-phase s holds the gathers of level s and the
// vertex ops that follow them. A gather may read its own interval's rows in the visit
// that makes them, but rows of other intervals only from an earlier phase.

// result is one value the caller wants from a program.
type result struct {
	name string
	node *Node
}

// phases holds where everything is computed.
type phases struct {
	outs    []result
	live    []*Node
	phase   map[*Node]int // of vertex nodes, gathers and reduces
	sub     map[*Node]int
	avail   map[*Node]int // of Globals: the first phase that may read it
	count   int
	uses    map[*Node][]use
	keep    map[*Node]bool   // stored for later phases
	remat   map[*Node]bool   // recomputed in later phases
	derived map[*Node]recipe // made on arrival where gathers read them at the far end
	before  map[*Node]*Node  // gathers of slices: the one of the slice before
	save    string
	store   []string // Options.Store
}

// What happens with a value that a later phase reads at the own end (Options.Save).
const (
	SaveSome = ""     // element-wise values are computed again, all others stored
	SaveAll  = "all"  // stored
	SaveNone = "none" // products and row-wise values are computed again, too
)

// use is a reader of a vertex node.
type use struct {
	phase, sub int
	other      bool  // read at the far end of an edge
	by         *Node // the vertex op, gather or reduce that reads it
}

// root tells whether n ends an edge program: a gather, or a reduce over edges.
func root(n *Node) bool {
	return isGather(n) || n.Def().Class == Reduce && n.in[0].shape.Set.Kind == Edge
}

// dirOf is the end whose rows own the accumulators of root n.
func dirOf(n *Node) Op {
	if n.op == GatherSrcOp {
		return ScatterSrcOp
	}
	return ScatterDstOp
}

// program lists the edge nodes under root r in topological order, and its leaves:
// scatters and edge inputs, and the Globals that they use.
func program(r *Node) (body, leaves []*Node) {
	seen := map[*Node]bool{}
	var walk func(n *Node)
	walk = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
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

func assignPhases(outs []result, derive, postpone bool, opt Options) *phases {
	nodes := make([]*Node, len(outs))
	for i, o := range outs {
		nodes[i] = o.node
	}
	p := &phases{save: opt.Save, store: opt.Store, outs: outs, live: Live(nodes), phase: map[*Node]int{}, sub: map[*Node]int{},
		avail: map[*Node]int{}, derived: map[*Node]recipe{}}
	p.before = previous(p.live)
	p.live = inTurn(p.live, p.before)
	if derive {
		p.chooseDerived()
	}
	for _, n := range p.live {
		p.assign(n)
	}
	p.chooseKept()
	if postpone {
		p.postpone()
	}
	p.delay()
	return p
}

// computed: a vertex node that the program makes (not an input).
func computed(n *Node) bool { return n.shape.Set.Kind == Vertex && len(n.in) > 0 }

func (p *phases) assign(n *Node) {
	kind := n.shape.Set.Kind
	if len(n.in) == 0 || kind == Edge {
		return
	}
	at, sub := 0, 0
	read := func(x *Node, other bool) {
		switch {
		case x.shape.Set.Kind == Global:
			if p.avail[x] > at {
				at, sub = p.avail[x], 0
			}
		case !computed(x):
		case other:
			if p.phase[x]+1 > at {
				at, sub = p.phase[x]+1, 0
			}
		case p.phase[x] > at:
			at, sub = p.phase[x], p.sub[x]
		case p.phase[x] == at:
			sub = max(sub, p.sub[x])
		}
	}
	switch {
	case root(n):
		own := dirOf(n)
		_, leaves := program(n)
		for range 2 { // twice: sub counts only at the final phase
			sub = 0
			for _, l := range leaves {
				if !isScatter(l.op) {
					read(l, false)
				} else if c, ok := p.derived[l.in[0]]; ok && l.op != own {
					for _, g := range c.globals { // its bases are leaves themselves
						read(g, false)
					}
				} else {
					read(l.in[0], l.op != own)
				}
			}
			if m := p.before[n]; m != nil && p.phase[m]+1 > at { // a slice a phase
				at, sub = p.phase[m]+1, 0
			}
		}
		sub++
	default:
		for range 2 {
			sub = 0
			for _, x := range n.in {
				read(x, false)
			}
		}
	}
	if kind == Global {
		p.avail[n] = at
		if n.Def().Class == Reduce {
			p.avail[n] = at + 1
			p.phase[n], p.sub[n] = at, sub
		}
		p.count = max(p.count, p.avail[n]+1)
		return
	}
	p.phase[n], p.sub[n] = at, sub
	p.count = max(p.count, at+1)
}

func (p *phases) recordUses(n *Node) {
	if n.shape.Set.Kind == Edge || len(n.in) == 0 || n.shape.Set.Kind == Global && n.Def().Class != Reduce {
		return
	}
	add := func(x *Node, other bool) {
		if computed(x) {
			p.uses[x] = append(p.uses[x], use{p.phase[n], p.sub[n], other, n})
		}
	}
	if !root(n) {
		for _, x := range n.in {
			add(x, false)
		}
		return
	}
	own := dirOf(n)
	_, leaves := program(n)
	for _, l := range leaves {
		if !isScatter(l.op) {
			continue
		}
		if _, ok := p.derived[l.in[0]]; !ok || l.op == own {
			add(l.in[0], l.op != own)
		}
	}
}

// chooseKept decides for each value that a later phase reads: store it, or compute it
// again from values that are there anyway. What is read at the far end is stored.
func (p *phases) chooseKept() {
	p.uses, p.keep, p.remat = map[*Node][]use{}, map[*Node]bool{}, map[*Node]bool{}
	for _, n := range p.live {
		p.recordUses(n)
	}
	for _, o := range p.outs {
		if computed(o.node) {
			p.keep[o.node] = true
		}
	}
	for _, n := range p.live {
		if n.op == JoinOp && sliceOf(n.in[0]) && p.needed(n, p.phase[n]) { // slices are stored, not their join
			for _, x := range n.in {
				p.keep[x] = true
			}
		}
	}
	for _, n := range p.live {
		if !computed(n) {
			continue
		}
		later, other := false, false
		for _, u := range p.uses[n] {
			later = later || u.phase > p.phase[n]
			other = other || u.other
		}
		switch {
		case other || p.keep[n] || slices.Contains(p.store, vertexValue(n).Name):
			p.keep[n] = true
		case !(p.save == SaveAll && later) && p.cheap(n):
			p.remat[n] = true
		case later:
			p.keep[n] = true
		}
	}
}

// needed: later phases than q need n, or what they may compute again needs it.
func (p *phases) needed(n *Node, q int) bool {
	seen := map[*Node]bool{}
	var walk func(n *Node) bool
	walk = func(n *Node) bool {
		if seen[n] { // it was not needed
			return false
		}
		seen[n] = true
		for _, u := range p.uses[n] {
			if u.phase > q || computed(u.by) && elementwise(u.by) && walk(u.by) {
				return true
			}
		}
		return false
	}
	return walk(n)
}

// again: n is computed again wherever it is read, also in other programs of its phase.
func (p *phases) again(n *Node) bool { return p.remat[n] }

// computedAgain names the values that later phases than their own compute again.
func (p *phases) computedAgain() []string {
	again, seen := map[*Node]bool{}, map[use]bool{}
	var walk func(x *Node, q int)
	walk = func(x *Node, q int) {
		k := use{phase: q, by: x}
		if seen[k] || !computed(x) || !p.remat[x] && p.phase[x] < q || root(x) {
			return
		}
		seen[k] = true
		if p.phase[x] < q {
			again[x] = true
		}
		for _, y := range x.in {
			walk(y, q)
		}
	}
	for _, n := range p.live {
		if q, ok := p.phase[n]; ok && (p.keep[n] || root(n) || n.shape.Set.Kind == Global) {
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

func elementwise(n *Node) bool {
	c := n.Def().Class
	return c == Elem || c == Group
}

// cheap: n may be computed again; every vertex operand is an input, stored or cheap
// itself.
func (p *phases) cheap(n *Node) bool {
	if !elementwise(n) && (p.save != SaveNone || n.Def().Class != Row || root(n)) {
		return false
	}
	for _, x := range n.in {
		if computed(x) && !p.keep[x] && !p.remat[x] {
			return false
		}
	}
	return true
}
