// Package locality deals the vertices of a graph out to hosts and says what then crosses between them. It
// takes memory for some numbers a vertex and the edges of one interval, never for all edges: Near goes over a
// store interval by interval.
//
//   - near.go: the neighbours of all vertices, of a store or of edges in memory.
//   - orders.go: hosts by the order of the input, by degree, by a stream (LDG).
//   - labels.go: hosts by communities that label propagation finds.
//   - cut.go: what crosses.
package locality
