package pattern

import (
	"cmp"
	"slices"
)

// Less an edge: the patterns that a pattern contains.

// WithoutEdge returns p without the edge between i and j. A vertex that is left without an edge is
// dropped, and higher numbers move down by one. gone is that vertex, or -1. If p is an edge alone, the
// result has one vertex.
func (p Pattern) WithoutEdge(i, j int) (q Pattern, gone int) {
	p.edge[i] &^= 1 << j
	p.edge[j] &^= 1 << i
	p.kind[pair(i, j)] = 0
	switch {
	case p.edge[i] == 0:
		return p.WithoutVertex(i), i
	case p.edge[j] == 0:
		return p.WithoutVertex(j), j
	}
	return p, -1
}

// WithoutVertex returns p without vertex v and its edges; higher numbers move down by one.
func (p Pattern) WithoutVertex(v int) Pattern {
	q := New(p.n - 1)
	for i := range q.n {
		from := i + one(i >= v)
		q.label[i] = p.label[from]
		q.edge[i], q.none[i] = squeeze(p.edge[from], v), squeeze(p.none[from], v)
		for j := range i {
			q.kind[pair(i, j)] = p.kind[pair(from, j+one(j >= v))]
		}
	}
	return q
}

// squeeze drops bit v; higher bits move down.
func squeeze(set uint8, v int) uint8 {
	low := set & (1<<v - 1)
	return low | set>>(v+1)<<v
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Add returns p with one more vertex of the given label, without edges.
func (p Pattern) Add(label int32) Pattern {
	p.label[p.n] = label + 1
	p.n++
	return p
}

// Connected reports whether edges lead from every vertex to every other.
func (p Pattern) Connected() bool { return p.reach(0) == 1<<p.n-1 }

// Orbits are, for each vertex, the lowest vertex that an automorphism maps it to.
func (p Pattern) Orbits() (low [MaxVertices]uint8) {
	for i := range p.n {
		low[i] = uint8(i)
	}
	key := p.invariants()
	for i := 1; i < p.n; i++ {
		for j := range i {
			if int(low[j]) == j && key[i] == key[j] && p.moves(j, i) {
				low[i] = uint8(j)
				break
			}
		}
	}
	return low
}

// moves reports whether an automorphism maps i to x, a vertex with the same label: p is the same
// pattern whichever of the two is marked by a label that occurs nowhere else.
func (p Pattern) moves(i, x int) bool {
	if p.twin(uint8(i), 1<<x) {
		return true
	}
	const mark = -2
	q := p
	p.label[i], q.label[x] = mark, mark
	return p.Canonical() == q.Canonical()
}

// Compare orders patterns: by edges, then by vertices, then in a fixed order of no meaning.
func Compare(a, b Pattern) int {
	return cmp.Or(cmp.Compare(a.Edges(), b.Edges()), cmp.Compare(a.n, b.n), slices.Compare(a.label[:], b.label[:]),
		slices.Compare(a.edge[:], b.edge[:]), slices.Compare(a.none[:], b.none[:]), slices.Compare(a.kind[:], b.kind[:]))
}
