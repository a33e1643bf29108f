package pattern

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Op is what an expression computes.
type Op uint8

// Integers come first, then truth values. A and B are the expression's own fields.
const (
	Const     Op = iota // Value
	Vertex              // the number, in the user's graph, of the vertex that pattern vertex A is mapped to
	Label               // its label; -1 without one
	Degree              // its degree in the graph
	EdgeLabel           // label of the edge between the vertices that A and B are mapped to; -1 without one
	Plus                // sum of the two arguments
	Minus               // their difference
	Adjacent            // pattern vertices A and B are mapped to neighbours
	Eq                  // the arguments are equal
	LessThan            // the first is less than the second
	And                 // all arguments hold
	Or                  // one of the arguments holds
	Not                 // the argument does not hold
)

// opNames are the operators as they are printed.
var opNames = [...]string{Vertex: "vertex", Label: "label", Degree: "degree", EdgeLabel: "edgelabel", Plus: " + ", Minus: " - ",
	Adjacent: "adjacent", Eq: " = ", LessThan: " < ", And: " and ", Or: " or "}

// Expr is an expression on a match: a tree that does not change once it is made. The
// integers are 64 bits wide; sums wrap around as Go's do.
type Expr struct {
	Op    Op
	A, B  int   // pattern vertices of Vertex, Label, Degree, EdgeLabel and Adjacent
	Value int64 // of Const
	Args  []*Expr
}

// Truth reports whether the expression is a truth value; otherwise it is an integer.
func (e *Expr) Truth() bool { return e.Op >= Adjacent }

// Vertices is the set of pattern vertices that the expression names, as bits.
func (e *Expr) Vertices() uint8 {
	var set uint8
	switch e.Op {
	case Vertex, Label, Degree:
		set = 1 << e.A
	case Adjacent, EdgeLabel:
		set = 1<<e.A | 1<<e.B
	}
	for _, x := range e.Args {
		set |= x.Vertices()
	}
	return set
}

// Uses reports whether the expression has the operator in it.
func (e *Expr) Uses(op Op) bool {
	if e == nil {
		return false
	}
	for _, x := range e.Args {
		if x.Uses(op) {
			return true
		}
	}
	return e.Op == op
}

// Conjuncts are the expressions that must all hold for e to hold; none for nil.
func (e *Expr) Conjuncts() []*Expr {
	if e == nil {
		return nil
	}
	if e.Op != And {
		return []*Expr{e}
	}
	var all []*Expr
	for _, x := range e.Args {
		all = append(all, x.Conjuncts()...)
	}
	return all
}

// Relabel returns e with vertex i called to[i].
func (e *Expr) Relabel(to Perm) *Expr {
	if e == nil {
		return nil
	}
	r := *e
	switch e.Op {
	case Adjacent, EdgeLabel:
		r.A, r.B = int(to[e.A]), int(to[e.B])
	case Vertex, Label, Degree:
		r.A = int(to[e.A])
	}
	r.Args = make([]*Expr, len(e.Args))
	for i, x := range e.Args {
		r.Args[i] = x.Relabel(to)
	}
	return &r
}

// Eval is the value of e for one match, 0 and 1 for truth values.
func (e *Expr) Eval(m Values) int64 {
	switch e.Op {
	case Const:
		return e.Value
	case Vertex:
		return m.Vertex(e.A)
	case Label:
		return m.Label(e.A)
	case Degree:
		return m.Degree(e.A)
	case EdgeLabel:
		return m.EdgeLabel(e.A, e.B)
	case Plus:
		return e.Args[0].Eval(m) + e.Args[1].Eval(m)
	case Minus:
		return e.Args[0].Eval(m) - e.Args[1].Eval(m)
	case Adjacent:
		return bit(m.Adjacent(e.A, e.B))
	case Eq:
		return bit(e.Args[0].Eval(m) == e.Args[1].Eval(m))
	case LessThan:
		return bit(e.Args[0].Eval(m) < e.Args[1].Eval(m))
	case Not:
		return 1 - e.Args[0].Eval(m)
	}
	for _, x := range e.Args { // And, Or
		if v := x.Eval(m); v == bit(e.Op == Or) {
			return v
		}
	}
	return bit(e.Op == And)
}

// Values are the numbers of a match that Eval needs, by pattern vertex.
type Values interface {
	Vertex(i int) int64
	Label(i int) int64
	Degree(i int) int64
	EdgeLabel(i, j int) int64
	Adjacent(i, j int) bool
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// String is the expression as text, such as "label(0) = label(2) and not adjacent(0, 2)".
func (e *Expr) String() string {
	switch e.Op {
	case Const:
		return strconv.FormatInt(e.Value, 10)
	case Vertex, Label, Degree:
		return fmt.Sprintf("%s(%d)", opNames[e.Op], e.A)
	case Adjacent, EdgeLabel:
		return fmt.Sprintf("%s(%d, %d)", opNames[e.Op], e.A, e.B)
	case Not:
		return "not " + e.Args[0].inner()
	}
	if len(e.Args) == 0 {
		return strconv.FormatBool(e.Op == And)
	}
	parts := make([]string, len(e.Args))
	for i, x := range e.Args {
		parts[i] = x.inner()
	}
	return strings.Join(parts, opNames[e.Op])
}

// inner is String for an expression inside another one: in parentheses if it needs them.
func (e *Expr) inner() string {
	if (e.Op == Plus || e.Op == Minus || e.Op >= Eq) && (e.Op == Not || len(e.Args) > 0) {
		return "(" + e.String() + ")"
	}
	return e.String()
}

// Check says whether the expression fits a pattern of n vertices: it is a truth value
// whose operators have arguments of their kind and number. Expressions that package
// mine traces always do; others may come from elsewhere.
func (e *Expr) Check(n int) error {
	if e == nil {
		return nil
	}
	if !e.Truth() {
		return fmt.Errorf("the condition %s is a number, not true or false", e)
	}
	return e.check(n)
}

func (e *Expr) check(n int) error {
	if set := e.Vertices(); set>>n != 0 {
		return fmt.Errorf("the condition names pattern vertex %d; the pattern has 0 to %d", bits.Len8(set)-1, n-1)
	}
	args, truth := 2, e.Op > LessThan
	switch {
	case e.Op > Not:
		return fmt.Errorf("operator %d is not known", e.Op)
	case e.Op < Plus || e.Op == Adjacent:
		args = 0
	case e.Op == Not:
		args = 1
	case e.Op == And || e.Op == Or:
		args = len(e.Args)
	}
	if len(e.Args) != args {
		return fmt.Errorf("operator %d has %d arguments, not %d", e.Op, len(e.Args), args)
	}
	for _, x := range e.Args {
		if x.Truth() != truth {
			return fmt.Errorf("%s has the wrong kind of value: operators take either numbers or truth values", x)
		}
		if err := x.check(n); err != nil {
			return err
		}
	}
	return nil
}
