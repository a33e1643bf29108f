package dataset

import (
	"math/bits"
	"math/rand/v2"

	"sagann/chunk"
)

// Quadrant probabilities of R-MAT, as in the Graph500 benchmark. The
// fourth is 1 minus their sum.
const rmatA, rmatB, rmatC = 0.57, 0.19, 0.19

// rmatGraph draws directed edges by choosing quadrants of the adjacency matrix recursively. The numbers
// drawn are places; at[place] is the vertex. Places beyond the last vertex are drawn again. As a
// label is a block of places, neighbours have equal labels more often
// than by chance, but less often than in a planted partition.
func rmatGraph(s *Spec, at []uint32) *chunk.Edges {
	levels := bits.Len(uint(s.Vertices - 1))
	e := &chunk.Edges{V: s.Vertices, Src: make([]uint32, s.Edges), Dst: make([]uint32, s.Edges)}
	s.eachBlock(edgeStream, s.Edges, blockEdges, func(r *rand.Rand, lo, hi int) {
		for k := lo; k < hi; k++ {
			src, dst := rmatPair(r, levels)
			for src >= s.Vertices || dst >= s.Vertices {
				src, dst = rmatPair(r, levels)
			}
			e.Src[k], e.Dst[k] = at[src], at[dst]
		}
	})
	return e
}

// rmatPair is one walk down the quadrants.
func rmatPair(r *rand.Rand, levels int) (src, dst int) {
	for range levels {
		p := r.Float64()
		src, dst = src<<1, dst<<1
		switch {
		case p < rmatA:
		case p < rmatA+rmatB:
			dst++
		case p < rmatA+rmatB+rmatC:
			src++
		default:
			src++
			dst++
		}
	}
	return src, dst
}
