package pattern

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
)

// MaxVertices is the largest number of vertices of a pattern.
const MaxVertices = 8

// AnyLabel stands for a pattern vertex that every vertex of the graph may match.
const AnyLabel = -1

// Pattern is an undirected graph of 2 to MaxVertices vertices, numbered from 0. The
// zero value has no vertex. Patterns are compared with ==.
type Pattern struct {
	n     int
	edge  [MaxVertices]uint8 // bit j of edge[i]: i and j must be neighbours
	none  [MaxVertices]uint8 // bit j of none[i]: i and j must not be neighbours
	label [MaxVertices]int32 // the label plus 1; 0: any label
	kind  [maxPairs]int32    // by pair: the label of the edge plus 1; 0: any label
}

// maxPairs is how many pairs MaxVertices vertices have.
const maxPairs = MaxVertices * (MaxVertices - 1) / 2

// pair is the place of a pair of different vertices in the list of pairs: 0-1, 0-2, 1-2, 0-3 and so on.
func pair(i, j int) int {
	if i > j {
		i, j = j, i
	}
	return j*(j-1)/2 + i
}

// New returns a pattern of n vertices without edges and labels. It is a building block:
// Check says whether the result can be searched for.
func New(n int) Pattern { return Pattern{n: n} }

// Vertices is the number of vertices.
func (p Pattern) Vertices() int { return p.n }

// Edges is the number of edges.
func (p Pattern) Edges() int { return p.pairs(&p.edge) }

func (p Pattern) pairs(of *[MaxVertices]uint8) int {
	n := 0
	for i := range p.n {
		n += bits.OnesCount8(of[i])
	}
	return n / 2
}

// Adjacent reports whether vertices i and j must be neighbours.
func (p Pattern) Adjacent(i, j int) bool { return p.edge[i]>>j&1 == 1 }

// Apart reports whether vertices i and j must not be neighbours.
func (p Pattern) Apart(i, j int) bool { return p.none[i]>>j&1 == 1 }

// Degree is the number of edges at vertex i.
func (p Pattern) Degree(i int) int { return bits.OnesCount8(p.edge[i]) }

// Label is the label that vertex i must have, or AnyLabel.
func (p Pattern) Label(i int) int32 { return p.label[i] - 1 }

// Labelled reports whether any vertex must have a label. See EdgeLabelled for edges.
func (p Pattern) Labelled() bool { return p.label != [MaxVertices]int32{} }

// EdgeLabel is the label that the edge between i and j must have, or AnyLabel.
func (p Pattern) EdgeLabel(i, j int) int32 {
	if i == j {
		return AnyLabel
	}
	return p.kind[pair(i, j)] - 1
}

// EdgeLabelled reports whether any edge must have a label.
func (p Pattern) EdgeLabelled() bool { return p.kind != [maxPairs]int32{} }

// WithEdge returns p with an edge between i and j.
func (p Pattern) WithEdge(i, j int) Pattern { p.edge = with(p.edge, i, j); return p }

// WithApart returns p in which i and j must not be neighbours.
func (p Pattern) WithApart(i, j int) Pattern { p.none = with(p.none, i, j); return p }

// WithLabel returns p in which vertex i must have the label, from 0 on.
func (p Pattern) WithLabel(i int, label int32) Pattern { p.label[i] = label + 1; return p }

// WithEdgeLabel returns p with an edge between i and j that must have the label, from 0 on; AnyLabel: any.
func (p Pattern) WithEdgeLabel(i, j int, label int32) Pattern {
	p = p.WithEdge(i, j)
	p.kind[pair(i, j)] = label + 1
	return p
}

// WithoutLabels returns p with vertices that may have any label.
func (p Pattern) WithoutLabels() Pattern {
	p.label = [MaxVertices]int32{}
	return p
}

// WithoutEdgeLabels returns p with edges that may have any label.
func (p Pattern) WithoutEdgeLabels() Pattern {
	p.kind = [maxPairs]int32{}
	return p
}

func with(of [MaxVertices]uint8, i, j int) [MaxVertices]uint8 {
	of[i] |= 1 << j
	of[j] |= 1 << i
	return of
}

// Induced returns p in which pairs that have no edge must not be neighbours.
func (p Pattern) Induced() Pattern {
	for i := range p.n {
		p.none[i] = (1<<p.n - 1) &^ p.edge[i] &^ (1 << i)
	}
	return p
}

// Plain returns p without marks and labels of vertices and edges: its edges alone.
func (p Pattern) Plain() Pattern { return Pattern{n: p.n, edge: p.edge} }

// IsInduced reports whether every pair without an edge must not be neighbours.
func (p Pattern) IsInduced() bool { return p == p.Induced() }

// Free reports whether p has no marks: it is edge-induced.
func (p Pattern) Free() bool { return p.none == [MaxVertices]uint8{} }

// IsClique reports whether all pairs have an edge.
func (p Pattern) IsClique() bool { return p.n > 0 && p.Edges() == p.n*(p.n-1)/2 }

// Check says why p cannot be searched for: too few or too many vertices, a pair that
// is both an edge and marked "~", or edges that leave it in several parts.
func (p Pattern) Check() error {
	if p.n < 2 {
		return errors.New("a pattern has at least one edge, such as 0-1")
	}
	if p.n > MaxVertices {
		return fmt.Errorf("the pattern has %d vertices; the most is %d", p.n, MaxVertices)
	}
	for i := range p.n {
		if both := p.edge[i] & p.none[i]; both != 0 {
			return fmt.Errorf("the pattern has %d-%[2]d and %[1]d~%[2]d: the pair cannot be both", i, bits.TrailingZeros8(both))
		}
	}
	if seen := p.reach(0); seen != 1<<p.n-1 {
		return fmt.Errorf("the pattern is not connected: no path of edges from vertex 0 to vertex %d", bits.TrailingZeros8(^seen))
	}
	return nil
}

// reach is the set of vertices that are connected to vertex i, as bits.
func (p Pattern) reach(i int) uint8 {
	seen := uint8(1) << i
	for {
		next := seen
		for j := range p.n {
			if seen>>j&1 == 1 {
				next |= p.edge[j]
			}
		}
		if next == seen {
			return seen
		}
		seen = next
	}
}

// Relabel returns p with vertex i called to[i]; to is a permutation.
func (p Pattern) Relabel(to Perm) Pattern {
	q := New(p.n)
	for i := range p.n {
		q.label[to[i]] = p.label[i]
		for j := range p.n {
			q.edge[to[i]] |= p.edge[i] >> j & 1 << to[j]
			q.none[to[i]] |= p.none[i] >> j & 1 << to[j]
			if j < i {
				q.kind[pair(int(to[i]), int(to[j]))] = p.kind[pair(i, j)]
			}
		}
	}
	return q
}

// String is the text of p as Parse reads it: labels, edges, then marks, in order.
func (p Pattern) String() string {
	b := make([]byte, 0, 64)
	number := func(mark byte, n int) {
		if mark != 0 {
			b = append(b, mark)
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	word := func(i int) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		number(0, i)
	}
	for i := range p.n {
		if p.label[i] != 0 {
			word(i)
			number(':', int(p.Label(i)))
		}
	}
	for _, kind := range []struct {
		of   *[MaxVertices]uint8
		mark byte
	}{{&p.edge, '-'}, {&p.none, '~'}} {
		for i := range p.n {
			for j := i + 1; j < p.n; j++ {
				if kind.of[i]>>j&1 == 0 {
					continue
				}
				word(i)
				if label := p.EdgeLabel(i, j); kind.mark == '-' && label != AnyLabel {
					b = append(b, "-["...)
					number(0, int(label))
					b = append(b, ']')
				}
				number(kind.mark, j)
			}
		}
	}
	return string(b)
}
