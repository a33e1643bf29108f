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
// Inside a row edges are in stored order, or sorted by type and then in stored order
// when types are wanted.
//
// It takes O(E + V + p²) time on all processors; the result does not depend on their number. Beside
// the result it takes 4 or 8 bytes an edge if only edges are wanted. If more is wanted, or most rows of
// most cells are empty, it takes 12 bytes an edge, and 4 more for ranks.
//
// It is an error if the edges or the order are not valid, if something is wanted that the edges do not
// have, if there are 2^32 edges or more, or if ranks are wanted and a vertex has more than
// MaxRankDegree in-edges.
func Build(e *Edges, o *Order, p int, want Want) (*Grid, error) {
	return Memory{}.Build(e, o, p, want)
}

// Build is the function Build, with its memory taken from m.
func (m Memory) Build(e *Edges, o *Order, p int, want Want) (*Grid, error) {
	in, err := intervalsFor(e.V, p, want)
	if err != nil {
		return nil, err
	}
	return m.build(e, o, in, want)
}

// BuildOver is Build for edges whose ids are in the numbering of in, which Uneven has made. They stay as they are.
func (m Memory) BuildOver(e *Edges, in Intervals, want Want) (*Grid, error) {
	return m.build(e, nil, in, want)
}

func (m Memory) build(e *Edges, o *Order, in Intervals, want Want) (g *Grid, err error) {
	if err := errors.Join(e.Validate(), o.Validate(e.V), e.has(want)); err != nil {
		return nil, err
	}
	g = &Grid{Intervals: in}
	if !want.CSC && !want.CSR {
		if want.Rank {
			err = e.ranksExact()
		}
		return g, err
	}
	sides, ok := asWords(e, o, in, want, m)
	if !ok {
		if sides, err = recorded(e, o, in, want, m); err != nil {
			return nil, err
		}
	}
	csc, csr := sides[0], sides[len(sides)-1]
	if want.CSC {
		g.CSC = csc.side
	}
	if want.CSR {
		g.CSR = csr.side
	}
	switch {
	case in.Whole != nil:
	case g.CSC != nil && g.CSR != nil:
		csc.needsOf(csr)
		csr.needsOf(csc)
	case g.CSC != nil:
		g.CSC.countNeeds(in.Width)
	default:
		g.CSR.countNeeds(in.Width)
	}
	return g, nil
}

// has returns an error if something is wanted that the edges do not have. A graph without edges has
// everything.
func (e *Edges) has(w Want) error {
	if e.E() == 0 {
		return nil
	}
	if int64(e.E()) > MaxVertices {
		return fmt.Errorf("chunk: %d edges: a grid in memory holds at most %d, as rows of a cell start at 32-bit positions", e.E(), int64(MaxVertices))
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

// ranksExact returns an error if an in-degree is too large for ranks in float32.
func (e *Edges) ranksExact() error {
	in := e.InDegrees()
	v := First(len(in), func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if in[i] > MaxRankDegree {
				return i
			}
		}
		return -1
	})
	if v < 0 {
		return nil
	}
	return fmt.Errorf("chunk: vertex %d has %d in-edges, more than %d: their ranks are not exact in float32", v, in[v], MaxRankDegree)
}
