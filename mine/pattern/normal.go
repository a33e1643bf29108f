package pattern

import (
	"fmt"
	"slices"
	"strings"
)

// Normal is a text that two expressions share if they differ by no more than: the order
// of the arguments of and, or, = and +; nested and, or and + instead of one; an argument
// of and or or that stands twice; double negation; the order of the two vertices of
// adjacent. Expressions whose equality needs more than that, such as a < b or b < a
// against not a = b, have different texts.
//
// Each of these rules holds whatever the vertices are called, so renumbering keeps
// equality. That is what makes Group a group.
func (e *Expr) Normal() string {
	switch e.Op {
	case Const, Vertex, Label, Degree:
		return e.String()
	case Adjacent:
		return fmt.Sprintf("adjacent(%d,%d)", min(e.A, e.B), max(e.A, e.B))
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

// flat are the normal forms of the arguments; those of and, or and + that stand directly
// inside the same operator, also behind two negations, are taken up into it.
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
