package lattice

import "sagann/mine/pattern"

// HasInducedPart reports whether p without one of its vertices is connected and among the canonical patterns found.
func HasInducedPart(p pattern.Pattern, found map[pattern.Pattern]bool) bool {
	for v := range p.Vertices() {
		if q := p.WithoutVertex(v); q.Connected() && found[q.Canonical()] {
			return true
		}
	}
	return false
}

// HasPart reports whether a connected part of p with one edge less is among the canonical patterns found.
// Instances are not anti-monotone: a hub of ten edges has 45 wedges. So a search that grows
// from found patterns needs this rule to say what it finds.
func HasPart(p pattern.Pattern, found map[pattern.Pattern]bool) bool {
	for i := range p.Vertices() {
		for j := range i {
			if !p.Adjacent(i, j) {
				continue
			}
			if q, _ := p.WithoutEdge(i, j); q.Connected() && found[q.Canonical()] {
				return true
			}
		}
	}
	return false
}
