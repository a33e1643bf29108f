package dataset

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"sagann/chunk"
)

// NotYet draws pairs that no edge has joined before a time. The first vertex is the source of some edge before that time, the second the
// target of one, or they are ends of the pair that they are drawn for; where the edges of training are a bipartite graph, the two are not on
// one side of it. Nothing later is looked at.
type NotYet struct {
	source, target came
	joined         *edgeIndex // both directions
	since          []float64  // of each edge of joined: when the earliest of its edges came
	side           []uint8    // by vertex: its side in a bipartite graph; noSide: it has none; nil: there are no sides
	sided          []float64  // by vertex: since when it has its side
	v              int
	ends           [2]Span // of several types: the vertices that may stand first and second, where any pair is drawn; else all
}

// noSide is the side of a vertex that no edge says.
const noSide = 2

// came are vertices in the order in which they were first seen.
type came struct {
	list  []uint32
	times []float64 // of list, ascending
	first []float64 // by vertex; +Inf: never
}

// newNotYet is for pairs of e, of whose edges those before val are for training.
func newNotYet(e *chunk.Edges, val float64) *NotYet {
	n := &NotYet{v: e.V, ends: [2]Span{{0, uint32(e.V)}, {0, uint32(e.V)}}, joined: indexEdges(e.V, slices.Concat(e.Src, e.Dst), slices.Concat(e.Dst, e.Src))}
	n.since = n.joined.earliest(slices.Concat(e.Src, e.Dst), slices.Concat(e.Dst, e.Src), slices.Concat(e.Time, e.Time))
	n.source, n.target = cameAs(e, e.Src), cameAs(e, e.Dst)
	var src, dst []uint32
	for k, t := range e.Time {
		if t < val && e.Src[k] != e.Dst[k] {
			src, dst = append(src, e.Src[k]), append(dst, e.Dst[k])
		}
	}
	x := indexEdges(e.V, src, dst)
	if n.side = x.sides(); n.side == nil {
		return n
	}
	has := make([]bool, e.V)
	for k := range src {
		has[src[k]], has[dst[k]] = true, true
	}
	n.sided = make([]float64, e.V)
	for v := range n.side {
		if n.sided[v] = math.Inf(-1); !has[v] {
			n.side[v] = noSide
		}
	}
	for _, k := range byTime(e) { // those that come later are on the side that their first edge says
		u, v := e.Src[k], e.Dst[k]
		switch a, b := &n.side[u], &n.side[v]; {
		case *a == noSide && *b != noSide:
			*a, n.sided[u] = 1-*b, e.Time[k]
		case *b == noSide && *a != noSide:
			*b, n.sided[v] = 1-*a, e.Time[k]
		}
	}
	return n
}

// byTime is the numbers of edges in the order of their times, of equal times in their own.
func byTime(e *chunk.Edges) []uint32 {
	order := make([]uint32, e.E())
	for k := range order {
		order[k] = uint32(k)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(e.Time[a], e.Time[b]) })
	return order
}

// cameAs are the vertices that are ends of edges, self loops left out.
func cameAs(e *chunk.Edges, ends []uint32) came {
	c := came{first: make([]float64, e.V)}
	for v := range c.first {
		c.first[v] = math.Inf(1)
	}
	for k, v := range ends {
		if e.Src[k] != e.Dst[k] {
			c.first[v] = min(c.first[v], e.Time[k])
		}
	}
	for v, t := range c.first {
		if !math.IsInf(t, 1) {
			c.list = append(c.list, uint32(v))
		}
	}
	slices.SortStableFunc(c.list, func(a, b uint32) int { return cmp.Compare(c.first[a], c.first[b]) })
	for _, v := range c.list {
		c.times = append(c.times, c.first[v])
	}
	return c
}

// before is how many vertices were seen before t, own among them, and at gives one of them.
func (c *came) before(t float64, own uint32) (n int, at func(i int) uint32) {
	n, _ = slices.BinarySearch(c.times, t)
	seen := n
	if !(c.first[own] < t) {
		n++
	}
	return n, func(i int) uint32 {
		if i == seen {
			return own
		}
		return c.list[i]
	}
}

// tries is how often Draw draws a pair until it takes one that an edge has joined, and how often then.
const tries = 64

// Draw draws a pair for pair k of p, at its time, by the random bits of each try. If none of 64 pairs will do, as in the first moments of a
// graph, the pair is of any two vertices.
func (n *NotYet) Draw(p *Pairs, k int, random func(try int) uint64) (u, v uint32) {
	a, b, t := p.Src[k], p.Dst[k], p.Time[k]
	own := func(u, v uint32) bool { return u == v || u == a && v == b || u == b && v == a }
	sources, source := n.source.before(t, a)
	targets, target := n.target.before(t, b)
	for try := range tries {
		i, _ := bits.Mul64(random(try), uint64(sources)*uint64(targets))
		u, v = source(int(i/uint64(targets))), target(int(i%uint64(targets)))
		if !own(u, v) && !n.oneSide(u, v, t) && !n.before(u, v, t) {
			return u, v
		}
	}
	for try := range tries {
		first, second := n.ends[0], n.ends[1]
		wide := uint64(second.End - second.First)
		i, _ := bits.Mul64(random(tries+try), uint64(first.End-first.First)*wide)
		if u, v = first.First+uint32(i/wide), second.First+uint32(i%wide); !own(u, v) {
			return u, v
		}
	}
	if n.ends[0] != n.ends[1] {
		return a, b
	}
	return b, a
}

// oneSide tells whether u and v are on one side of a bipartite graph, as far as edges up to t say.
func (n *NotYet) oneSide(u, v uint32, t float64) bool {
	return n.side != nil && n.side[u] == n.side[v] && n.side[u] != noSide && n.sided[u] <= t && n.sided[v] <= t
}

// before tells whether an edge has joined u and v, in either direction, before t.
func (n *NotYet) before(u, v uint32, t float64) bool {
	at := n.joined.find(u, v)
	return at >= 0 && n.since[at] < t
}
