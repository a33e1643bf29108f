package dataflow

import (
	"fmt"

	"sagann/kernel"
)

// The leaves of a program.
const (
	InputOp Op = "input" // the graph's or the user's data: features, labels, degrees, edge values
	ParamOp Op = "param" // a trainable matrix
	ConstOp Op = "const" // a 1×1 number
)

var (
	_ = Define(InputOp, Def{Class: Leaf})
	_ = Define(ParamOp, Def{Class: Leaf})
	_ = Define(ConstOp, Def{Class: Leaf})
)

// The movements (paper, section 2) take rows from vertices to edges and back. A keyed movement
// (Attr.S "type" or "rank", Attr.I the number of blocks) selects a block of columns by a number
// of the edge: its type, or its rank among the in-edges of its destination.
const (
	ScatterSrcOp Op = "scatter_src"
	ScatterDstOp Op = "scatter_dst"
	GatherSrcOp  Op = "gather_src" // sum over out-edges
	GatherDstOp  Op = "gather_dst" // sum over in-edges
	GatherMaxOp  Op = "gather_max" // maximum over in-edges, 0 without any
	ArgMaxOp     Op = "gather_arg" // rank of the in-edge that has the maximum
	GatherExpOp  Op = "gather_exp" // Σ exp(x - top) over in-edges, 1 without any
	TopOp        Op = "gather_top" // top: the maximum over in-edges, 0 without any, beside the sums of gather_exp
)

// ScatterSrc gives every edge the row of its source: [V×c] to [E×c]. There is one relation; Set.ScatterSrc is for several.
func ScatterSrc(x *Node) *Node { return Apply(ScatterSrcOp, Attr{}, x) }

// ScatterDst gives every edge the row of its destination: [V×c] to [E×c]. There is one relation; Set.ScatterDst is for several.
func ScatterDst(x *Node) *Node { return Apply(ScatterDstOp, Attr{}, x) }

// ScatterSrc gives every edge of edge set s the row of its source: [V×c] to [E×c].
func (s Set) ScatterSrc(x *Node) *Node { return Apply(ScatterSrcOp, Attr{E: s.along()}, x) }

// ScatterDst gives every edge of edge set s the row of its destination: [V×c] to [E×c].
func (s Set) ScatterDst(x *Node) *Node { return Apply(ScatterDstOp, Attr{E: s.along()}, x) }

// GatherDst sums edge rows at their destinations: [E×c] to [V×c].
func GatherDst(x *Node) *Node { return Apply(GatherDstOp, Attr{}, x) }

// GatherSrc sums edge rows at their sources: [E×c] to [V×c].
func GatherSrc(x *Node) *Node { return Apply(GatherSrcOp, Attr{}, x) }

// Keyed is ScatterSrc, ScatterDst, GatherDst or GatherSrc with n blocks of columns selected by
// key, "type" or "rank". A scatter picks block key(e) of x [V×n·c], a gather adds
// x [E×c] into block key(e) of its result [V×n·c]. Edges with rank n or more are dropped.
func Keyed(op Op, key string, n int, x *Node) *Node {
	return Apply(op, Attr{S: key, I: int32(n)}, x)
}

func scatterShape(op Op, a Attr, in []Shape) (Shape, error) {
	s := in[0]
	if s.Set.Kind != Vertex {
		return s, fmt.Errorf("scatters vertex rows, not %v", s)
	}
	var err error
	if s.Set, err = s.Set.edges(op, a.E); err != nil {
		return s, err
	}
	if a.S != "" {
		if a.I < 1 {
			return s, fmt.Errorf("%d blocks", a.I)
		}
		if s.Cols%int(a.I) != 0 {
			return s, fmt.Errorf("width %d is no multiple of %d blocks", s.Cols, a.I)
		}
		s.Cols /= int(a.I)
	}
	return s, nil
}

func gatherShape(op Op, a Attr, in []Shape) (Shape, error) {
	s := in[0]
	if s.Set.Kind != Edge {
		return s, fmt.Errorf("gathers edge rows, not %v", s)
	}
	src, dst := s.Set.Ends()
	if s.Set = dst; op == GatherSrcOp {
		s.Set = src
	}
	if a.S != "" {
		if a.I < 1 {
			return s, fmt.Errorf("%d blocks", a.I)
		}
		s.Cols *= int(a.I)
	}
	return s, nil
}

func scatters(op Op) func(Attr, []Shape) (Shape, error) {
	return func(a Attr, in []Shape) (Shape, error) { return scatterShape(op, a, in) }
}

func gathers(op Op) func(Attr, []Shape) (Shape, error) {
	return func(a Attr, in []Shape) (Shape, error) { return gatherShape(op, a, in) }
}

// adjoint pairs each linear movement with its transpose.
var adjoint = map[Op]Op{
	ScatterSrcOp: GatherSrcOp, GatherSrcOp: ScatterSrcOp,
	ScatterDstOp: GatherDstOp, GatherDstOp: ScatterDstOp,
}

func back(n, dy *Node) []*Node { return []*Node{Apply(adjoint[n.op], n.transposed(), dy)} }

// transposed is the attribute of the adjoint of n, a linear movement. Only scatters say along which edges they are.
func (n *Node) transposed() Attr {
	a := n.attr
	if a.E = (Set{}); isGather(n) {
		a.E = n.in[0].shape.Set.along()
	}
	return a
}

var (
	_ = Define(ScatterSrcOp, Def{Class: Move, Linear: true, Shape: scatters(ScatterSrcOp), VJP: back})
	_ = Define(ScatterDstOp, Def{Class: Move, Linear: true, Shape: scatters(ScatterDstOp), VJP: back})
	_ = Define(GatherSrcOp, Def{Class: Move, Linear: true, Shape: gathers(GatherSrcOp), VJP: back, Acc: kernel.Sum})
	_ = Define(GatherDstOp, Def{Class: Move, Linear: true, Shape: gathers(GatherDstOp), VJP: back, Acc: kernel.Sum})
)

// GatherShape is the shape rule of gathers that package ops declares (max, sum of exponentials).
func GatherShape(a Attr, in []Shape) (Shape, error) { return gatherShape(GatherDstOp, a, in) }

func isScatter(op Op) bool { return op == ScatterSrcOp || op == ScatterDstOp }

func isGather(n *Node) bool { return n.Def().Class == Move && !isScatter(n.op) }

// sumGather tells whether op sums edge rows, so that linear maps can change places with it.
func sumGather(op Op) bool {
	d := DefOf(op)
	return d.Class == Move && d.Acc == kernel.Sum
}
