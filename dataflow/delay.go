package dataflow

import (
	"slices"

	"sagann/kernel"
)

// Delaying. A value that one phase computes and only later phases read may instead be computed in
// the first phase that reads it, unless that phase reads it at the far end of edges. That phase
// then reads the value's operands, which it may read anyway, and the copy of the value to the
// host moves to that phase too. Which is faster depends on what else both phases
// copy, so the search tries it (Options.Store).

// Late is the prefix that marks a value's name in Options.Store as one to be delayed.
const Late = "late:"

// delay moves the values that Options.Store names with the prefix Late to the phase that reads
// them first.
func (p *phases) delay() {
	for _, n := range p.live {
		if q := p.firstRead(n); q >= 0 && p.stored(Late, n) {
			p.phase.set(n, q)
			p.sub.set(n, 0)
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

// firstRead is the phase to which stored value n can be delayed: the first that reads it. -1: it
// cannot be delayed.
func (p *phases) firstRead(n *Node) int {
	if !computed(n) || root(n) || !p.keep.has(n) || n.Def().Effect {
		return -1
	}
	q := p.count
	for _, u := range p.uses.of(n) {
		q = min(q, u.phase)
	}
	if q == p.count || q <= p.phase.of(n) || slices.ContainsFunc(p.outs, func(o result) bool { return o.node == n }) {
		return -1
	}
	for _, u := range p.uses.of(n) {
		if u.phase == q && u.other {
			return -1
		}
	}
	return q
}

// sink moves what is made of the sums of exponentials of a softmax behind the gathers of the same phase that read their maxima, where only rows
// after those read it: 1/sum, which multiplies sums of messages, is then no kernel between two gathers, and not in memory.
func (p *phases) sink() {
	var of nodeSet
	for _, n := range p.live {
		if computed(n) && (isGather(n) && n.Def().Acc == kernel.SumExp || !isGather(n) && p.onlyOf(n, &of)) {
			of.add(n)
		}
	}
	moved := false
	for _, n := range slices.Backward(p.live) {
		if !of.has(n) || isGather(n) || p.keep.has(n) || p.remat.has(n) {
			continue
		}
		sub := -1
		for _, u := range p.uses.of(n) {
			at := p.sub.of(u.by)
			if u.phase != p.phase.of(n) || u.other || root(u.by) {
				at = p.sub.of(n)
			}
			if sub < 0 || at < sub {
				sub = at
			}
		}
		if sub > p.sub.of(n) {
			p.sub.set(n, sub)
			moved = true
		}
	}
	if moved {
		p.chooseKept()
	}
}

// onlyOf tells whether n reads nodes of a set, at least one, and else only inputs and Globals.
func (p *phases) onlyOf(n *Node, set *nodeSet) bool {
	some := false
	for _, x := range n.in {
		if !computed(x) {
			continue
		}
		if !set.has(x) {
			return false
		}
		some = true
	}
	return some
}

// join moves a product of rows whose only reader is computed after a gather of the same phase to that reader, so that it is not written
// before the gather and read after it: x·W of a layer, say, to which a sum of neighbours is added. It is for programs over blocks, where all
// rows are there; where rows are streamed, those of x would have to come again.
func (p *phases) join() {
	moved := false
	for _, n := range p.live {
		uses := p.uses.of(n)
		if !n.Def().Role.Product() || !computed(n) || p.keep.has(n) || p.remat.has(n) || len(uses) != 1 {
			continue
		}
		if u := uses[0]; u.phase == p.phase.of(n) && u.sub > p.sub.of(n) && !u.other && !root(u.by) {
			p.sub.set(n, u.sub)
			moved = true
		}
	}
	if moved {
		p.chooseKept()
	}
}
