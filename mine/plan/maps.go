package plan

import (
	"math"
	"slices"

	"sagann/mine/pattern"
)

// Maps is a way to count the maps of a pattern that keep its edges, injective or not. One
// pattern vertex, the root, goes to each vertex of the graph in turn. The others, without
// it, form trees, so that the maps of a subtree are a number for each vertex that its top
// may go to, and come from those of the subtrees below it. A pattern vertex whose only two
// neighbours are adjacent need not be in the trees: it is a factor at their edge, the number
// of triangles there.
type Maps struct {
	Pattern pattern.Pattern
	Root    int
	Shared  []Shared // vectors that do not depend on where the root goes, in this order
	Nodes   []Node   // the others
	Sums    []int    // the tops of the trees: maps are Σ over roots of the product of their sums
}

// Shared is, for each vertex of the graph, the sum over its neighbours w of t^Closed, times
// the degree of w to the power Leaves, times the given vectors at w. t are the triangles at
// the edge to w.
type Shared struct {
	Closed, Leaves int
	Of             []int // of Shared
}

// Tops tells which nodes are only summed up.
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

// Kind says at which vertices of the graph a node has numbers.
type Kind uint8

// Kinds of nodes.
const (
	Near   Kind = iota // a pattern vertex next to the root: at the root's neighbours
	Spread             // what the vectors of From are at neighbours, summed up, wherever that is not 0
	Far                // another pattern vertex, unless it is a spread: where the first of its spreads is not 0
)

// Node is a vector of numbers.
type Node struct {
	Kind   Kind
	Leaves int // power of the degree
	AtRoot int // Near: power of the triangles at the edge to the root
	Shared []int
	Pulls  []Pull // Near: sums over neighbours of other nodes' numbers, multiplied
	Of     []int  // Far: spreads that are multiplied
	From   int    // Spread: node, which may be a spread
	Closed int    // Spread: power of the triangles at the edge
	Dense  bool   // others pull it
}

// Pull is a sum over neighbours w: t^Closed times what node From has at w.
type Pull struct{ From, Closed int }

// Degrees is what the work of counting maps follows from.
type Degrees struct {
	Vertices, Entries float64 // of rows: two an edge
	Squares           float64 // Σd², the walks of two edges
	Two, Three        float64 // Σ over vertices: vertices at the ends of walks of two edges, and the entries of their rows
	Third             float64 // Σ over vertices: vertices at the ends of walks of three edges
	Most              float64 // the largest degree
}

// MapsWork is what counting maps does, in numbers of entries of rows that are gone through.
type MapsWork struct {
	Visits float64 // of numbers of a node
	Pulled float64 // numbers that are read and added up
	Pushed float64 // numbers that are added to
	Closed bool    // triangles at edges are needed
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

// NewMaps is the cheapest way to count the maps of p, which has edges only; nil: there is
// none, or numbers might need more than 63 bits, or sums more than 127.
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

// mapper makes Maps for one root and one choice of ears: pattern vertices that are factors.
type mapper struct {
	p      pattern.Pattern
	root   int
	ears   uint
	deg    Degrees
	closed [pattern.MaxVertices][pattern.MaxVertices]int // ears by edge
	rest   []int                                         // vertices that are neither root nor ears
	m      *Maps
	work   MapsWork
	bound  []float64 // of a node's numbers
	shared []float64 // bounds
}

// adjacent are neighbours that are not ears.
func (b *mapper) adjacent(i, j int) bool { return b.p.Adjacent(i, j) && (b.ears>>i|b.ears>>j)&1 == 0 }

// trees tells whether the ears may be ears together, and what is left without the root has
// no cycle.
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
	// A graph without a cycle has as many parts as vertices less edges.
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

// maps takes the best top for each tree.
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

// local tells whether the tree below i, seen from up, has a neighbour of the root.
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

// node makes the node of pattern vertex i, whose tree hangs from up, or finds it. partial
// bounds the product of all its factors but the last, which is what a top's numbers come to
// before they are summed up in 128 bits.
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
			continue // below
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

// word is a bound of numbers that must fit into 63 bits.
func word(bound float64) float64 {
	if bound >= 1<<63 {
		return math.Inf(1)
	}
	return bound
}

// leaf tells whether nothing but up is next to i.
func (b *mapper) leaf(i, up int) bool {
	for _, j := range b.rest {
		if j != up && b.adjacent(i, j) {
			return false
		}
	}
	return true
}

// add adds a node, or finds an equal one.
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

// spread adds what node from has to its neighbours.
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

// sharedOf is the vector of the tree of i, which hangs from up and is not next to the root,
// at the vertices that up may go to.
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
