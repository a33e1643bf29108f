// Package pattern holds the small graphs that mining looks for: their text, their
// canonical form, their automorphisms, the order constraints that leave one match of
// each orbit, and the formulas that count without enumerating. Everything is a pure
// function of the pattern; no data graph is seen here.
//
// The files in the order of the work: pattern.go (the type), parse.go and names.go
// (text), expr.go and normal.go (conditions on matches), automorphism.go, canon.go,
// symmetry.go, less.go (parts of a pattern), motifs.go, maps.go, formula.go.
//
// # Meaning
//
// A match of a pattern is an injective map from its vertices to vertices of the graph
// that maps edges to edges, pairs marked "~" to pairs without an edge, and labels to
// equal labels, and for which the condition holds. A pattern is edge-induced: pairs
// that it does not mention are free. Induced marks every such pair with "~".
//
// The group of a pattern with a condition holds the automorphisms that keep edges,
// marks, labels and the condition (see Group). Two matches that differ by a member of
// the group are one subgraph. Counts and listings have each subgraph once.
package pattern
