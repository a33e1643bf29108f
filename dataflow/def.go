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
	Leaf   Class = iota // an input of the program: data, a parameter or a constant
	Move                // moves rows between vertices and edges: the closed set of move.go
	Elem                // out[r,f] depends on in[r,f] only: may be part of any fused kernel
	Group               // element-wise on groups of features (Widen, GroupSum)
	Row                 // needs the whole row (matmul, concat, layer norm)
	Reduce              // sums over rows into a Global
	View                // the same rows on another level of sampled blocks (set.go): no kernel
)

// String is the class's name.
func (c Class) String() string {
	return [...]string{"leaf", "move", "elem", "group", "row", "reduce", "view"}[c]
}

// Def declares an op once: everything the compiler and every backend know of it.
// Passes decide by these fields. They compare names only for the ops whose algebra they use
// (algebra.go), for scatters and gathers (move.go), and for the ops that passes insert
// (slice.go, storage.go).
type Def struct {
	Class  Class
	Linear bool // linear in operand 0: may change places with a sum gather
	Effect bool // the value depends on which row it is in, as dropout's does: never moved between edges and vertices
	Exact  bool // the numbers are compared or are exponents: storage never rounds them
	// Shape checks the operands and gives the result's shape. Its errors reach the user.
	Shape func(a Attr, in []Shape) (Shape, error)
	// VJP gives the gradient of each operand (nil: none) from n and the gradient dy of n.
	// A nil VJP means that the op has no gradient (its operands are constants to it).
	VJP func(n, dy *Node) []*Node
	// CPU computes a strip of rows; nil for scatters, gathers and products.
	CPU kernel.StripFunc
	// CUDA is the op as device code: an expression for one number of the result. In it $0, $1, …
	// are the operands at the same column, $I, $J, $F the attributes, $C the column, $k[j]
	// column j of operand k, $Wk the width of operand k, and $O the width of the result.
	// Statements before the expression, each ended by ";", compute what is the same for the
	// whole row. In them SAGA_SUM, SAGA_MAX and SAGA_ARGMAX(n, x) range over j < n.
	CUDA string
	// Role tells backends what CPU and CUDA do not: that the op is a product, which each
	// backend implements itself, or that it can be done without a strip.
	Role kernel.Role
	// Acc says how a Reduce or a gather accumulates.
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
