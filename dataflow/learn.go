package dataflow

import "slices"

// Learned rows. A vertex input can be learned: the step that has the gradient of its rows
// also makes the rows of the next step, in place. They live where inputs live, on the host or on
// a device, and stream as inputs do; they are loaded, used, changed and saved by interval.

// Next says that Rows stand in place of Of, a vertex input of the same shape, from the next
// step on.
type Next struct{ Of, Rows *Node }

// learned adds what p.Learn makes of the gradient d of input w to the results, and tells
// whether there is anything.
func (s *state) learned(w, d *Node) bool {
	if s.learn == nil || w.shape.Set.Kind != Vertex {
		return false
	}
	list := s.learn(w, d)
	for _, x := range list {
		s.outs = append(s.outs, result{name: "next:" + x.Of.attr.S, node: x.Rows, next: x.Of.attr.S})
	}
	return len(list) > 0
}

// replaced finds, by result, the input whose place it takes; the inputs that nothing reads are missing.
func replaced(outs []result, live []*Node) map[*Node]*Node {
	old := map[*Node]*Node{}
	for _, o := range outs {
		if o.next == "" {
			continue
		}
		if i := slices.IndexFunc(live, func(n *Node) bool { return n.op == InputOp && n.attr.S == o.next }); i >= 0 {
			old[o.node] = live[i]
		}
	}
	return old
}

// replaceLast moves what takes the place of an input to the end of the last phase: whatever
// reads the old rows has read them by then. Rows of other intervals are read in any visit of
// a phase; where the last phase does that, one more follows.
func (p *phases) replaceLast() {
	p.old = replaced(p.outs, p.live)
	if len(p.old) == 0 {
		return
	}
	q, sub := 0, -1
	for n, at := range p.phase {
		if p.old[n] == nil || at > q { // a next row that needs a Global of a late phase
			q = max(q, at)
		}
	}
	if p.farInputs(q) {
		q++
	}
	for n, at := range p.phase {
		if at == q && p.old[n] == nil {
			sub = max(sub, p.sub[n])
		}
	}
	for n := range p.old {
		p.phase[n], p.sub[n] = q, sub+1
	}
	p.count = max(p.count, q+1)
	p.chooseKept()
}

// farInputs tells whether phase q reads an input that is replaced at the far end of edges.
func (p *phases) farInputs(q int) bool {
	old := map[*Node]bool{}
	for _, x := range p.old {
		old[x] = true
	}
	for _, r := range p.live {
		if at, ok := p.phase[r]; !ok || at != q || !root(r) {
			continue
		}
		_, leaves := program(r)
		for _, l := range leaves {
			if !isScatter(l.op) || l.op == dirOf(r) {
				continue
			}
			if c, ok := p.derived[l.in[0]]; old[l.in[0]] || ok && slices.ContainsFunc(c.bases, func(x *Node) bool { return old[x] }) {
				return true
			}
		}
	}
	return false
}
