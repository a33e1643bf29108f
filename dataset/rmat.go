package dataset

import (
	"math/bits"

	"sagann/chunk"
)

// Quadrant probabilities of R-MAT as the Graph500 benchmark sets them; the
// fourth is what is left.
const rmatA, rmatB, rmatC = 0.57, 0.19, 0.19

// rmatGraph draws directed edges by choosing a quadrant of the adjacency matrix
// again and again. Numbers beyond the last vertex are drawn anew. A label is the
// block of the number before numbers are shuffled: neighbours agree more often
// than chance, less than in a planted partition.
func rmatGraph(s *Spec) (*chunk.Edges, []int32) {
	perm := s.stream(labelStream).Perm(s.Vertices)
	labels := make([]int32, s.Vertices)
	for i, v := range perm {
		labels[v] = int32(i * s.Classes / s.Vertices)
	}
	levels := bits.Len(uint(s.Vertices - 1))
	r := s.stream(edgeStream)
	e := &chunk.Edges{V: s.Vertices, Src: make([]uint32, s.Edges), Dst: make([]uint32, s.Edges)}
	for k := range e.Src {
		for {
			src, dst := 0, 0
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
			if src < s.Vertices && dst < s.Vertices {
				e.Src[k], e.Dst[k] = uint32(perm[src]), uint32(perm[dst])
				break
			}
		}
	}
	return e, labels
}
