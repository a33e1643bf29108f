package dataflow

import "slices"

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
