package dataset

import (
	"math/bits"
	"math/rand/v2"
	"sort"
)

// NonEdges is the ordered list of all pairs of different vertices without an edge in a graph. The pairs are
// computed and not stored.
type NonEdges struct {
	edges  *edgeIndex
	before []uint64 // V+1: how many pairs begin at vertices below v
}

// complement is the pairs that are not edges of x.
func (x *edgeIndex) complement() *NonEdges {
	v := len(x.start) - 1
	n := &NonEdges{edges: x, before: make([]uint64, v+1)}
	for u := range v {
		taken := len(x.row(uint32(u)))
		if x.find(uint32(u), uint32(u)) < 0 {
			taken++ // the vertex itself
		}
		n.before[u+1] = n.before[u] + uint64(v-taken)
	}
	return n
}

// Count is the number of pairs.
func (n *NonEdges) Count() uint64 { return n.before[len(n.before)-1] }

// At is pair i, 0 to Count-1. Pairs (u, v) are sorted by u, then by v.
func (n *NonEdges) At(i uint64) (u, v uint32) {
	u = uint32(sort.Search(len(n.before)-1, func(u int) bool { return n.before[u+1] > i }))
	rank, row := int(i-n.before[u]), n.edges.row(u)
	// v is the rank-th vertex that is neither u nor in u's row. free(k) is how many such vertices are below entry k
	// of the row.
	free := func(k int) int {
		below := int(row[k]) - k
		if row[k] > u && n.edges.find(u, u) < 0 {
			below--
		}
		return below
	}
	k := sort.Search(len(row), func(k int) bool { return free(k) > rank })
	x := uint32(rank + k)
	if n.edges.find(u, u) < 0 && x >= u {
		x++
	}
	return u, x
}

// Draw is the pair that 64 random bits choose. The probabilities of pairs differ by at most the share
// Count/2⁶⁴.
func (n *NonEdges) Draw(random uint64) (u, v uint32) {
	hi, _ := bits.Mul64(random, n.Count())
	return n.At(hi)
}

// draw draws count pairs, with repetition.
func (n *NonEdges) draw(r *rand.Rand, count int) (p Pairs) {
	for range count {
		p.add(n.Draw(r.Uint64()))
	}
	return p
}
