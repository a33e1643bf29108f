package domain

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"sync"
	"unsafe"

	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// MostCensus is the most edges of the patterns that Census counts.
const MostCensus = 3

// Counted is a pattern with its number of instances: distinct sets of edges that form it.
type Counted struct {
	Pattern   pattern.Pattern // canonical
	Instances run.Total
}

// census counts all patterns of up to three edges, from how many neighbours of each type vertices have.
// A type is the label of an edge with the label of its far end. Those that the graph has are numbered, in order of the edge's label, then of the index
// of the vertex's.
type census struct {
	g        *Graph
	types    []endType
	near     []near    // by label
	byLabel  [][]*arc  // arcs that begin there, by type
	excess   excess    // what paths count too much
	least    run.Total // instances of what is reported
	vertices int       // most of a pattern
	meter    *run.Meter
	keeps    func(p pattern.Pattern) int64
	peers    Peers // nil: this process alone

	mu  sync.Mutex
	out []Counted
}

// endType is the label of an edge with the index of that of its far end.
type endType struct{ kind, label int32 }

func (a endType) compare(b endType) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.label, b.label))
}

// near is, for each vertex of a label, the types of its neighbours, and how many each has.
type near struct {
	off []uint32
	of  []ends
}

type ends struct{ typ, n uint32 }

// Census counts the patterns of up to edges edges, 1 to MostCensus, and up to so many vertices, that have at
// least the least number of instances. The graph must have been made for a least support of 1. ordered is
// the same graph by degree. The result is in order of edges; patterns of equally many come in no stated order.
//
// The result takes memory from meter, with what keeps says that the caller will hold of a pattern. If it is too much,
// the error is a *run.RoomError. Of several ranks each counts the triangles; the other patterns are dealt by the labels of an edge.
func (g *Graph) Census(ctx context.Context, ordered *rows.Rows, kinds *rows.Kinds, edges, vertices int, least run.Total, workers int,
	meter *run.Meter, keeps func(p pattern.Pattern) int64, peers Peers) ([]Counted, error) {
	c := &census{g: g, least: least, vertices: vertices, meter: meter, keeps: keeps, peers: peers}
	c.prepare(workers)
	for i, l := range c.byLabel {
		for _, a := range l {
			if a.key.from <= a.key.to {
				n := uint64(len(a.col))
				if a.key.from == a.key.to {
					n /= 2
				}
				c.report(c.edge(i, a.key), run.Total{Lo: n})
			}
		}
	}
	if edges > 2 {
		err := c.triangles(ctx, ordered, kinds, workers)
		if err == nil && meter.Stopped() {
			err = meter.Err()
		}
		if err := c.together("triangles", err); err != nil {
			return nil, err
		}
	}
	if edges > 1 {
		if err := c.others(ctx, edges > 2, workers); err != nil {
			return nil, err
		}
	}
	if err := c.together("a census", cmp.Or(ctx.Err(), meter.Err())); err != nil {
		return nil, err
	}
	slices.SortFunc(c.out, func(a, b Counted) int { return cmp.Compare(a.Pattern.Edges(), b.Pattern.Edges()) })
	return c.out, nil
}

// endTypeBytes is the bytes of a type in a list and, while it is made, in a map.
const endTypeBytes = 2*8 + 9*7/3

// CensusBytes is the memory of a census, apart from its result: shared, and for each worker.
func (g *Graph) CensusBytes() (shared, each int64) {
	seen := map[endType]bool{}
	for key, a := range g.arcs {
		seen[endType{key.kind, key.to}] = true
		shared += 8 * int64(a.members)
	}
	types := int64(len(seen))
	shared += endTypeBytes * types
	if each = 8 * types; types <= mostSums/max(types, 1) {
		each += 20 * types * types
	}
	return shared + 8*int64(g.rows.V()), each
}

// prepare finds the types and how many neighbours of each the vertices have.
func (c *census) prepare(workers int) {
	labels := len(c.g.Labels)
	seen := map[endType]bool{}
	for key := range c.g.arcs {
		seen[endType{key.kind, key.to}] = true
	}
	c.types = make([]endType, 0, len(seen))
	for t := range seen {
		c.types = append(c.types, t)
	}
	slices.SortFunc(c.types, endType.compare)
	c.byLabel = make([][]*arc, labels)
	for key, a := range c.g.arcs {
		c.byLabel[key.from] = append(c.byLabel[key.from], a)
	}
	c.near = make([]near, labels)
	each(context.Background(), labels, workers, func(i int) {
		slices.SortFunc(c.byLabel[i], func(a, b *arc) int { return cmp.Compare(c.typeOf(a.key), c.typeOf(b.key)) })
		n := near{off: make([]uint32, len(c.g.Labels[i].Vertices)+1)}
		for _, a := range c.byLabel[i] {
			for x := range a.set().All() {
				n.off[x+1]++
			}
		}
		for x := 1; x < len(n.off); x++ {
			n.off[x] += n.off[x-1]
		}
		n.of = make([]ends, n.off[len(n.off)-1])
		at := slices.Clone(n.off)
		for _, a := range c.byLabel[i] {
			k := 0
			for x := range a.set().All() {
				n.of[at[x]] = ends{c.typeOf(a.key), a.off[k+1] - a.off[k]}
				at[x]++
				k++
			}
		}
		c.near[i] = n
	})
}

// of is the types of the neighbours of vertex x of label number l.
func (c *census) of(l int32, x uint32) []ends {
	n := &c.near[l]
	return n.of[n.off[x]:n.off[x+1]]
}

// typeOf is the type of the far ends of an arc.
func (c *census) typeOf(key arcKey) uint32 { return c.typeNumber(key.kind, key.to) }

func (c *census) typeNumber(kind, label int32) uint32 {
	i, _ := slices.BinarySearchFunc(c.types, endType{kind, label}, endType.compare)
	return uint32(i)
}

// attach returns p with a vertex of a type at vertex v.
func (c *census) attach(p pattern.Pattern, v int, typ uint32) pattern.Pattern {
	t := c.types[typ]
	return p.Add(c.g.Labels[t.label].Value).WithEdgeLabel(v, p.Vertices(), t.kind)
}

// edge is the pattern of the edges of a key, which begins in label number i.
func (c *census) edge(i int, key arcKey) pattern.Pattern {
	return c.attach(pattern.New(0).Add(c.g.Labels[i].Value), 0, c.typeOf(key))
}

// report adds a pattern to the result if it has enough instances.
func (c *census) report(p pattern.Pattern, n run.Total) {
	if n == (run.Total{}) || n.Less(c.least) || p.Vertices() > c.vertices {
		return
	}
	if !c.meter.Take(countedBytes + c.keeps(p)) {
		return // it is only counted
	}
	p = p.Canonical()
	c.mu.Lock()
	c.out = append(c.out, Counted{p, n})
	c.mu.Unlock()
}

// The bytes of a pattern in the result, which grows, and of a class of triangles: in the map of a worker, in that
// of all, and while patterns and closed paths are made of it.
const (
	countedBytes = int64(unsafe.Sizeof(Counted{})) * 9 / 4
	classBytes   = (int64(unsafe.Sizeof(corners{})) + 9) * 7 / 3
	closedBytes  = classBytes + (patternBytes+9)*7/3 + 6*int64(unsafe.Sizeof(closedPaths{}))*9/4
	sumBytes     = (8 + int64(unsafe.Sizeof(run.Total{})) + 1) * 7 / 3
)

// MostPatterns bounds the patterns that a census reports, by what kinds of edges begin at each label, and the bytes of its
// result, if the caller holds keeps bytes of each.
func (g *Graph) MostPatterns(edges, vertices int, keeps func(p pattern.Pattern) int64) (patterns run.Total, bytes float64) {
	patterns.Add(uint64(len(g.Edges)))
	most := mostOf(g, edges, vertices)
	for _, n := range []run.Total{most.wedges, most.stars, most.triangles, most.paths} {
		patterns.AddTotal(n)
	}
	n, _ := new(big.Float).SetInt(patterns.Big()).Float64()
	return patterns, n * float64(countedBytes+keeps(g.largest(edges, vertices)))
}

// shapes is the most patterns of each shape of two and three edges.
type shapes struct{ wedges, stars, triangles, paths run.Total }

// mostOf is the most patterns of up to so many edges and vertices, by what kinds of edges begin at each label.
func mostOf(g *Graph, edges, vertices int) (most shapes) {
	begin := make([]uint64, len(g.Labels))
	for key := range g.arcs {
		begin[key.from]++
	}
	if edges > 1 && vertices > 2 {
		for _, n := range begin {
			pairs := n * (n + 1) / 2
			most.wedges.Add(pairs)
			if edges > 2 && vertices > 3 {
				most.stars.AddProduct(third(pairs, n+2))
			}
		}
	}
	if edges > 2 && vertices > 2 {
		for key := range g.arcs {
			a, b := begin[key.from], begin[key.to] // of the edges beside this one
			switch {
			case key.from > key.to:
				continue
			case key.from == key.to:
				a, b = 1, a*(a+1)/2
			}
			most.triangles.AddProduct(a, b)
			if vertices > 3 {
				most.paths.AddProduct(a, b)
			}
		}
	}
	return most
}

// largest is a pattern that takes no fewer bytes than any of so many edges and vertices.
func (g *Graph) largest(edges, vertices int) pattern.Pattern {
	p := pattern.New(min(vertices, edges+1))
	if len(g.Edges) == 0 {
		return p
	}
	for v := range p.Vertices() {
		for u := range v {
			if p.Edges() < edges {
				p = p.WithEdgeLabel(u, v, g.Edges[0].Kind)
			}
		}
	}
	return p
}

// third is two factors whose product is a third of pairs·rest, if pairs or rest divides by 3.
func third(pairs, rest uint64) (a, b uint64) {
	if pairs%3 == 0 {
		return pairs / 3, rest
	}
	return pairs, rest / 3
}

// stars counts wedges and, with three, stars of three edges, whose centre is where the arc begins. Of the
// types of the other ends, none is less than the arc's.
func (c *census) stars(p *counter, first *arc, three bool) {
	three = three && c.vertices > 3
	typ := c.typeOf(first.key)
	centre := c.attach(pattern.New(0).Add(c.g.Labels[first.key.from].Value), 0, typ)
	for x := range first.set().All() {
		near := c.of(first.key.from, x)
		for near[0].typ != typ {
			near = near[1:]
		}
		n := uint64(near[0].n)
		p.add(typ, n*(n-1)/2)
		for _, q := range near[1:] {
			p.add(q.typ, n*uint64(q.n)) // at most the graph's edges, squared
		}
		if three {
			threes(p.sums, near)
		}
	}
	for _, t := range p.seen {
		c.report(c.attach(centre, 0, t), run.Total{Lo: p.far[t]})
		p.far[t] = 0
	}
	p.seen = p.seen[:0]
	p.sums.take(func(a, b uint32, n run.Total) { c.report(c.attach(c.attach(centre, 0, a), 0, b), n) })
}

// threes adds the stars of three edges of one vertex that have the first type of near, by their other two types.
func threes(s *sums, near []ends) {
	n, typ := uint64(near[0].n), near[0].typ
	pairs := n * (n - 1) / 2
	if n > 2 {
		hi, rest := third(pairs, n-2) // three of n
		s.add(typ, typ, hi, rest)
	}
	for i, q := range near[1:] {
		m := uint64(q.n)
		s.add(typ, q.typ, pairs, m)
		s.add(q.typ, q.typ, m*(m-1)/2, n)
		for _, r := range near[2+i:] {
			s.add(q.typ, r.typ, n*m, uint64(r.n))
		}
	}
}

// counter is the memory for counting the stars and paths of one arc.
type counter struct {
	sums *sums
	far  []uint64 // by type: neighbours of all neighbours; for stars, wedges
	seen []uint32 // types with far > 0
}

// add adds n to a type's counter.
func (p *counter) add(typ uint32, n uint64) {
	if n > 0 && p.far[typ] == 0 {
		p.seen = append(p.seen, typ)
	}
	p.far[typ] += n
}

// paths counts the paths of three edges whose middle edge belongs to the arc. A path is counted for
// each direction of its middle edge if both ends have one label. Closed paths go round
// triangles; they were counted as excess.
func (c *census) paths(p *counter, middle *arc) {
	from, to := middle.key.from, middle.key.to
	here, there := c.typeOf(middle.key), c.typeOf(middle.key.back())
	k := 0
	for x := range middle.set().All() {
		row := middle.col[middle.off[k]:middle.off[k+1]]
		k++
		for _, y := range row {
			for _, e := range c.of(to, y) {
				p.add(e.typ, uint64(e.n))
			}
		}
		p.far[there] -= uint64(len(row)) // the edges back to x
		for _, e := range c.of(from, x) {
			n := uint64(e.n)
			if e.typ == here { // less y itself
				n--
			}
			if n > 0 {
				p.sums.addRow(e.typ, p.seen, p.far, n)
			}
		}
		for _, t := range p.seen {
			p.far[t] = 0
		}
		p.seen = p.seen[:0]
	}
	for _, e := range c.excess[middle.key] {
		p.sums.sub(e.a, e.b, e.n)
	}
	edge := c.edge(int(from), middle.key)
	p.sums.take(func(a, b uint32, n run.Total) {
		if from == to {
			if a > b {
				return
			}
			if a == b {
				n = n.Half()
			}
		}
		c.report(c.attach(c.attach(edge, 0, a), 1, b), n)
	})
}
