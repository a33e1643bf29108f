package dataflow

import (
	"fmt"
	"sort"

	"sagann/kernel"
)

// Op names an operation, as it is printed and hashed.
type Op string

// Class says what a pass may do with an op.
type Class uint8

const (
	Leaf   Class = iota // a value that the program is given
	Move                // moves rows between vertices and edges: the closed set of move.go
	Elem                // out[r,f] depends on in[r,f] only: may live in any fused program
	Group               // element-wise on groups of features (Widen, GroupSum)
	Row                 // needs the whole row (matmul, concat, layer norm)
	Reduce              // sums over rows into a Global
	View                // the rows of another level (set.go): needs no kernel
)

// String is the class's name.
func (c Class) String() string {
	return [...]string{"leaf", "move", "elem", "group", "row", "reduce", "view"}[c]
}

// Def declares an op once: everything the compiler and every backend know of it.
// Passes read these fields. By name they know only the operations whose algebra they use
// (algebra.go), the movements (move.go), and what they put in themselves (slice.go, storage.go).
type Def struct {
	Class  Class
	Linear bool // linear in operand 0: slides through sum gathers
	Effect bool // the value depends on the identity of its row, as dropout's does: never moved
	Exact  bool // numbers that are compared or exponents: never rounded by storage
	// Shape checks the operands and gives the result's shape. Its errors reach the user.
	Shape func(a Attr, in []Shape) (Shape, error)
	// VJP gives the gradient of each operand (nil: none) from n and the gradient dy of n.
	// A nil VJP means that the op has no gradient (its operands are constants to it).
	VJP func(n, dy *Node) []*Node
	// CPU computes a strip of rows; nil for movements and for products.
	CPU kernel.StripFunc
	// CUDA is the op as device code: an expression for one number of the result over
	// $0, $1, … (the operands at the same column) and the attributes $I, $J, $F. $C is
	// the column, $k[j] column j of operand k, $Wk its width, $O the result's width.
	// What depends on the row only stands before it in statements that end in ";", where
	// SAGA_SUM, SAGA_MAX and SAGA_ARGMAX(n, x) range over j < n.
	CUDA string
	// Role is what backends know of the op beyond CPU and CUDA: a product, which they
	// implement themselves, or what they can do without a strip.
	Role kernel.Role
	// Acc is the accumulation of a Reduce or of a gather.
	Acc kernel.Acc
}

var defs = map[Op]*Def{}

// Define registers d under op; a second definition panics at start-up.
func Define(op Op, d Def) bool {
	if defs[op] != nil {
		panic("dataflow: op defined twice: " + string(op))
	}
	if d.Shape == nil && d.Class != Leaf {
		panic("dataflow: op without a shape rule: " + string(op))
	}
	defs[op] = &d
	return true
}

// DefOf is op's declaration. It panics for an op that nobody declared.
func DefOf(op Op) *Def {
	d := defs[op]
	if d == nil {
		panic(fmt.Sprintf("dataflow: unknown op %q", op))
	}
	return d
}

// Ops lists every registered op in alphabetical order.
func Ops() []Op {
	out := make([]Op, 0, len(defs))
	for op := range defs {
		out = append(out, op)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}
