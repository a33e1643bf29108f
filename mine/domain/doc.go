// Package domain finds frequent patterns on the CPU by domains, without listing embeddings.
//
// The domain of a pattern's vertex is the set of the graph's vertices that an embedding of the pattern
// puts there. The support of the pattern (MNI) is the size of its smallest domain. Whether a vertex is
// in a domain is a question of existence: one embedding is enough.
//
// Domains of a candidate begin as the intersection of its parents' domains. Semi-joins along the
// edges of the pattern then drop vertices without a neighbour in the next domain, until nothing changes. Neighbours
// of one label (peers) are different vertices, so as many different neighbours are asked for: without this, searches from a hub whose
// neighbours have no other neighbour fail only after all of them. Many domains of trees are exact then (sureOf). In the others, for each
// vertex that no embedding is known for, a search looks for one, and marks all vertices of what it
// finds. A candidate is given up as soon as a domain is below the least support. A search that takes long and begins on a cycle of four of the pattern
// first asks whether there is such a cycle: two edges from its root are walked on both sides, and where they lead is marked.
//
// Vertices are numbered anew within their label, by descending degree. Domains are bits over the
// vertices of a label, kept as lists where these are shorter.
//
// The files: graph.go and arcs.go (the graph by labels), set.go (domains), evaluate.go, semijoin.go, search.go and square.go (one
// candidate), mine.go and deal.go (levels, and their division among threads), second.go (what is known of the second), room.go (their memory), cards.go (candidates of a level in
// batches, for GPUs), ranks.go, stream.go and share.go (several processes, and what they send each other); census.go, triangles.go, sums.go and work.go (instances of patterns of
// up to three edges, from how many neighbours of each label vertices have, and how long that takes).
package domain
