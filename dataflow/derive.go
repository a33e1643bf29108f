package dataflow

import "slices"

// Recompute on load. If gathers read both x and x·W at the far end of their edges, x·W need not
// be stored and moved: it is computed again each time a chunk of x arrives. The product of a row
// costs a tenth of moving the row over a link.

// recipe lists what a vertex node is derived from on arrival: other vertex nodes that arrive, and
// Globals.
type recipe struct{ bases, globals []*Node }

// chooseDerived finds the vertex nodes that are derived on arrival: every gather that reads one at
// the far end reads all that it is computed from there, too.
func (p *phases) chooseDerived() {
	no := map[*Node]bool{}
	for _, r := range p.live {
		if !root(r) {
			continue
		}
		own := dirOf(r)
		_, leaves := program(r)
		there := map[*Node]bool{}
		for _, l := range leaves {
			if isScatter(l.op) && l.op != own {
				there[l.in[0]] = true
			}
		}
		for x := range there {
			var c recipe
			if !computed(x) || !c.of(x, there) {
				no[x] = true
				continue
			}
			if old, ok := p.derived[x]; ok && !slices.Equal(old.bases, c.bases) {
				no[x] = true
			}
			p.derived[x] = c
		}
	}
	for x := range no {
		delete(p.derived, x)
	}
}

// eachArriving calls f for x, which a gather reads at the far end, or for what it is derived from on arrival. other tells whether that is
// read at the far end, too.
func (p *phases) eachArriving(x *Node, f func(x *Node, other bool)) {
	c, ok := p.derived[x]
	if !ok {
		f(x, true)
	}
	for _, y := range c.bases {
		p.eachArriving(y, f)
	}
	for _, g := range c.globals {
		f(g, false)
	}
}

// of adds to c the members of there, and the Globals, that x is computed from. It returns false
// if x needs anything else, or cannot be computed row by row.
func (c *recipe) of(x *Node, there map[*Node]bool) bool {
	if root(x) || x.Def().Effect {
		return false
	}
	for _, y := range x.in {
		list := &c.bases
		switch {
		case y.shape.Set.Kind == Global:
			list = &c.globals
		case there[y]:
		case !computed(y) || !c.of(y, there):
			return false
		default:
			continue
		}
		if !slices.Contains(*list, y) {
			*list = append(*list, y)
		}
	}
	return true
}

// derivedValue is the planner's number of the value that node x, derived on arrival, has there.
func (l *lowering) derivedValue(x *Node) int {
	k := valueKey{x, onArrival}
	if id, ok := l.values[k]; ok {
		return id
	}
	v := vertexValue(x)
	id := l.addValue(v)
	l.values[k] = id
	b := newBuilder(l, "derive "+v.Name, 0, 0)
	b.arrival = map[*Node]bool{}
	for _, y := range l.derived[x].bases {
		b.arrival[y] = true
	}
	b.emit(x)
	b.storeArrival(x, id)
	call := l.kernelCall(b)
	l.out.Spec.Values[id].Derive = &call
	return id
}
