package dataflow

import "fmt"

// Row sets. A full graph has one vertex set and one edge set, both with ID 0. A program over
// sampled blocks has one vertex set per level: level 0 is the seeds, and the rows of a level are
// the first rows of the next, so a vertex has the same row number on all its levels. Block l is
// the edges from level l+1 to level l. Level l and block l have ID l+1. A graph may have several types of vertices and several
// relations, each from one type to one type; its blocks have each type on each level, and each relation in each block. An edge set
// names its level and the types of its ends, so shape rules need no table.

// MaxLevels bounds the levels of a program over blocks.
const MaxLevels = 200

// Level is the vertices of level l of sampled blocks.
func Level(l int) Set { return V0.At(l) }

// Block is the edges from level l+1 to level l.
func Block(l int) Set { return E0.At(l) }

// At is level l of vertex set s of a full graph, or the edges of edge set s from level l+1 to level l.
func (s Set) At(l int) Set {
	s.ID = levelID(l)
	return s
}

// OfType is the vertices of type t of a full graph.
func OfType(t int) Set { return Set{Kind: Vertex, Type: uint16(t)} }

// Relation is the edges of relation r of a full graph, which go from vertices of type src to vertices of type dst.
func Relation(r, src, dst int) Set {
	return Set{Kind: Edge, Type: uint16(r), Src: uint16(src), Dst: uint16(dst)}
}

func levelID(l int) uint8 {
	if l < 0 || l >= MaxLevels {
		panic(fmt.Sprintf("dataflow: level %d of sampled blocks; there are at most %d", l, MaxLevels))
	}
	return uint8(l + 1)
}

// Level is the level of vertex set s, or the block of edge set s; -1 for a full graph.
func (s Set) Level() int { return int(s.ID) - 1 }

// Ends are the vertex sets of the sources and of the destinations of edge set s.
func (s Set) Ends() (src, dst Set) {
	src, dst = Set{Kind: Vertex, ID: s.ID, Type: s.Src}, Set{Kind: Vertex, ID: s.ID, Type: s.Dst}
	if s.ID > 0 {
		src.ID++
	}
	return src, dst
}

// along is the attribute E of scatters to edge set s.
func (s Set) along() Set {
	if s.Type == 0 && s.Src == 0 && s.Dst == 0 { // the first relation, within the first type
		return Set{}
	}
	return s
}

// edges is the edge set whose sources (for ScatterSrcOp) or destinations (for ScatterDstOp) are
// vertex set s, if the scatter is along a.
func (s Set) edges(op Op, a Set) (Set, error) {
	if a.Kind == Edge {
		src, dst := a.Ends()
		if op == ScatterSrcOp && s != src || op == ScatterDstOp && s != dst {
			return a, fmt.Errorf("scatters rows of %v to edges from %v to %v", s, src, dst)
		}
		return a, nil
	}
	if s.Type > 0 {
		return s, fmt.Errorf("scatters rows of %v to edges, and does not say to which", s)
	}
	e := Set{Kind: Edge, ID: s.ID}
	if s.ID > 0 && (op == ScatterSrcOp || op == GatherSrcOp) {
		if s.ID == 1 {
			return e, fmt.Errorf("no edge of a sampled block begins at the seeds")
		}
		e.ID--
	}
	return e, nil
}

// String is V or E, followed by the level over sampled blocks, as V1 or E0, and by the type or relation unless it is the first, as V/2.
func (s Set) String() string {
	name := "V"
	if s.Kind == Edge {
		name = "E"
	}
	if s.ID > 0 {
		name += fmt.Sprint(s.Level())
	}
	if s.Type > 0 {
		name += fmt.Sprintf("/%d", s.Type)
	}
	return name
}

// Views give the same rows to another level. They have no kernel and no memory of their own: a
// prefix is read from the memory of the deeper level, and padded rows lie in the memory of their
// operand, with zeros behind them.
const (
	PrefixOp  Op = "prefix"   // [V(l+1)×F] to [V(l)×F]: the first rows
	PadRowsOp Op = "pad_rows" // [V(l)×F] to [V(l+1)×F]: zeros follow
)

// Prefix is the rows of x [V(l+1)×F] that belong to level l of sampled blocks: [V(l)×F]. The
// other rows of x get zero gradients.
func Prefix(x *Node) *Node { return Apply(PrefixOp, Attr{}, x) }

// shiftLevel is the shape rule of the views.
func shiftLevel(by int) func(Attr, []Shape) (Shape, error) {
	return func(_ Attr, in []Shape) (Shape, error) {
		s := in[0]
		l := s.Set.Level() + by
		if s.Set.Kind != Vertex || s.Set.ID == 0 || l < 0 || l >= MaxLevels {
			return s, fmt.Errorf("takes rows of a level of sampled blocks that has another one beside it, not %v", s)
		}
		s.Set = s.Set.At(l)
		return s, nil
	}
}

var (
	_ = Define(PrefixOp, Def{Class: View, Linear: true, Shape: shiftLevel(-1),
		VJP: func(n, dy *Node) []*Node { return []*Node{Apply(PadRowsOp, Attr{}, dy)} }})
	_ = Define(PadRowsOp, Def{Class: View, Linear: true, Shape: shiftLevel(1),
		VJP: func(n, dy *Node) []*Node { return []*Node{Apply(PrefixOp, Attr{}, dy)} }})
)

func isView(n *Node) bool { return n.Def().Class == View }

// viewed is the node whose memory holds the rows of n: n itself unless n is a view.
func viewed(n *Node) *Node {
	for isView(n) {
		n = n.in[0]
	}
	return n
}

// unview is a rewrite rule. It cancels a prefix of padded rows. And where padded rows are those of
// a prefix or of a leaf, it copies them to memory of their own first (a scale by 1), since the
// zeros behind them would overwrite rows that others read.
func unview(n *Node) *Node {
	switch {
	case n.op == PrefixOp && n.in[0].op == PadRowsOp:
		return n.in[0].in[0]
	case n.op == PadRowsOp && (n.in[0].op == PrefixOp || len(n.in[0].in) == 0):
		return Apply(PadRowsOp, Attr{}, Apply(ScaleOp, Attr{F: 1}, n.in[0]))
	}
	return nil
}

// views is the pass that prepares the views of a program over blocks for lowering.
func views(s *state) {
	if !sampled(Live(s.nodes())) {
		return
	}
	s.rewrite(unview)
	for i := range s.outs {
		if n := s.outs[i].node; isView(n) { // a result needs memory of its own: copy it
			n.g.at = n.pos
			s.outs[i].node = Apply(ScaleOp, Attr{F: 1}, n)
			n.g.at = ""
		}
	}
}

// sampled tells whether any of the nodes belongs to a level of blocks.
func sampled(nodes []*Node) bool {
	for _, n := range nodes {
		if n.shape.Set.ID > 0 {
			return true
		}
	}
	return false
}
