package dataflow

import "slices"

// Learned rows. A vertex input can be learned: the step that computes the gradient of its rows
// also computes its rows for the next step and writes them in place. Learned rows lie on the host
// or on a device as other inputs do; an interval of them is loaded, used, changed and saved.

// Next says that from the next step on Rows replace Of, a vertex input of the same shape.
type Next struct{ Of, Rows *Node }

// learned adds what Program.Learn makes of gradient d of input w to the results. It returns false
// if Learn is nil or makes nothing.
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

// replaced maps each result that replaces an input to that input. Inputs that no live node is are
// missing.
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

// replaceLast moves the results that replace inputs to the end of the last phase, when all readers
// of the old rows have read them. If the last phase reads such an input at the far end of edges,
// any of its visits may read any interval, so the results get a phase of their own after it.
func (p *phases) replaceLast() {
	p.old = replaced(p.outs, p.live)
	if len(p.old) == 0 {
		return
	}
	q, sub := 0, -1
	for _, n := range p.live {
		q = max(q, p.phase.of(n))
	}
	if p.farInputs(q) {
		q++
	}
	for _, n := range p.live {
		if at, ok := p.phase.get(n); ok && at == q && p.old[n] == nil {
			sub = max(sub, p.sub.of(n))
		}
	}
	for n := range p.old {
		p.phase.set(n, q)
		p.sub.set(n, sub+1)
	}
	p.count = max(p.count, q+1)
	p.chooseKept()
}

// farInputs tells whether phase q reads, at the far end of edges, an input that is replaced.
func (p *phases) farInputs(q int) bool {
	old := map[*Node]bool{}
	for _, x := range p.old {
		old[x] = true
	}
	for _, r := range p.live {
		if at, ok := p.phase.get(r); !ok || at != q || !root(r) {
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
