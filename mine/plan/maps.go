package plan

import (
	"math"
	"slices"

	"sagann/mine/pattern"
)

// Maps is a way to count the maps (homomorphisms) of a pattern into the graph: they send edges to
// edges, but need not be injective. One pattern vertex, the root, is mapped to each vertex of the
// graph in turn. Without the root the pattern must fall into trees. For each subtree and each vertex
// that its top may be mapped to, the number of maps of the subtree follows from the numbers of the
// subtrees below it. A pattern vertex that has only two neighbours, which are adjacent, can be
// left out of the trees (an "ear"): it is a factor at their edge, the number of triangles there.
type Maps struct {
	Pattern pattern.Pattern
	Root    int
	Shared  []Shared // vectors that do not depend on the root's image, in the order of computation
	Nodes   []Node   // the other vectors, in the order of computation
	Sums    []int    // nodes that are tops of trees; maps = Σ over images of the root of the product of their sums
}

// Shared is a vector with a number for each vertex of the graph: the sum over its neighbours w of
// t^Closed · degree(w)^Leaves · the product of the vectors Of at w. t is the number of triangles at
// the edge to w.
type Shared struct {
	Closed, Leaves int
	Of             []int // indices into Maps.Shared
}

// Tops reports for each node whether it is a top whose numbers are needed for its sum only.
func (m *Maps) Tops() []bool {
	top := make([]bool, len(m.Nodes))
	for _, i := range m.Sums {
		top[i] = !m.Nodes[i].Dense
	}
	for _, n := range m.Nodes {
		if n.Kind == Spread {
			top[n.From] = false
		}
	}
	return top
}

// Kind says what a node is, and at which vertices of the graph it has numbers (its support).
type Kind uint8

// Kinds of nodes.
const (
	Near   Kind = iota // a pattern vertex adjacent to the root; support: neighbours of the root's image
	Spread             // the sum of node From over neighbours; support: where that is not 0
	Far                // a product of spreads, for another pattern vertex; support: that of the first spread
)

// Node is a vector of numbers that depends on the root's image: a product of factors.
type Node struct {
	Kind   Kind
	Leaves int // the factor degree^Leaves
	AtRoot int // Near: the factor t^AtRoot, t triangles at the edge to the root's image
	Shared []int
	Pulls  []Pull // Near: factors that are sums over neighbours of other nodes' numbers
	Of     []int  // Far: spreads that are factors
	From   int    // Spread: the node that is summed, which may be a spread
	Closed int    // Spread: each term is multiplied by t^Closed, t triangles at the edge
	Dense  bool   // another node has a Pull from it
}

// Pull is a sum over neighbours w of t^Closed times the number of node From at w.
type Pull struct{ From, Closed int }

// Degrees holds sums over a graph from which the work of counting maps is estimated.
type Degrees struct {
	Vertices, Entries float64 // vertices, and entries of rows: two an edge
	Squares           float64 // Σd², the number of walks of two edges
	Two, Three        float64 // Σ over vertices: different ends of walks of two edges, and the sum of their degrees
	Third             float64 // Σ over vertices: different ends of walks of three edges
	Most              float64 // the largest degree
}

// MapsWork is how much counting maps does.
type MapsWork struct {
	Visits float64 // numbers of nodes that are computed
	Pulled float64 // entries of rows whose numbers are read and added up
	Pushed float64 // entries of rows whose numbers are added to
	Closed bool    // the triangles at edges are needed
}

// Add adds other work.
func (w *MapsWork) Add(x MapsWork) {
	w.Visits += x.Visits
	w.Pulled += x.Pulled
	w.Pushed += x.Pushed
	w.Closed = w.Closed || x.Closed
}

func (w MapsWork) less(x MapsWork) bool {
	cost := func(w MapsWork) float64 { return w.Visits + w.Pulled + 2*w.Pushed }
	return cost(w) < cost(x)
}

// NewMaps is the cheapest way to count the maps of p, which has edges only. It is nil if there is no
// way, or if in every way numbers might need more than 63 bits or sums more than 127.
func NewMaps(p pattern.Pattern, d Degrees) (best *Maps, least MapsWork) {
	n := p.Vertices()
	for root := range n {
		for ears := range 1 << n {
			b := mapper{p: p, root: root, ears: uint(ears), deg: d}
			if !b.trees() {
				continue
			}
			if m, w := b.maps(); m != nil && (best == nil || w.less(least)) {
				best, least = m, w
			}
		}
	}
	return best, least
}

// mapper makes Maps for one root and one choice of ears (see Maps).
type mapper struct {
	p      pattern.Pattern
	root   int
	ears   uint
	deg    Degrees
	closed [pattern.MaxVertices][pattern.MaxVertices]int // number of ears at each edge
	rest   []int                                         // vertices that are neither root nor ears
	m      *Maps
	work   MapsWork
	bound  []float64 // by node: an upper bound of its numbers
	shared []float64 // by shared vector: the same
}

// adjacent reports whether i and j are neighbours and neither is an ear.
func (b *mapper) adjacent(i, j int) bool { return b.p.Adjacent(i, j) && (b.ears>>i|b.ears>>j)&1 == 0 }

// trees reports whether all ears can be ears together, and the vertices in rest form trees.
func (b *mapper) trees() bool {
	edges := 0
	for i := range b.p.Vertices() {
		if b.ears>>i&1 == 0 {
			if i != b.root {
				b.rest = append(b.rest, i)
			}
			continue
		}
		var at []int
		for j := range b.p.Vertices() {
			if b.p.Adjacent(i, j) {
				at = append(at, j)
			}
		}
		if i == b.root || len(at) != 2 || !b.adjacent(at[0], at[1]) {
			return false
		}
		b.closed[at[0]][at[1]]++
		b.closed[at[1]][at[0]]++
	}
	parts := len(b.rest)
	for _, i := range b.rest {
		for _, j := range b.rest {
			if i < j && b.adjacent(i, j) {
				edges++
			}
		}
	}
	// A graph without a cycle has as many connected components as vertices less edges.
	seen := uint(0)
	count := 0
	for _, i := range b.rest {
		if seen>>i&1 == 0 {
			count++
			b.reach(i, &seen)
		}
	}
	return count == parts-edges
}

func (b *mapper) reach(i int, seen *uint) {
	*seen |= 1 << i
	for _, j := range b.rest {
		if *seen>>j&1 == 0 && b.adjacent(i, j) {
			b.reach(j, seen)
		}
	}
}

// maps makes the nodes of every tree, with the cheapest choice of its top.
func (b *mapper) maps() (*Maps, MapsWork) {
	b.m = &Maps{Pattern: b.p, Root: b.root}
	whole, seen := 1.0, uint(0)
	for _, i := range b.rest {
		if seen>>i&1 == 1 {
			continue
		}
		before := seen
		b.reach(i, &seen)
		tree := seen &^ before
		start, from := *b.m, *b
		var chosen *mapper
		var most float64
		for _, top := range b.rest {
			if tree>>top&1 == 0 {
				continue
			}
			try := from
			m := start
			m.Shared, m.Nodes, m.Sums = slices.Clone(start.Shared), slices.Clone(start.Nodes), slices.Clone(start.Sums)
			try.m, try.bound, try.shared = &m, slices.Clone(from.bound), slices.Clone(from.shared)
			node, partial := try.node(top, -1)
			if partial >= 1<<63 {
				continue
			}
			m.Sums = append(m.Sums, node)
			if chosen == nil || try.work.less(chosen.work) {
				chosen, most = &try, try.bound[node]
			}
		}
		if chosen == nil {
			return nil, MapsWork{}
		}
		*b = *chosen
		whole *= most * b.deg.Vertices
	}
	if whole*b.deg.Vertices >= math.Ldexp(1, 127) {
		return nil, MapsWork{}
	}
	for _, n := range b.m.Nodes {
		b.work.Closed = b.work.Closed || n.Closed+n.AtRoot > 0
		for _, p := range n.Pulls {
			b.work.Closed = b.work.Closed || p.Closed > 0
		}
	}
	for _, s := range b.m.Shared {
		b.work.Closed = b.work.Closed || s.Closed > 0
	}
	return b.m, b.work
}

// local reports whether the tree below i, seen from up, has a neighbour of the root.
func (b *mapper) local(i, up int) bool {
	if b.adjacent(i, b.root) {
		return true
	}
	for _, j := range b.rest {
		if j != up && b.adjacent(i, j) && b.local(j, i) {
			return true
		}
	}
	return false
}

// node returns the node of pattern vertex i, whose parent in the tree is up, and makes it if there
// is no equal one. partial bounds the product of all factors but the last. It must fit into 63 bits
// for a top: the product with the last factor is added up in 128 bits.
func (b *mapper) node(i, up int) (at int, partial float64) {
	n := Node{Kind: Far}
	bound, least := 1.0, math.Inf(1)
	if b.adjacent(i, b.root) {
		n.Kind, n.AtRoot = Near, b.closed[i][b.root]
		bound = math.Pow(b.deg.Most, float64(n.AtRoot))
	}
	visits := b.deg.Entries
	if n.Kind == Far {
		visits = b.deg.Two
	}
	for _, j := range b.rest {
		if j == up || !b.adjacent(i, j) {
			continue
		}
		switch {
		case b.local(j, i):
			continue // done in the next loop
		case b.closed[i][j] == 0 && b.leaf(j, i):
			n.Leaves++
			bound *= b.deg.Most
		default:
			s := b.sharedOf(j, i)
			n.Shared = append(n.Shared, s)
			bound *= b.shared[s]
		}
	}
	for _, j := range b.rest {
		if j == up || !b.adjacent(i, j) || !b.local(j, i) {
			continue
		}
		from, _ := b.node(j, i)
		sum := word(b.deg.Most * word(b.bound[from]) * math.Pow(b.deg.Most, float64(b.closed[i][j])))
		if n.Kind == Near {
			n.Pulls = append(n.Pulls, Pull{from, b.closed[i][j]})
			b.m.Nodes[from].Dense = true
			b.work.Pulled += b.deg.Squares
		} else {
			n.Of = append(n.Of, b.spread(from, b.closed[i][j], sum))
		}
		bound, least = bound*sum, min(least, sum)
	}
	slices.Sort(n.Of)
	if n.Kind == Far && len(n.Of) == 1 && n.Leaves+len(n.Shared) == 0 {
		return n.Of[0], 1
	}
	b.work.Visits += visits
	if partial = bound; !math.IsInf(least, 1) {
		partial = bound / least
	}
	return b.add(n, bound), partial
}

// word returns the bound if numbers up to it fit into 63 bits, and otherwise infinity.
func word(bound float64) float64 {
	if bound >= 1<<63 {
		return math.Inf(1)
	}
	return bound
}

// leaf reports whether i has no neighbour in its tree but up.
func (b *mapper) leaf(i, up int) bool {
	for _, j := range b.rest {
		if j != up && b.adjacent(i, j) {
			return false
		}
	}
	return true
}

// add returns the index of a node equal to n, and appends n if there is none.
func (b *mapper) add(n Node, bound float64) int {
	same := func(x Node) bool {
		return x.Kind == n.Kind && x.Leaves == n.Leaves && x.AtRoot == n.AtRoot && x.From == n.From && x.Closed == n.Closed &&
			slices.Equal(x.Shared, n.Shared) && slices.Equal(x.Pulls, n.Pulls) && slices.Equal(x.Of, n.Of)
	}
	if i := slices.IndexFunc(b.m.Nodes, same); i >= 0 {
		return i
	}
	b.m.Nodes, b.bound = append(b.m.Nodes, n), append(b.bound, bound)
	return len(b.m.Nodes) - 1
}

// spread returns the node that sums node from over neighbours.
func (b *mapper) spread(from, closed int, bound float64) int {
	before := len(b.m.Nodes)
	at := b.add(Node{Kind: Spread, From: from, Closed: closed}, bound)
	if len(b.m.Nodes) > before {
		if b.m.Nodes[from].Kind == Near {
			b.work.Visits += b.deg.Two
			b.work.Pushed += b.deg.Squares
		} else {
			b.work.Visits += b.deg.Third
			b.work.Pushed += b.deg.Three
		}
	}
	return at
}

// sharedOf returns the shared vector of the tree below i, seen from its parent up. No vertex of
// the tree is a neighbour of the root. The vector has a number for each vertex that up may go to.
func (b *mapper) sharedOf(i, up int) int {
	s := Shared{Closed: b.closed[i][up]}
	bound := b.deg.Most * math.Pow(b.deg.Most, float64(s.Closed))
	for _, j := range b.rest {
		if j == up || !b.adjacent(i, j) {
			continue
		}
		if b.closed[i][j] == 0 && b.leaf(j, i) {
			s.Leaves++
			bound *= b.deg.Most
			continue
		}
		k := b.sharedOf(j, i)
		s.Of = append(s.Of, k)
		bound *= b.shared[k]
	}
	same := func(x Shared) bool { return x.Closed == s.Closed && x.Leaves == s.Leaves && slices.Equal(x.Of, s.Of) }
	if k := slices.IndexFunc(b.m.Shared, same); k >= 0 {
		return k
	}
	b.m.Shared, b.shared = append(b.m.Shared, s), append(b.shared, word(bound))
	return len(b.m.Shared) - 1
}
