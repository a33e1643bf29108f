package lattice

import (
	"sagann/mine/pattern"
)

// Edge is a pattern of one edge: the labels of its ends, A ≤ B, and its own, Kind. Each is
// pattern.AnyLabel if the graph has none.
type Edge struct{ A, B, Kind int32 }

// Pattern is the canonical pattern of the edge.
func (e Edge) Pattern() pattern.Pattern {
	return pattern.New(0).Add(e.A).Add(e.B).WithEdgeLabel(0, 1, e.Kind).Canonical()
}

// Level is the frequent patterns of one size, in canonical form.
type Level struct {
	Patterns []pattern.Pattern
	at       map[pattern.Pattern]int32
}

// NewLevel makes a level of different canonical patterns.
func NewLevel(patterns []pattern.Pattern) *Level {
	l := &Level{patterns, make(map[pattern.Pattern]int32, len(patterns))}
	for i, p := range patterns {
		l.at[p] = int32(i)
	}
	return l
}

// Find is the number of a canonical pattern in the level; ok is false if it is not there.
func (l *Level) Find(p pattern.Pattern) (i int32, ok bool) {
	i, ok = l.at[p]
	return i, ok
}
