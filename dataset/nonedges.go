package dataset

import (
	"math/bits"
	"math/rand/v2"
	"sort"
)

// NonEdges are the pairs of different vertices that a graph has no edge between, in order: none
// of them is stored.
type NonEdges struct {
	edges  *edgeIndex
	before []uint64 // V+1: how many there are from vertices below
}

// complement are the pairs that are no edge of x.
func (x *edgeIndex) complement() *NonEdges {
	v := len(x.start) - 1
	n := &NonEdges{edges: x, before: make([]uint64, v+1)}
	for u := range v {
		taken := len(x.row(uint32(u)))
		if x.find(uint32(u), uint32(u)) < 0 {
			taken++ // itself
		}
		n.before[u+1] = n.before[u] + uint64(v-taken)
	}
	return n
}

// Count is how many there are.
func (n *NonEdges) Count() uint64 { return n.before[len(n.before)-1] }

// At is pair i, from 0 to Count-1: by the vertex that it leads from, then by the other.
func (n *NonEdges) At(i uint64) (u, v uint32) {
	u = uint32(sort.Search(len(n.before)-1, func(u int) bool { return n.before[u+1] > i }))
	rank, row := int(i-n.before[u]), n.edges.row(u)
	// The rank-th vertex that is neither in row nor u: of the k-th of row so many are free below it.
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

// Draw is the pair that 64 random bits choose, all alike but for a part of Count/2⁶⁴.
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
