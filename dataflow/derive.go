package dataflow

import "slices"

// Recompute on load. If gathers read both x and x·W at the far end of their edges, x·W need not
// be stored and moved: it is computed again each time a chunk of x arrives. The product of a row
// costs a tenth of moving the row over a link.

// Where all memory is the device's, that is one product more than storing x·W takes if something else reads it, too. So the search tries both (Options.Store).

// Far is the prefix that marks a value's name in Options.Store as one that is stored for far ends, though it could be computed on arrival.
const Far = "far:"

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
			if !computed(x) || !c.of(x, there) || p.stored(Far, x) {
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

// toStore names the values that are computed on arrival, for Options.Store.
func (p *phases) toStore() (names []string) {
	for _, x := range p.farNodes() {
		if c, ok := p.derived[x]; ok && !p.stored(Arrive, c.bases[len(c.bases)-1]) {
			names = append(names, Far+vertexValue(x).Name)
		}
	}
	return names
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

// Recompute on arrival. Several values that gathers read at the far end may be computed row by row from one base, as dY/d of every
// relation is from dY. Each of them is stored and moved, or base alone is, and they are computed again when a chunk of it arrives.
// Which is faster depends on the memory, so the search tries it (Options.Store).

// Arrive is the prefix that marks a value's name in Options.Store as one from which values at the far end are computed on arrival.
const Arrive = "arrive:"

// arrival is a base and the values at the far end that are computed from it and from Globals and narrow inputs alone.
type arrival struct {
	base *Node
	of   []*Node
}

// arrivals lists the bases of values that gathers read at the far end.
func (p *phases) arrivals() (out []arrival) {
	for _, x := range p.farNodes() {
		c, base := recipe{}, (*Node)(nil)
		if _, ok := p.derived[x]; ok || !computed(x) {
			continue
		}
		if base = c.chain(x); base == x {
			continue
		}
		i := slices.IndexFunc(out, func(a arrival) bool { return a.base == base })
		if i < 0 {
			i = len(out)
			out = append(out, arrival{base: base})
		}
		out[i].of = append(out[i].of, x)
	}
	return out
}

// farNodes lists the vertex nodes that gathers read at the far end.
func (p *phases) farNodes() (out []*Node) {
	var seen nodeSet
	for _, r := range p.live {
		if !root(r) {
			continue
		}
		for _, l := range p.leavesOf(r) {
			if isScatter(l.op) && l.op != dirOf(r) && seen.add(l.in[0]) {
				out = append(out, l.in[0])
			}
		}
	}
	return out
}

// chain goes from x to its only operand with a row for each vertex, and from that on to its own, as long as there is just one beside
// Globals and narrow inputs. It adds to c what it passes and where it ends, and returns that.
func (c *recipe) chain(x *Node) *Node {
	add := func(list *[]*Node, y *Node) {
		if !slices.Contains(*list, y) {
			*list = append(*list, y)
		}
	}
	for computed(x) && !root(x) && !isView(x) && !x.Def().Effect && !sliceOf(x) && x.op != JoinOp && x.op != PackOp {
		var wide *Node
		n := 0
		for _, y := range x.in {
			if y.shape.Set.Kind == Vertex && narrow(y) == nil {
				wide = y
				n++
			}
		}
		if n != 1 {
			break
		}
		for _, y := range x.in {
			switch {
			case y == wide:
			case y.shape.Set.Kind == Global:
				add(&c.globals, y)
			default:
				add(&c.bases, narrow(y))
			}
		}
		x = wide
	}
	add(&c.bases, x)
	return x
}

// narrow is the input of one column that x is or repeats; nil: x is another value.
func narrow(x *Node) *Node {
	if x.op == WidenOp {
		x = x.in[0]
	}
	if len(x.in) > 0 || x.shape.Cols > 1 {
		return nil
	}
	return x
}

// arrive has the values at the far end whose bases Options.Store names with the prefix Arrive computed on arrival.
func (p *phases) arrive() {
	if len(p.store) == 0 {
		return
	}
	for _, a := range p.arrivals() {
		if p.stored(Arrive, a.base) {
			for _, x := range a.of {
				var c recipe
				c.chain(x)
				p.derived[x] = c
			}
		}
	}
}

// arriving names the bases that it may be worth to move in place of what is computed from them, for Options.Store: those that take less.
func (p *phases) arriving() (names []string) {
	for _, a := range p.arrivals() {
		var bytes int64
		for _, x := range a.of {
			bytes += rowBytes(x)
		}
		if computed(a.base) && bytes > rowBytes(a.base) {
			names = append(names, Arrive+vertexValue(a.base).Name)
		}
	}
	return names
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
