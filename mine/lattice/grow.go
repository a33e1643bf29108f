package lattice

import (
	"sagann/mine/pattern"
)

// Grower makes candidates. Its fields do not change; several goroutines may use it.
type Grower struct {
	vertices, edges int // most of a candidate; edges 0: any number
	induced         bool
	from            map[int32][]end // by label: frequent edges at a vertex of that label
}

// end is the far end of an edge.
type end struct{ kind, label int32 }

// NewGrower makes a Grower from the frequent edges. Candidates have at most so many vertices, and, unless
// edges is 0, at most so many edges. With induced they grow by vertices.
func NewGrower(frequent []Edge, vertices, edges int, induced bool) *Grower {
	g := &Grower{vertices: vertices, edges: edges, induced: induced, from: map[int32][]end{}}
	for _, e := range frequent {
		g.from[e.A] = append(g.from[e.A], end{e.Kind, e.B})
		if e.A != e.B {
			g.from[e.B] = append(g.from[e.B], end{e.Kind, e.A})
		}
	}
	return g
}

// Grows reports whether candidates may be larger than p.
func (g *Grower) Grows(p pattern.Pattern) bool {
	if g.induced {
		return p.Vertices() < g.vertices
	}
	return g.edges == 0 || p.Edges() < g.edges
}

// Most bounds how many patterns Children looks at, and how many parents one has.
func (g *Grower) Most() (children, parents int) {
	const bound = 1 << 24
	n, ends := g.vertices, 0
	if g.edges > 0 {
		n = min(n, g.edges+1)
	}
	for _, list := range g.from {
		ends = max(ends, len(list))
	}
	if !g.induced {
		edges := n * (n - 1) / 2
		if g.edges > 0 {
			edges = min(edges, g.edges)
		}
		return n*ends + n*n, edges
	}
	kinds := map[int32]bool{}
	for _, list := range g.from {
		for _, e := range list {
			kinds[e.kind] = true
		}
	}
	children = min(n*ends, bound)
	for range n - 1 {
		children = min(children*(1+len(kinds)), bound)
	}
	return children, n
}

// Candidate is a canonical pattern all of whose parents are in a level.
type Candidate struct {
	Pattern pattern.Pattern
	Parents []Parent
}

// Parent is a part of a candidate that is in the level.
type Parent struct {
	Index int32        // in the level
	Gone  int8         // the candidate's vertex that the parent lacks; -1: it has them all
	To    pattern.Perm // the candidate's vertex v is the parent's vertex To[v]
}

// Scratch is memory that a goroutine uses for one call of Children after the other.
type Scratch struct {
	seen map[pattern.Pattern]bool
	out  []Candidate
}

// Children makes the candidates whose first parent is pattern i of the level. Each is made once; the
// first parent is the part that lacks the candidate's last edge (vertex) whose removal leaves it
// connected. The order is always the same. The result is valid until the next call with s.
func (g *Grower) Children(l *Level, i int, s *Scratch) []Candidate {
	if s.seen == nil {
		s.seen = map[pattern.Pattern]bool{}
	}
	clear(s.seen)
	s.out = s.out[:0]
	p := l.Patterns[i]
	try := func(c pattern.Pattern) {
		c = c.Canonical()
		if s.seen[c] {
			return
		}
		s.seen[c] = true
		if parents, ok := g.parents(l, c, int32(i)); ok {
			s.out = append(s.out, Candidate{c, parents})
		}
	}
	switch {
	case !g.Grows(p):
	case g.induced:
		g.addVertices(p, try)
	default:
		g.addEdges(p, try)
	}
	return s.out
}

// addEdges calls try with every pattern that has one edge more than p.
func (g *Grower) addEdges(p pattern.Pattern, try func(pattern.Pattern)) {
	n := p.Vertices()
	orbit := p.Orbits()
	for v := range n {
		for _, e := range g.from[p.Label(v)] {
			if n < g.vertices && int(orbit[v]) == v {
				try(p.Add(e.label).WithEdgeLabel(v, n, e.kind))
			}
			for w := v + 1; w < n; w++ {
				if p.Label(w) == e.label && !p.Adjacent(v, w) {
					try(p.WithEdgeLabel(v, w, e.kind))
				}
			}
		}
	}
}

// addVertices calls try with every connected pattern that has one vertex more than p. It may do so several times.
func (g *Grower) addVertices(p pattern.Pattern, try func(pattern.Pattern)) {
	n := p.Vertices()
	labels := map[int32]bool{}
	var join func(q pattern.Pattern, v int, label int32)
	join = func(q pattern.Pattern, v int, label int32) {
		if v == n {
			if q.Degree(n) > 0 {
				try(q)
			}
			return
		}
		join(q, v+1, label)
		for _, e := range g.from[p.Label(v)] {
			if e.label == label {
				join(q.WithEdgeLabel(v, n, e.kind), v+1, label)
			}
		}
	}
	for v := range n {
		for _, e := range g.from[p.Label(v)] {
			if !labels[e.label] {
				labels[e.label] = true
				join(p.Add(e.label), 0, e.label)
			}
		}
	}
}

// parents finds the parents of a canonical candidate. ok is false if one of them is not in the level,
// or if the first is not pattern number first.
func (g *Grower) parents(l *Level, c pattern.Pattern, first int32) (parents []Parent, ok bool) {
	g.parts(c, func(q pattern.Pattern, gone int) bool {
		q, to := q.Canon()
		i, found := l.Find(q)
		ok = found && (len(parents) > 0 || i == first)
		if ok {
			parent := Parent{Index: i, Gone: int8(gone)}
			for v := range c.Vertices() {
				switch {
				case v < gone || gone < 0:
					parent.To[v] = to[v]
				case v > gone:
					parent.To[v] = to[v-1]
				}
			}
			parents = append(parents, parent)
		}
		return ok
	})
	return parents, ok
}

// parts calls yield, until it returns false, with the connected parts of c that have an edge (with
// induced, a vertex) less, and with the vertex that they lack, or -1.
func (g *Grower) parts(c pattern.Pattern, yield func(q pattern.Pattern, gone int) bool) {
	for i := c.Vertices() - 1; i >= 0; i-- {
		if g.induced {
			if q := c.WithoutVertex(i); q.Connected() && !yield(q, i) {
				return
			}
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if !c.Adjacent(i, j) {
				continue
			}
			if q, gone := c.WithoutEdge(i, j); q.Connected() && !yield(q, gone) {
				return
			}
		}
	}
}
