// Package locality divides the vertices of a graph among hosts, and counts what then crosses between
// them. It keeps a few numbers for each vertex and the edges of one interval in memory, never all edges:
// Near reads a store interval by interval.
//
//   - near.go: the neighbours of all vertices, of a store or of edges in memory.
//   - orders.go: hosts by the order of the input, by degree, by streaming (LDG).
//   - labels.go: hosts by communities that label propagation finds.
//   - cut.go: the edges and rows that cross between hosts.
package locality
