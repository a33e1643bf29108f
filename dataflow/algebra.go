package dataflow

import (
	"fmt"
	"strconv"
	"strings"
)

// The names of the operations whose algebra the passes use; package ops declares them.
const (
	AddOp      Op = "add"
	SubOp      Op = "sub"
	MulOp      Op = "mul"
	MaskOp     Op = "mask"
	NonzeroOp  Op = "nonzero"
	NegOp      Op = "neg"
	ScaleOp    Op = "scale"
	WidenOp    Op = "widen"
	GroupSumOp Op = "group_sum"
	PlaceOp    Op = "place"
	PickOp     Op = "pick"
	SpreadOp   Op = "spread"
	InverseOp  Op = "inverse"
	DropoutOp  Op = "dropout"
	DropOwnOp  Op = "dropout_own"
)

// Names of inputs that the engine provides.
const (
	StepInput   = "step"            // [1×4] Global: seed low, seed high, epoch (bit patterns), learning rate
	RankInput   = "edge:rank"       // [E×1] position of the edge in its destination's in-list
	TypeInput   = "edge:type"       // [E×1]
	WeightInput = "edge:weight"     // [E×1]
	DataInput   = "edge:data"       // [E×c]
	InDegree    = "vertex:indegree" // [V×1]
	OutDegree   = "vertex:outdegree"
	// BlockOutDegree [V(l+1)×1] counts the edges of block l that begin at a vertex. On a level of
	// sampled blocks, OutDegree counts edges of the full graph and InDegree edges of the block.
	BlockOutDegree = "vertex:blockoutdegree"
	IDInput        = "vertex:id" // [V×1] original vertex id, a bit pattern
)

// InRelation names the vertex input name, such as a degree, of relation r. Of the first relation it is name itself.
func InRelation(name string, r int) string {
	if r == 0 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, r)
}

// RelationOf is the relation of an input and what the input is there: the inverse of InRelation.
func RelationOf(input string) (name string, r int) {
	if i := strings.LastIndexByte(input, '/'); i >= 0 {
		if n, err := strconv.Atoi(input[i+1:]); err == nil && n > 0 {
			return input[:i], n
		}
	}
	return input, 0
}

func mul(x, y *Node) *Node { return Apply(MulOp, Attr{}, x, y) }

func widen(x *Node, cols int) *Node {
	if x.shape.Cols == cols {
		return x
	}
	return Apply(WidenOp, Attr{I: int32(cols)}, x)
}

// factors flattens a product.
func factors(n *Node) []*Node {
	if n.op == MulOp {
		return append(factors(n.in[0]), factors(n.in[1])...)
	}
	return []*Node{n}
}

// product multiplies all fs but entry skip; nil if nothing is left.
func product(fs []*Node, skip int) *Node {
	var p *Node
	for i, f := range fs {
		switch {
		case i == skip:
		case p == nil:
			p = f
		default:
			p = mul(p, f)
		}
	}
	return p
}

// canon is a rule that orders the factors of edge products and widens each factor instead of the
// product, so that equal products become one node and factors of one end are neighbours.
func canon(n *Node) *Node {
	if n.shape.Set.Kind != Edge {
		return nil
	}
	if n.op == WidenOp && n.in[0].op == MulOp {
		return mul(widen(n.in[0].in[0], n.shape.Cols), widen(n.in[0].in[1], n.shape.Cols))
	}
	if n.op != MulOp {
		return nil
	}
	fs := factors(n)
	if len(fs) < 3 && !less(fs[1], fs[0]) {
		return nil
	}
	for i := 1; i < len(fs); i++ {
		for j := i; j > 0 && less(fs[j], fs[j-1]); j-- {
			fs[j], fs[j-1] = fs[j-1], fs[j]
		}
	}
	if p := product(fs, -1); p != n {
		return p
	}
	return nil
}

// less orders factors by the end that they belong to (source, destination, neither), then by ID.
func less(a, b *Node) bool {
	if x, y := endOrder(a), endOrder(b); x != y {
		return x < y
	}
	return a.id < b.id
}

func endOrder(n *Node) int {
	if n.op == WidenOp {
		n = n.in[0]
	}
	switch n.op {
	case ScatterSrcOp:
		return 0
	case ScatterDstOp:
		return 1
	}
	return 2
}
