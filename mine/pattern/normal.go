package pattern

import (
	"fmt"
	"slices"
	"strings"
)

// Normal is a normal form, as text. Two expressions have the same one if they differ only in:
//   - the order of the arguments of "and", "or", "=" and "+";
//   - nesting of "and", "or" and "+";
//   - repeated arguments of "and" and "or";
//   - double negation;
//   - the order of the two vertices of adjacent and edgelabel.
//
// Expressions that are equal for other reasons have different normal forms, such as "a < b or b < a"
// and "not a = b".
//
// Each of these rules holds whatever the vertices are called, so renumbering keeps
// equality. That is what makes Group a group.
func (e *Expr) Normal() string {
	switch e.Op {
	case Const, Vertex, Label, Degree:
		return e.String()
	case Adjacent, EdgeLabel:
		return fmt.Sprintf("%s(%d,%d)", opNames[e.Op], min(e.A, e.B), max(e.A, e.B))
	case Not:
		if inner := e.Args[0]; inner.Op == Not {
			return inner.Args[0].Normal()
		}
		return "not(" + e.Args[0].Normal() + ")"
	}
	parts := e.flat(nil)
	switch e.Op {
	case And, Or:
		slices.Sort(parts)
		parts = slices.Compact(parts)
		if len(parts) == 1 {
			return parts[0]
		}
	case Eq, Plus:
		slices.Sort(parts)
	}
	return fmt.Sprintf("%d(%s)", e.Op, strings.Join(parts, ","))
}

// flat are the normal forms of the arguments of e. An argument with the same operator as e, if it is
// and, or or +, is replaced by its own arguments, also behind a double negation.
func (e *Expr) flat(parts []string) []string {
	for _, x := range e.Args {
		for x.Op == Not && x.Args[0].Op == Not {
			x = x.Args[0].Args[0]
		}
		if x.Op == e.Op && (e.Op == And || e.Op == Or || e.Op == Plus) {
			parts = x.flat(parts)
		} else {
			parts = append(parts, x.Normal())
		}
	}
	return parts
}
