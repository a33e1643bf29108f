package dataflow

import "slices"

// Delaying. What is made of rows of one phase and read in later ones only, at the own end
// first, may as well be made in the first of those: that phase then reads what it is made
// of, which it may read anyway at the far end of edges, and the copies to the host move
// from one phase to the other. Which is better depends on what both have to copy, so
// mixtures try it (Options.Store).

// Late is what stands before the name of a value that is delayed, in Options.Store.
const Late = "late:"

// delay makes the values that Options.Store names so where they are read first.
func (p *phases) delay() {
	for _, n := range p.live {
		if q := p.firstRead(n); q >= 0 && slices.Contains(p.store, Late+vertexValue(n).Name) {
			p.phase[n], p.sub[n] = q, 0
			p.chooseKept()
		}
	}
}

// delayable names the stored values that could be delayed, for Options.Store.
func (p *phases) delayable() []string {
	var names []string
	for _, n := range p.live {
		if p.firstRead(n) >= 0 {
			names = append(names, Late+vertexValue(n).Name)
		}
	}
	return names
}

// firstRead is the phase that node n, a stored value, can be delayed to; -1: none.
func (p *phases) firstRead(n *Node) int {
	if !computed(n) || root(n) || !p.keep[n] || n.Def().Effect {
		return -1
	}
	q := p.count
	for _, u := range p.uses[n] {
		q = min(q, u.phase)
	}
	if q == p.count || q <= p.phase[n] || slices.ContainsFunc(p.outs, func(o result) bool { return o.node == n }) {
		return -1
	}
	for _, u := range p.uses[n] {
		if u.phase == q && u.other {
			return -1
		}
	}
	return q
}
