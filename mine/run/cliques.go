package run

import (
	"context"
	"math/bits"
	"sync/atomic"

	"sagann/mine/rows"
)

// MatrixBytes is what a bit matrix of that many rows takes.
func MatrixBytes(d int) int64 { return 8 * int64(d) * int64((d+63)/64) }

// CliquesNeed is the memory that Cliques takes for each worker: a matrix of the most
// neighbours that a vertex has above it, a set for each level, and a place for each
// vertex of the graph.
func CliquesNeed(r *rows.Rows, k int) int64 {
	words := int64((r.MaxAbove + 63) / 64)
	return MatrixBytes(r.MaxAbove) + 8*words*int64(k) + 4*int64(r.V())
}

// matrix is one worker's neighbourhood: bit j of row i says that neighbours i and j of
// the root, i before j, are neighbours.
type matrix struct {
	rows  *rows.Rows
	place []uint32   // by vertex: 1 + its number among the root's neighbours; 0: it is none
	bits  []uint64   // the matrix
	sets  [][]uint64 // by depth
	words int        // of a row now
	stop  *atomic.Bool
	total Total
	_     [64]byte // workers write total: no line in common
}

// Cliques counts the cliques of k vertices, k from 3 on, each at its lowest vertex: its
// neighbours above it make a matrix of bits in which cliques of k-1 are counted.
func (r *Run) Cliques(ctx context.Context, k int) (Total, error) {
	p := newPool(r.Rows, true)
	ws := make([]matrix, r.Workers)
	for i := range ws {
		d := r.Rows.MaxAbove
		words := (d + 63) / 64
		ws[i] = matrix{rows: r.Rows, place: make([]uint32, r.Rows.V()), bits: make([]uint64, d*words), sets: make([][]uint64, k), stop: &p.stop}
		for j := range ws[i].sets {
			ws[i].sets[j] = make([]uint64, words)
		}
	}
	err := r.each(ctx, p, func(w int, t task) { ws[w].root(k, t) })
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
	if t.hi > 0 { // slices are of all neighbours; those above come last
		skip := int(m.rows.Mid[t.root])
		lo, hi = max(0, int(t.lo)-skip), max(0, int(t.hi)-skip)
	}
	if lo >= hi || len(around) < k-1 {
		return
	}
	m.fill(around, lo)
	n := uint64(0)
	for i := lo; i < hi && !m.stop.Load(); i++ {
		n += m.count(k-2, m.row(i), i>>6)
		if n >= 1<<63 {
			m.total.Add(n)
			n = 0
		}
	}
	m.total.Add(n)
}

// fill makes the matrix of a root's neighbours, from row lo on.
func (m *matrix) fill(around []uint32, lo int) {
	m.words = (len(around) + 63) / 64
	for i, v := range around {
		m.place[v] = uint32(i) + 1
	}
	clear(m.bits[lo*m.words : len(around)*m.words])
	for i, v := range around[lo:] {
		row := m.row(lo + i)
		for _, w := range m.rows.Above(v) {
			if p := m.place[w]; p != 0 {
				p--
				row[p>>6] |= 1 << (p & 63)
			}
		}
	}
	for _, v := range around {
		m.place[v] = 0
	}
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
		for at := from; at < len(set); at++ {
			for left := set[at]; left != 0; left &= left - 1 {
				row := m.row(at<<6 | bits.TrailingZeros64(left))
				n += overlap(set[at:], row[at:])
			}
		}
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

// overlap is the number of bits that both have; they are equally long.
func overlap(a, b []uint64) uint64 {
	n := 0
	b = b[:len(a)]
	for i, w := range a {
		n += bits.OnesCount64(w & b[i])
	}
	return uint64(n)
}
