package table

import (
	"maps"
	"math/bits"
	"slices"

	"sagann/mine/pattern"
)

// Quick is codes of 63 bits for what rows of a size have in common: which vertices their edges join, as they come, and labels. Numbers stand one after the
// other, from the lowest bit on. Rows of edges have for each edge but the first the numbers of its two ends, of three bits each; rows of vertices have for each pair 0 1, 0 2,
// 1 2, 0 3 and so on whether it is an edge. Then come the number of the label of each vertex, and that of each edge or pair that is one.
type Quick struct {
	Vertices            bool
	Size                int
	LabelBits, KindBits int
	// Labels and Kinds are the labels of vertices, -1 for all that are none, and of edges that there are, ascending. nil: there are none.
	Labels, Kinds []int32
}

// QuickOf is the codes of rows of a size; ok is false if they need more bits.
func QuickOf(s *Spec, size int) (q Quick, ok bool) {
	q = Quick{Vertices: s.Vertices, Size: size, Labels: different(s.Rows.Label)}
	if s.Kinds != nil {
		q.Kinds = different(s.Kinds.Label)
	}
	q.LabelBits, q.KindBits = bits.Len(uint(max(len(q.Labels)-1, 0))), bits.Len(uint(max(len(q.Kinds)-1, 0)))
	links, vertices, joined := q.bits()
	return q, links+vertices*q.LabelBits+joined*q.KindBits <= 63
}

// different are the labels of a list, ascending.
func different(list []int32) (all []int32) {
	seen := map[int32]bool{}
	for _, x := range list {
		seen[max(x, -1)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Classes are the numbers of the labels of vertices.
func (q Quick) Classes(label []int32) []uint32 {
	number := map[int32]uint32{}
	for i, l := range q.Labels {
		number[l] = uint32(i)
	}
	all := make([]uint32, len(label))
	for v, l := range label {
		all[v] = number[max(l, -1)]
	}
	return all
}

// bits is how many bits say which vertices are joined, and how many vertices and edges there can be.
func (q Quick) bits() (links, vertices, joined int) {
	if q.Vertices {
		pairs := q.Size * (q.Size - 1) / 2
		return pairs, q.Size, pairs
	}
	return 6 * (q.Size - 1), q.Size + 1, q.Size
}

// Pattern is what a code stands for, its vertices numbered as they come.
func (q Quick) Pattern(code uint64) pattern.Pattern {
	links, vertices, _ := q.bits()
	p := pattern.New(0)
	part := func(at, n int) int { return int(code >> at & (1<<n - 1)) }
	add := func() {
		label := int32(pattern.AnyLabel)
		if q.Labels != nil {
			label = q.Labels[part(links+p.Vertices()*q.LabelBits, q.LabelBits)]
		}
		p = p.Add(label)
	}
	join := func(i, a, b int) {
		kind := int32(-1)
		if q.Kinds != nil {
			kind = q.Kinds[part(links+vertices*q.LabelBits+i*q.KindBits, q.KindBits)]
		}
		p = p.WithEdgeLabel(a, b, kind)
	}
	if q.Vertices {
		for range q.Size {
			add()
		}
		for i, j, k := 0, 1, 0; j < q.Size; k++ {
			if part(k, 1) == 1 {
				join(k, i, j)
			}
			if i++; i == j {
				i, j = 0, j+1
			}
		}
		return p
	}
	add()
	add()
	join(0, 0, 1)
	for i := 1; i < q.Size; i++ {
		a, b := part(6*(i-1), 3), part(6*(i-1)+3, 3)
		for p.Vertices() <= max(a, b) {
			add()
		}
		join(i, a, b)
	}
	return p
}
