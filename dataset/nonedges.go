package dataset

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
)

// NonEdges is the ordered list of the pairs of different vertices that have no edge in a graph, in either direction, but
// could have one: of pair (u, v), u is a source of some edge and v a target. If the graph is bipartite, u and v are also on
// different sides. The pairs are computed and not stored.
type NonEdges struct {
	ends  *linkEnds
	taken *edgeIndex // of each vertex u: the places, in ends.list(u), of what it has an edge with
	// before has V+1 numbers: how many pairs begin at vertices below v.
	before []uint64
}

// linkEnds are the vertices that edges of a graph begin and end at.
type linkEnds struct {
	source []bool      // by vertex: an edge begins there
	side   []uint8     // by vertex: 0 or 1, the side of the vertex; nil: there is only one
	lists  [2][]uint32 // by side of a source: the targets that it may have, ascending
	place  []int32     // by vertex: its place in the list that it stands in; -1 if it is in none
}

// endsOf finds the ends of the edges of x.
func endsOf(x *edgeIndex) *linkEnds {
	v := len(x.start) - 1
	p := &linkEnds{source: make([]bool, v), place: make([]int32, v)}
	target := make([]bool, v)
	for u := range v {
		for _, w := range x.row(uint32(u)) {
			if w != uint32(u) {
				p.source[u], target[w] = true, true
			}
		}
	}
	p.side = x.sides()
	for w := range v {
		p.place[w] = -1
		if target[w] {
			from := 0
			if p.side != nil {
				from = int(1 - p.side[w])
			}
			p.place[w] = int32(len(p.lists[from]))
			p.lists[from] = append(p.lists[from], uint32(w))
		}
	}
	return p
}

// sides divides the vertices of a bipartite graph into two sides, whichever way its edges point; nil for other graphs. In each
// connected part the vertices of side 0 are the sources of more edges, or else the smallest vertex is among them.
func (x *edgeIndex) sides() []uint8 {
	const unknown = 2
	side := make([]uint8, len(x.start)-1)
	from, to := make([]uint32, 0, 2*len(x.to)), make([]uint32, 0, 2*len(x.to))
	for u := range side {
		side[u] = unknown
		for _, w := range x.row(uint32(u)) {
			if w != uint32(u) {
				from, to = append(from, uint32(u), w), append(to, w, uint32(u))
			}
		}
	}
	both := indexEdges(len(side), from, to)
	var part []uint32 // the vertices of a connected part
	for u := range side {
		if side[u] != unknown {
			continue
		}
		side[u] = 0
		part = append(part[:0], uint32(u))
		more := 0 // edges that begin on side 0, less those that begin on side 1
		for at := 0; at < len(part); at++ {
			u := part[at]
			more += len(x.row(u)) * (1 - 2*int(side[u]))
			for _, w := range both.row(u) {
				if side[w] == side[u] {
					return nil
				}
				if side[w] == unknown {
					side[w] = 1 - side[u]
					part = append(part, w)
				}
			}
		}
		for _, w := range part {
			if more < 0 {
				side[w] = 1 - side[w]
			}
		}
	}
	return side
}

// list is the targets that a pair from u may have.
func (p *linkEnds) list(u uint32) []uint32 {
	switch {
	case !p.source[u]:
		return nil
	case p.side != nil:
		return p.lists[p.side[u]]
	}
	return p.lists[0]
}

// complement is the pairs with such ends that are no edges, in either direction, of a graph of v vertices.
func (p *linkEnds) complement(v int, src, dst []uint32) *NonEdges {
	var from, to []uint32
	add := func(u, w uint32) {
		if at := p.place[w]; at >= 0 && u != w && p.source[u] {
			from, to = append(from, u), append(to, uint32(at))
		}
	}
	for k, u := range src {
		add(u, dst[k])
		add(dst[k], u)
	}
	n := &NonEdges{ends: p, taken: indexEdges(v, from, to), before: make([]uint64, v+1)}
	for u := range uint32(v) {
		count := len(p.list(u)) - len(n.taken.row(u))
		if count > 0 && n.own(u) >= 0 {
			count-- // the vertex itself
		}
		n.before[u+1] = n.before[u] + uint64(count)
	}
	return n
}

// own is the place of u in its own list, -1 if it does not stand there.
func (n *NonEdges) own(u uint32) int {
	if n.ends.side != nil {
		return -1
	}
	return int(n.ends.place[u])
}

// Count is the number of pairs.
func (n *NonEdges) Count() uint64 { return n.before[len(n.before)-1] }

// At is pair i, 0 to Count-1. Pairs (u, v) are sorted by u, then by v.
func (n *NonEdges) At(i uint64) (u, v uint32) {
	u = uint32(sort.Search(len(n.before)-1, func(u int) bool { return n.before[u+1] > i }))
	rank, row, own := int(i-n.before[u]), n.taken.row(u), n.own(u)
	// v is the rank-th vertex of the list that is neither u nor in u's row. free(k) is how many such vertices stand before entry k
	// of the row.
	free := func(k int) int {
		below := int(row[k]) - k
		if own >= 0 && int(row[k]) > own {
			below--
		}
		return below
	}
	k := sort.Search(len(row), func(k int) bool { return free(k) > rank })
	x := rank + k
	if own >= 0 && x >= own {
		x++
	}
	return u, n.ends.list(u)[x]
}

// Draw is the pair that 64 random bits choose. The probabilities of pairs differ by at most the share
// Count/2⁶⁴.
func (n *NonEdges) Draw(random uint64) (u, v uint32) {
	hi, _ := bits.Mul64(random, n.Count())
	return n.At(hi)
}

// draw draws count pairs, with repetition.
func (n *NonEdges) draw(r *rand.Rand, count int) (p Pairs) {
	p.Src, p.Dst = slices.Grow(p.Src, count), slices.Grow(p.Dst, count)
	for range count {
		p.add(n.Draw(r.Uint64()))
	}
	return p
}
