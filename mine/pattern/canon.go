package pattern

import (
	"cmp"
	"slices"
)

// Canonical returns the same pattern in a numbering that does not depend on the one it
// came in: two patterns are isomorphic, marks and labels included, if and only if their
// canonical forms are equal.
//
// Vertices are sorted by what every isomorphism keeps (label, degree, marks, degrees of
// neighbours); among the numberings that respect this, the one with the least code wins.
func (p Pattern) Canonical() Pattern {
	key := p.invariants()
	sorted := make([]int, p.n)
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(a, b int) int { return slices.Compare(key[a][:], key[b][:]) })
	// place[k] is the old vertex that gets number k; it comes from the class of sorted[k].
	var place, best [MaxVertices]int
	bestCode, found := [MaxVertices]uint16{}, false
	var code [MaxVertices]uint16
	var try func(k int, used uint8, less bool)
	try = func(k int, used uint8, less bool) {
		if k == p.n {
			best, bestCode, found = place, code, true
			return
		}
		for _, v := range sorted {
			if used>>v&1 == 1 || key[v] != key[sorted[k]] {
				continue
			}
			place[k], code[k] = v, p.rowCode(v, place[:k])
			smaller := less || !found
			if !smaller {
				if c := cmp.Compare(code[k], bestCode[k]); c > 0 {
					continue
				} else if c < 0 {
					smaller = true
				}
			}
			before := bestCode
			try(k+1, used|1<<v, smaller)
			// The recursion found a better code. It is the new best, and the current
			// prefix is equal to its prefix.
			if bestCode != before {
				less = false
			}
		}
	}
	try(0, 0, false)
	var to Perm
	for k, v := range best[:p.n] {
		to[v] = uint8(k)
	}
	return p.Relabel(to)
}

// rowCode encodes the edges and marks between v and the vertices placed before it.
func (p Pattern) rowCode(v int, before []int) uint16 {
	var c uint16
	for _, w := range before {
		c = c<<2 | uint16(p.edge[v]>>w&1)<<1 | uint16(p.none[v]>>w&1)
	}
	return c
}

// invariants are, for each vertex, its label, its degree, its number of marks and the
// sorted degrees of its neighbours.
func (p Pattern) invariants() [MaxVertices][3 + MaxVertices]int {
	var key [MaxVertices][3 + MaxVertices]int
	for i := range p.n {
		key[i][0], key[i][1] = int(p.label[i]), p.Degree(i)
		marks := Pattern{n: p.n, edge: p.none}
		key[i][2] = marks.Degree(i)
		around := key[i][3:3]
		for j := range p.n {
			if p.Adjacent(i, j) {
				around = append(around, p.Degree(j))
			}
		}
		slices.Sort(around)
	}
	return key
}
