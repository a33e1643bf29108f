// Package chunk defines how a graph is stored: its edges, the order of its
// vertices, the grid of edge chunks that a run streams, vertex tensors in that
// order, and a file format for graphs larger than memory.
//
// # Words
//
// The V vertices are cut into P [Intervals] of equal width. Edge chunk (i,j)
// holds the edges from interval i to interval j; the P×P of them are the [Grid].
// A grid keeps up to two copies of the edges: CSC, grouped by destination, which
// forward gathers walk, and CSR, grouped by source, which gradients walk. Both
// are a [Side]: P×P cells, each one contiguous block of bytes, so that one copy
// moves an edge chunk to a device.
//
// # Ids
//
// [Edges] are in the user's ids. An [Order] re-encodes the vertices once, for
// balance; grids and permuted vertex tensors are in new ids. In a [Store] edges
// have user ids, and the order is stored with them.
//
// Everything is deterministic and takes time linear in the number of edges: it uses counting sorts,
// sorts only small windows of vertices by comparing, and uses no Go maps. Cells and stores are
// little-endian. Typed views alias their bytes, so the host must be little-endian too.
//
// # Files
//
// In the order of the work: edges.go, edgesutil.go, loopdegrees.go, part.go, symmetric.go (edges); intervals.go, order.go,
// balance.go, alike.go (the order of vertices); grid.go, side.go, stats.go, layout.go,
// pack.go, needs.go (what a grid is); build.go, bucket.go, radix.go, words.go, memory.go, parallel.go (how it
// is built); rect.go (a cell of a sampled block); tensor.go (vertex tensors); header.go, table.go,
// block.go, store*.go, tempfile.go, spill.go, read*.go, verify.go, joincrc.go (the store).
package chunk
