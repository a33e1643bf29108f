package run

import (
	"context"
	"math/bits"
	"sync/atomic"

	"sagann/internal/simd"
	"sagann/mine/rows"
)

// narrow is the number of words of a row of a small matrix. Most roots have at most 256
// neighbours above them; their rows are counted without loops over words.
const narrow = 4

// wordsOf is the number of words of a row of a matrix of d rows: a multiple of narrow.
func wordsOf(d int) int { return max((d+255)/256, 1) * narrow }

// CliquesNeed is the bytes that Cliques takes for each worker: a matrix for the largest number of
// neighbours above a vertex, a set for each level, the members of a row, and a
// place for each vertex of the graph. Triangles only need a bit for each vertex.
func CliquesNeed(r *rows.Rows, k int) int64 {
	if k == 3 {
		return 8 * int64(r.Words)
	}
	d := r.MaxAbove
	words := int64(wordsOf(d))
	return 8*words*(64*words+int64(k)) + 4*int64(d) + 4*int64(r.V())
}

// matrix is one worker's neighbourhood: bit j of row i says that neighbours i and j of
// the root, i before j, are neighbours.
type matrix struct {
	rows  *rows.Rows
	place []uint32   // by vertex: 1 + its number among the root's neighbours; 0: it is none
	bits  []uint64   // the matrix
	found []uint32   // places of the members of a row
	sets  [][]uint64 // by depth
	words int        // words of a row, for the current root
	stop  *atomic.Bool
	total Total
	_     [64]byte // workers write total often: they must not share a cache line
}

// Cliques counts the cliques of k vertices, k from 3 on, each at its lowest vertex. The neighbours
// above that vertex make an adjacency matrix of bits, in which cliques of k-1 vertices are counted.
// Triangles need no matrix: the neighbours are marked.
func (r *Run) Cliques(ctx context.Context, k int) (Total, error) {
	if k == 3 {
		return r.triangles(ctx)
	}
	p := newPool(r.Rows, cliqueSlice)
	ws := make([]matrix, r.Workers)
	err := r.each(ctx, p, func(w int) func(task) {
		d := r.Rows.MaxAbove
		words := wordsOf(d)
		m := &ws[w]
		*m = matrix{rows: r.Rows, place: make([]uint32, r.Rows.V()), bits: make([]uint64, 64*words*words),
			found: make([]uint32, d), sets: make([][]uint64, k), stop: &p.stop}
		for j := range m.sets {
			m.sets[j] = make([]uint64, words)
		}
		return func(t task) { m.root(k, t) }
	})
	var sum Total
	for i := range ws {
		sum.AddTotal(ws[i].total)
	}
	return sum, err
}

// root counts the cliques whose lowest vertex is the task's root, and whose second lowest
// lies in its slice.
func (m *matrix) root(k int, t task) {
	around := m.rows.Above(t.root)
	lo, hi := 0, len(around)
	if t.hi > 0 { // a slice of all neighbours, of which those above the root come last
		skip := int(m.rows.Mid[t.root])
		lo, hi = max(0, int(t.lo)-skip), max(0, int(t.hi)-skip)
	}
	if lo >= hi || len(around) < k-1 {
		return
	}
	m.fill(around, lo)
	n := uint64(0) // it cannot overflow: counting 2^64 cliques would take too long
	for i := lo; i < hi && !m.stop.Load(); i++ {
		if m.words == narrow {
			n += m.countNarrow(k-2, (*[narrow]uint64)(m.row(i)))
		} else {
			n += m.count(k-2, m.row(i), i>>6)
		}
	}
	m.total.Add(n)
}

// fill makes the matrix of a root's neighbours, from row lo on.
func (m *matrix) fill(around []uint32, lo int) {
	m.words = wordsOf(len(around))
	for i, v := range around {
		m.place[v] = uint32(i) + 1
	}
	clear(m.bits[lo*m.words : len(around)*m.words])
	for i, v := range around[lo:] {
		row := m.row(lo + i)
		for _, p := range m.members(m.rows.Above(v)) {
			row[(p-1)>>6] |= 1 << ((p - 1) & 63)
		}
	}
	for _, v := range around {
		m.place[v] = 0
	}
}

// members is the places of the members of list that have one, ascending. It does not branch on
// whether a member has a place, as that would be mispredicted often.
func (m *matrix) members(list []uint32) []uint32 {
	k := 0
	for _, w := range list {
		p := m.place[w]
		if k < len(m.found) { // not so when all are found: the rest of the list has no places
			m.found[k] = p
		}
		k += int((p | -p) >> 31)
	}
	return m.found[:k]
}

func (m *matrix) row(i int) []uint64 { return m.bits[i*m.words : (i+1)*m.words] }

// count is the number of cliques of k vertices within the set, whose words before from
// are empty.
func (m *matrix) count(k int, set []uint64, from int) uint64 {
	n := uint64(0)
	switch k {
	case 1:
		for _, w := range set[from:] {
			n += uint64(bits.OnesCount64(w))
		}
	case 2:
		return simd.Pairs(set, m.bits)
	default:
		inner := m.sets[k][:len(set)]
		for at := from; at < len(set); at++ {
			for left := set[at]; left != 0; left &= left - 1 {
				row := m.row(at<<6 | bits.TrailingZeros64(left))
				any := uint64(0)
				for j := at; j < len(set); j++ {
					inner[j] = set[j] & row[j]
					any |= inner[j]
				}
				if any != 0 {
					n += m.count(k-1, inner, at)
				}
			}
		}
	}
	return n
}

// countNarrow is count for rows of few words, written out.
func (m *matrix) countNarrow(k int, set *[narrow]uint64) uint64 {
	switch k {
	case 1:
		return uint64(bits.OnesCount64(set[0]) + bits.OnesCount64(set[1]) + bits.OnesCount64(set[2]) + bits.OnesCount64(set[3]))
	case 2:
		return simd.Pairs(set[:], m.bits)
	}
	n := uint64(0)
	inner := (*[narrow]uint64)(m.sets[k]) // a variable would be taken from the heap for every set
	for at, left := range *set {
		for ; left != 0; left &= left - 1 {
			row := m.rowNarrow(at<<6 | bits.TrailingZeros64(left))
			*inner = [narrow]uint64{set[0] & row[0], set[1] & row[1], set[2] & row[2], set[3] & row[3]}
			if inner[0]|inner[1]|inner[2]|inner[3] != 0 {
				n += m.countNarrow(k-1, inner)
			}
		}
	}
	return n
}

func (m *matrix) rowNarrow(i int) *[narrow]uint64 {
	return (*[narrow]uint64)(m.bits[narrow*i:])
}
