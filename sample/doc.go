// Package sample draws samples of a graph: neighbourhoods for training in mini-batches,
// walks, and whatever else a sampler written in Go says.
//
//	g, err := sample.NewGraph(edges)
//	p, err := sample.Compile(g, sample.Neighbours(15, 10, 5))
//	var b sample.Blocks
//	err = p.Blocks(&b, seeds, sample.Key{Seed: 1, Batch: 7})
//
// A draw depends on the seed and on its place only (see Key), never on threads, the
// order of batches or memory. Vertices and edges are the user's: rows of a Graph are
// sorted by far end and edge number, and draws are places in such a row.
package sample
