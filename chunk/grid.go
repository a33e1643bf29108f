package chunk

import (
	"errors"
	"fmt"
)

// MaxRankDegree bounds the in-degree when ranks are wanted: up to it every rank
// is exact in float32.
const MaxRankDegree = 1 << 24

// Grid is the edges of a graph as P×P edge chunks, in new vertex ids.
type Grid struct {
	Intervals
	CSC *Side // grouped by destination: own = destination, other = source; nil unless wanted
	CSR *Side // grouped by source: own = source, other = destination; nil unless wanted
}

// Build sorts the edges into a p×p grid under order o (nil for the identity).
// Inside a row edges stand in stored order, or by type and then in stored order
// when types are wanted.
//
// It takes O(E + V + p²) time and, beside the result, 24 bytes an edge for
// both sides. It is an error when the edges or the order are not valid, when
// something is wanted that the edges do not have, when there are 2^32 edges or
// more, or when ranks are wanted and a vertex has MaxRankDegree in-edges or more.
func Build(e *Edges, o *Order, p int, want Want) (*Grid, error) {
	in, err := NewIntervals(e.V, p)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(e.Validate(), o.Validate(e.V), e.has(want)); err != nil {
		return nil, err
	}
	b := &builder{e: e, want: want}
	if want.Rank {
		if b.rank, err = ranks(e); err != nil {
			return nil, err
		}
	}
	g := &Grid{Intervals: in}
	if !want.CSC && !want.CSR {
		return g, nil
	}
	b.buckets = newBuckets(e, o, in)
	b.sorted = make([]rec, e.E())
	b.sorter.types = e.Type
	if want.CSC {
		g.CSC = b.side(byDst)
	}
	if want.CSR {
		g.CSR = b.side(bySrc)
	}
	return g, nil
}

// has says whether the edges can give what is wanted. A graph without edges can
// give everything.
func (e *Edges) has(w Want) error {
	if e.E() == 0 {
		return nil
	}
	if int64(e.E()) > MaxVertices {
		return fmt.Errorf("chunk: %d edges, a grid in memory holds at most %d", e.E(), int64(MaxVertices))
	}
	if w.Type && e.Type == nil {
		return errors.New("chunk: edge types are wanted, but the edges have none")
	}
	if w.Weight && e.Weight == nil {
		return errors.New("chunk: edge weights are wanted, but the edges have none")
	}
	if w.Data && e.DataCols == 0 {
		return errors.New("chunk: edge data are wanted, but the edges have none")
	}
	return nil
}

// ranks is the position of each edge among the in-edges of its destination, in
// stored order.
func ranks(e *Edges) ([]float32, error) {
	rank := make([]float32, e.E())
	next := make([]uint32, e.V)
	for k, d := range e.Dst {
		if next[d] == MaxRankDegree {
			return nil, fmt.Errorf("chunk: vertex %d has more than %d in-edges: their ranks are not exact in float32", d, MaxRankDegree)
		}
		rank[k] = float32(next[d])
		next[d]++
	}
	return rank, nil
}
