package pattern

import (
	"fmt"
	"strings"
)

// Perm is a permutation of a pattern's vertices: vertex i goes to Perm[i]. The unused entries,
// from the number of vertices on, are 0.
type Perm [MaxVertices]uint8

// Automorphisms lists the permutations that keep edges, marks and labels of vertices and edges, in
// lexicographic order; the first is the identity.
func (p Pattern) Automorphisms() []Perm {
	var all []Perm
	p.mapsTo(p, func(s Perm) bool { all = append(all, s); return true })
	return all
}

// mapsTo calls yield, until it returns false, for every bijection from p to q that keeps
// edges, marks and labels, in lexicographic order.
func (p Pattern) mapsTo(q Pattern, yield func(Perm) bool) {
	if p.n != q.n {
		return
	}
	var s Perm
	var place func(i int, used uint8) bool
	place = func(i int, used uint8) bool {
		if i == p.n {
			return yield(s)
		}
		for x := range p.n {
			if used>>x&1 == 1 || p.label[i] != q.label[x] || !p.agrees(q, &s, i, x) {
				continue
			}
			s[i] = uint8(x)
			if !place(i+1, used|1<<x) {
				return false
			}
		}
		return true
	}
	place(0, 0)
}

// agrees reports whether i may be mapped to x, when the vertices before i are mapped as s says.
func (p Pattern) agrees(q Pattern, s *Perm, i, x int) bool {
	for j := range i {
		if p.edge[i]>>j&1 != q.edge[x]>>s[j]&1 || p.none[i]>>j&1 != q.none[x]>>s[j]&1 ||
			p.kind[pair(i, j)] != q.kind[pair(x, int(s[j]))] {
			return false
		}
	}
	return p.Degree(i) == q.Degree(x)
}

// Group lists the automorphisms of p that keep the condition, too: those whose
// renumbering of the condition has the same normal form (see Expr.Normal). A nil
// condition is kept by all. The result is a group, so its orbits are a partition of the matches.
func (p Pattern) Group(where *Expr) []Perm {
	all := p.Automorphisms()
	if where == nil {
		return all
	}
	normal := where.Normal()
	kept := all[:0]
	for _, s := range all {
		if where.Relabel(s).Normal() == normal {
			kept = append(kept, s)
		}
	}
	return kept
}

// Spanning is the number of subgraphs of q, on all of its vertices, whose edges form p.
// Marks and labels do not matter. It takes n! steps for n vertices.
func (p Pattern) Spanning(q Pattern) int {
	if p.n != q.n {
		return 0
	}
	p, q = p.Plain(), q.Plain()
	maps := 0
	var s Perm
	var place func(i int, used uint8)
	place = func(i int, used uint8) {
		if i == p.n {
			maps++
			return
		}
	next:
		for x := range p.n {
			if used>>x&1 == 1 {
				continue
			}
			for j := range i {
				if p.edge[i]>>j&1 == 1 && q.edge[x]>>s[j]&1 == 0 {
					continue next
				}
			}
			s[i] = uint8(x)
			place(i+1, used|1<<x)
		}
	}
	place(0, 0)
	return maps / len(p.Automorphisms())
}

// Cycles is the permutation of n vertices in cycle notation, "()" for the identity.
func (s Perm) Cycles(n int) string {
	var b strings.Builder
	var seen uint8
	for i := range n {
		if seen>>i&1 == 1 || int(s[i]) == i {
			continue
		}
		fmt.Fprintf(&b, "(%d", i)
		for j := int(s[i]); j != i; j = int(s[j]) {
			seen |= 1 << j
			fmt.Fprintf(&b, " %d", j)
		}
		b.WriteByte(')')
	}
	if b.Len() == 0 {
		return "()"
	}
	return b.String()
}
