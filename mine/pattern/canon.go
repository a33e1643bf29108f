package pattern

import (
	"cmp"
	"slices"
)

// Canonical returns the same pattern in a numbering that does not depend on the one it
// came in: two patterns are isomorphic, marks and labels included, if and only if their
// canonical forms are equal.
func (p Pattern) Canonical() Pattern {
	q, _ := p.Canon()
	return q
}

// Canon is Canonical with the renumbering that leads there.
//
// Vertices are sorted by what every isomorphism keeps (label, degree, marks, degrees of
// neighbours); among the numberings that respect this, the one with the least code wins. The code
// has edges and marks of a vertex with the vertices before it, then the labels of these edges.
func (p Pattern) Canon() (Pattern, Perm) {
	c := canon{p: p, key: p.invariants(), labelled: p.EdgeLabelled()}
	for i := range p.n {
		k := i
		for ; k > 0 && c.key[c.sorted[k-1]] > c.key[i]; k-- {
			c.sorted[k] = c.sorted[k-1]
		}
		c.sorted[k] = uint8(i)
	}
	c.try(0, 0, true)
	var to Perm
	for k, v := range c.best[:p.n] {
		to[v] = uint8(k)
	}
	return p.Relabel(to), to
}

// canon searches for the numbering with the least code. place[k] is the old vertex that gets number
// k; it has the key of sorted[k].
type canon struct {
	p           Pattern
	key         [MaxVertices]uint64
	sorted      [MaxVertices]uint8
	labelled    bool
	place, best [MaxVertices]uint8
	code, least [MaxVertices]uint16
	kind, kinds [MaxVertices][MaxVertices]int32
}

// try places vertices from number k on, and reports whether it found a better numbering. less says
// that the code up to k is less than the best one's, or that there is none yet.
func (c *canon) try(k int, used uint8, less bool) (found bool) {
	if k == c.p.n {
		if less {
			c.best, c.least, c.kinds = c.place, c.code, c.kind
		}
		return less
	}
	tried := uint8(0)
	for _, v := range c.sorted[:c.p.n] {
		if used>>v&1 == 1 || c.key[v] != c.key[c.sorted[k]] || c.p.twin(v, tried) {
			continue
		}
		tried |= 1 << v
		c.place[k] = v
		c.encode(k)
		smaller := less
		if !smaller {
			d := cmp.Compare(c.code[k], c.least[k])
			if d == 0 && c.labelled {
				d = slices.Compare(c.kind[k][:k], c.kinds[k][:k])
			}
			if d > 0 {
				continue
			}
			smaller = d < 0
		}
		if c.try(k+1, used|1<<v, smaller) {
			found, less = true, false // the prefix is now the best one's
		}
	}
	return found
}

// encode encodes the edges and marks between the vertex with number k and those before it.
func (c *canon) encode(k int) {
	v, code := c.place[k], uint16(0)
	for i, w := range c.place[:k] {
		code = code<<2 | uint16(c.p.edge[v]>>w&1)<<1 | uint16(c.p.none[v]>>w&1)
		if c.labelled {
			c.kind[k][i] = c.p.kind[pair(int(v), int(w))]
		}
	}
	c.code[k] = code
}

// twin reports whether exchanging v, and nothing else, with one of the vertices of the set keeps the
// pattern. Vertices of the set have the key of v.
func (p *Pattern) twin(v, set uint8) bool {
next:
	for w := range uint8(p.n) {
		if set>>w&1 == 0 || p.edge[v]&^(1<<w) != p.edge[w]&^(1<<v) || p.none[v]&^(1<<w) != p.none[w]&^(1<<v) {
			continue
		}
		for x := range p.n {
			if x != int(v) && x != int(w) && p.kind[pair(int(v), x)] != p.kind[pair(int(w), x)] {
				continue next
			}
		}
		return true
	}
	return false
}

// invariants are, for each vertex, its label, its degree, its number of marks and the
// sorted degrees of its neighbours, as one number.
func (p *Pattern) invariants() (key [MaxVertices]uint64) {
	var degree [MaxVertices]int
	for i := range p.n {
		degree[i] = p.Degree(i)
	}
	marks := Pattern{n: p.n, edge: p.none}
	for i := range p.n {
		var around [MaxVertices]uint64 // how many neighbours have a degree
		for j := range p.n {
			if p.edge[i]>>j&1 == 1 {
				around[degree[j]]++
			}
		}
		degrees, free := uint64(0), MaxVertices-1
		for d := range MaxVertices {
			for range around[d] {
				degrees = degrees<<3 | uint64(d)
				free--
			}
		}
		key[i] = (uint64(uint32(p.label[i]))<<6|uint64(degree[i]<<3|marks.Degree(i)))<<21 | degrees<<(3*free)
	}
	return key
}
