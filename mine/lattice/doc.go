// Package lattice grows patterns: from the frequent patterns of one size it makes the candidates of
// the next. Everything is a pure function of patterns; no graph is seen here.
//
// A candidate has one edge more than its parents, or, if subgraphs are induced, one vertex more. All
// its connected parts with one edge (or vertex) less must be frequent: they are its parents. Each
// candidate is made once, from the parent that Children calls its first.
//
// The files: level.go (patterns of one size), grow.go (candidates and their parents), rule.go (what
// grows by number of instances).
package lattice
