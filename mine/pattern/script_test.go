package pattern

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sagann/internal/golden"
)

// The scripts print what is known of a pattern, which stands on the lines below the
// command:
//
//	parse             the pattern's text, its name and Check, or the error
//	canonical         the canonical form
//	group [where=W]   the group in cycle notation; W is one of the conditions below
//	break base=(…)    the order constraints
//	motifs k=N        all patterns of N vertices
//	formula [induced]
func TestScripts(t *testing.T) {
	golden.Walk(t, "testdata", ".txt", func(t *testing.T, path string) {
		golden.Run(t, path, func(t *testing.T, cmd *golden.Cmd) string {
			if cmd.Name == "motifs" {
				return motifs(t, cmd)
			}
			p, err := Parse(cmd.Input)
			if err != nil {
				return err.Error()
			}
			where := conditions[cmd.String(t, "where", "")]
			switch cmd.Name {
			case "parse":
				return strings.TrimSpace(p.String() + "\n" + p.Name())
			case "canonical":
				return p.Canonical().String()
			case "group":
				var out []string
				for _, s := range p.Group(where) {
					out = append(out, s.Cycles(p.n))
				}
				return strings.Join(out, "\n")
			case "break":
				var base []int
				for _, v := range cmd.Vals("base") {
					n, _ := strconv.Atoi(v)
					base = append(base, n)
				}
				var out []string
				for _, l := range Break(p.Group(where), base) {
					out = append(out, fmt.Sprintf("%d<%d", l.A, l.B))
				}
				return strings.Join(out, " ")
			case "formula":
				if cmd.Has("induced") {
					p = p.Induced()
				}
				f, ok := p.Formula()
				if !ok {
					return "none"
				}
				return f.String()
			}
			t.Fatalf("%s: unknown command", cmd.Pos)
			return ""
		})
	})
}

func motifs(t *testing.T, cmd *golden.Cmd) string {
	all, err := Motifs(cmd.Int(t, "k", 0))
	if err != nil {
		return err.Error()
	}
	if cmd.Has("number") {
		return fmt.Sprint(len(all))
	}
	var out []string
	for _, p := range all {
		out = append(out, strings.TrimSpace(p.String()+"  "+p.Name()))
	}
	return strings.Join(out, "\n")
}

func op(o Op, a, b int, args ...*Expr) *Expr { return &Expr{Op: o, A: a, B: b, Args: args} }

// conditions by name.
var conditions = map[string]*Expr{
	"same-label": op(Eq, 0, 0, op(Label, 0, 0), op(Label, 1, 0)),
	"degree":     op(LessThan, 0, 0, op(Degree, 0, 0), op(Degree, 1, 0)),
	"sum": op(Eq, 0, 0, &Expr{Op: Const, Value: 7},
		op(Plus, 0, 0, op(Label, 0, 0), op(Plus, 0, 0, op(Label, 1, 0), op(Label, 2, 0)))),
	"apart": op(Not, 0, 0, op(Adjacent, 2, 0)),
	"both":  op(And, 0, 0, op(Adjacent, 0, 2), op(Not, 0, 0, op(Not, 0, 0, op(Adjacent, 2, 0)))),
}
