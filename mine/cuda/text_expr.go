package cuda

import (
	"fmt"
	"strings"

	"sagann/mine/pattern"
)

// exprText renders an expression. place is the texts of the vertex at a place, and of its Row. Kernels have label and id, which may be 0, and for labels of
// edges off and kind.
func exprText(e *pattern.Expr, place func(i int) (v, row string)) string {
	args := func(op, none string) string {
		if len(e.Args) == 0 {
			return none
		}
		var all []string
		for _, x := range e.Args {
			all = append(all, exprText(x, place))
		}
		return "(" + strings.Join(all, op) + ")"
	}
	switch e.Op {
	case pattern.Const:
		return fmt.Sprintf("(long long)%dull", uint64(e.Value))
	case pattern.Vertex:
		v, _ := place(e.A)
		return fmt.Sprintf("(long long)(id ? id[%s] : %s)", v, v)
	case pattern.Label:
		v, _ := place(e.A)
		return fmt.Sprintf("(long long)(label ? label[%s] : -1)", v)
	case pattern.Degree:
		_, row := place(e.A)
		return fmt.Sprintf("(long long)%s.degree", row)
	case pattern.EdgeLabel:
		v, _ := place(e.A)
		w, _ := place(e.B)
		return fmt.Sprintf("kind_of(rows, off, kind, %s, %s)", v, w)
	case pattern.Plus, pattern.Minus:
		sign := map[pattern.Op]string{pattern.Plus: "+", pattern.Minus: "-"}[e.Op]
		return fmt.Sprintf("(long long)((u64)%s %s (u64)%s)", exprText(e.Args[0], place), sign, exprText(e.Args[1], place))
	case pattern.Adjacent:
		if e.A == e.B {
			return "false"
		}
		v, row := place(e.A)
		w, other := place(e.B)
		return fmt.Sprintf("adjacent(%s, %s, %s, %s)", row, v, other, w)
	case pattern.Eq:
		return args(" == ", "true")
	case pattern.LessThan:
		return args(" < ", "true")
	case pattern.And:
		return args(" && ", "true")
	case pattern.Or:
		return args(" || ", "false")
	}
	return "!" + exprText(e.Args[0], place)
}
