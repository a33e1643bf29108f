package plan

import "sagann/mine/pattern"

// None means that there is no set.
const None = -1

// Plan is a nest of loops. Level i binds one vertex of the graph to the pattern vertex
// Order[i]. Levels are numbered from 0, the outermost. The fields Above, Below, Apart and Of of
// levels and sets hold numbers of levels; conditions name pattern vertices.
type Plan struct {
	Pattern pattern.Pattern
	Where   *pattern.Expr // the whole condition; nil: none
	Group   int           // number of permutations that keep pattern and condition
	Order   []int         // pattern vertex by level
	At      []int         // level by pattern vertex
	Less    []pattern.Less
	Levels  []Level
	Sets    []Set
	Pair    Pair
	opt     Options
}

// Level is one loop.
type Level struct {
	Vertex int   // pattern vertex
	From   int   // set that holds the candidates; None: all vertices of the graph (level 0)
	Above  []int // the candidate comes after the vertices of these levels in the graph's order
	Below  []int // and before these
	Apart  []int // and must differ from these; it differs from all others anyway
	Label  int32 // label of the candidate, or pattern.AnyLabel
	Degree int   // level 0: least degree of the candidate
	Where  []*pattern.Expr
	Make   []int // sets that are made when the level is bound, in this order
}

// Set is a sorted list of vertices. If Base is None, it is all neighbours of the vertex at
// level Of: a row of the graph, which need not be made. Otherwise it holds the members of
// Base within the window that are neighbours of that vertex or, with Minus, are not.
type Set struct {
	Level        int // the set is known when this level is bound
	Base         int // set, or None
	Of           int // level
	Minus        bool
	Above, Below []int // the window: after the vertices of the levels Above, before those of Below
}

// Pair says how the last two levels are counted without a loop.
type Pair uint8

// Ways to count the last two levels together. Their candidate sets A and B do not depend
// on each other's vertex.
const (
	NoPair    Pair = iota
	Product        // |A|·|B| - |A∩B|, without labels
	Unlike         // |A|·|B|, counting only members with the levels' labels, which differ
	Unordered      // A is B, and the pair is unordered: C(|A|, 2), counting only members with the label
)

// Last is the innermost level.
func (p *Plan) Last() int { return len(p.Levels) - 1 }

// Loops is the number of levels that are loops when matches are counted: the last one,
// or the last two, are counted as a whole unless candidates must be looked at.
func (p *Plan) Loops() int {
	last := &p.Levels[p.Last()]
	switch {
	case p.Pair != NoPair:
		return p.Last() - 1
	case last.Label == pattern.AnyLabel && len(last.Where) == 0:
		return p.Last()
	}
	return p.Last() + 1
}
