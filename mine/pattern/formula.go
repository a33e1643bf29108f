package pattern

import (
	"fmt"
	"slices"
	"strings"
)

// Quantity is a sum over the graph that is faster to compute than enumerating a pattern. d is
// the degree of a vertex, t the number of triangles at a vertex or an edge.
type Quantity uint8

// The quantities. Stars of k leaves are Stars+k, k from 1 to MaxVertices-1.
const (
	Triangles  Quantity = iota // triangles of the graph
	EdgePaths                  // Σ over edges (d(u)-1)·(d(v)-1)
	Tails                      // Σ over vertices t(v)·(d(v)-2)
	EdgePairs                  // Σ over edges C(t(e), 2)
	FourCycles                 // cycles of four vertices, by wedges in degree order
	FourCliques
	FiveWalks // closed walks of five edges; walks that differ only in start or direction count once
	Stars     // Stars+k: Σ over vertices C(d(v), k); for k = 1 half of that, the number of edges
)

// String is the quantity as a sum.
func (q Quantity) String() string {
	if q > Stars {
		return fmt.Sprintf("Σv C(d,%d)", q-Stars)
	}
	return [...]string{"triangles", "Σe (d-1)(d'-1)", "Σv t·(d-2)", "Σe C(t,2)", "4-cycles", "4-cliques", "closed 5-walks", "?"}[q]
}

// Term is a multiple of a quantity.
type Term struct {
	Times int64
	Of    Quantity
}

// Formula is a sum of terms, one for each quantity at most.
type Formula []Term

// String is the formula as it is written, such as Σe (d-1)(d'-1) - 3·triangles.
func (f Formula) String() string {
	var b strings.Builder
	for i, t := range f {
		sign, times := "+", t.Times
		if times < 0 {
			sign, times = "-", -times
		}
		switch {
		case i > 0:
			b.WriteString(" " + sign + " ")
		case sign == "-":
			b.WriteString("-")
		}
		if times != 1 {
			fmt.Fprintf(&b, "%d·", times)
		}
		b.WriteString(t.Of.String())
	}
	return b.String()
}

// Formula counts p without enumerating it. There is one for stars of any size and for the 5-cycle, without
// marks, and for every pattern of three or four vertices, edge-induced or induced. There
// is none for patterns with labels, or with marks at some of the pairs without an edge.
func (p Pattern) Formula() (Formula, bool) {
	switch {
	case p.Labelled() || p.EdgeLabelled():
		return nil, false
	case p.Free():
		return p.edgeFormula()
	case !p.IsInduced() || p.n > 4:
		return nil, false
	}
	return p.inducedFormula()
}

// edgeFormula is the formula of an edge-induced pattern.
func (p Pattern) edgeFormula() (Formula, bool) {
	d := p.degrees()
	if p.Edges() == p.n-1 && d[p.n-1] == p.n-1 { // a star
		return Formula{{1, Stars + Quantity(p.n-1)}}, true
	}
	switch {
	case slices.Equal(d, []int{2, 2, 2}):
		return Formula{{1, Triangles}}, true
	case slices.Equal(d, []int{1, 1, 2, 2}): // paths of three edges, less those that close
		return Formula{{1, EdgePaths}, {-3, Triangles}}, true
	case slices.Equal(d, []int{1, 2, 2, 3}):
		return Formula{{1, Tails}}, true
	case slices.Equal(d, []int{2, 2, 2, 2}):
		return Formula{{1, FourCycles}}, true
	case slices.Equal(d, []int{2, 2, 3, 3}):
		return Formula{{1, EdgePairs}}, true
	case slices.Equal(d, []int{3, 3, 3, 3}):
		return Formula{{1, FourCliques}}, true
	case slices.Equal(d, []int{2, 2, 2, 2, 2}): // others go round a triangle, with a way there and back
		return Formula{{1, FiveWalks}, {-1, Tails}, {-3, Triangles}}, true
	}
	return nil, false
}

// inducedFormula subtracts from the edge-induced count the copies that lie in induced
// patterns of more edges: count(p) = induced(p) + Σ Spanning(p in q)·induced(q).
func (p Pattern) inducedFormula() (Formula, bool) {
	f, ok := p.edgeFormula()
	if !ok {
		return nil, false
	}
	sum := map[Quantity]int64{}
	for _, t := range f {
		sum[t.Of] += t.Times
	}
	all, err := Motifs(p.n)
	if err != nil {
		return nil, false
	}
	for _, q := range all {
		copies := p.Spanning(q)
		if copies == 0 || q.Edges() == p.Edges() {
			continue
		}
		rest, ok := q.inducedFormula()
		if !ok {
			return nil, false
		}
		for _, t := range rest {
			sum[t.Of] -= int64(copies) * t.Times
		}
	}
	out := Formula{}
	for q := Triangles; q < Stars+MaxVertices; q++ {
		if sum[q] != 0 {
			out = append(out, Term{sum[q], q})
		}
	}
	return out, true
}
