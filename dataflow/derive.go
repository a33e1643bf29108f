package dataflow

import "slices"

// Recompute on load. A gather that reads x and x·W at the far end of its edges need
// not have x·W stored and moved: the product is made again when a chunk of x arrives.
// A product of a row costs a tenth of what moving the row over a link costs.

// recipe says what a derived vertex node is made of on arrival.
type recipe struct{ bases, globals []*Node }

// chooseDerived marks the vertex nodes that are made on arrival: every gather that reads
// one at the far end also reads there all that it is made of.
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

// of collects what x is computed from, row by row, stopping at members of there. It
// fails where x needs more.
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

// derivedValue is the planner's number for node x made on arrival.
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
