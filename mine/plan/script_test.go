package plan

import (
	"strconv"
	"testing"

	"sagann/internal/golden"
	"sagann/mine/pattern"
)

// The scripts print plans of the pattern below the command:
//
//	plan order=(…) [descending] [list] [where=W]
//	listing [where=W]     the plan that lists
//	choose [close=C]      the orders that would be sampled, for a graph of 1000
//	                      vertices, mean degree 50 at the ends of edges
func TestScripts(t *testing.T) {
	golden.Walk(t, "testdata", ".txt", func(t *testing.T, path string) {
		golden.Run(t, path, func(t *testing.T, cmd *golden.Cmd) string {
			p, err := pattern.Parse(cmd.Input)
			if err != nil {
				return err.Error()
			}
			if cmd.Has("induced") {
				p = p.Induced()
			}
			where := conditions[cmd.String(t, "where", "")]
			var pl *Plan
			switch cmd.Name {
			case "plan":
				var order []int
				for _, v := range cmd.Vals("order") {
					n, _ := strconv.Atoi(v)
					order = append(order, n)
				}
				pl, err = New(p, where, order, Options{Descending: cmd.Has("descending"), List: cmd.Has("list")})
			case "listing":
				pl, err = Listing(p, where)
			case "choose":
				out := ""
				for _, o := range orders(p, where, Stats{Vertices: 1000, Degree: 50, Close: cmd.Float(t, "close", 0.1)}) {
					for _, v := range o {
						out += strconv.Itoa(v) + " "
					}
					out = out[:len(out)-1] + "\n"
				}
				return out
			default:
				t.Fatalf("%s: unknown command", cmd.Pos)
			}
			if err != nil {
				return err.Error()
			}
			return pl.String()
		})
	})
}

func op(o pattern.Op, a, b int, args ...*pattern.Expr) *pattern.Expr {
	return &pattern.Expr{Op: o, A: a, B: b, Args: args}
}

func label(v int) *pattern.Expr  { return op(pattern.Label, v, 0) }
func vertex(v int) *pattern.Expr { return op(pattern.Vertex, v, 0) }

// conditions by name.
var conditions = map[string]*pattern.Expr{
	"labels":   op(pattern.And, 0, 0, op(pattern.Eq, 0, 0, label(0), label(1)), op(pattern.LessThan, 0, 0, label(1), label(2))),
	"adjacent": op(pattern.Adjacent, 0, 2),
	"apart":    op(pattern.Not, 0, 0, op(pattern.Adjacent, 0, 2)),
	"vertices": op(pattern.LessThan, 0, 0, vertex(0), vertex(2)),
}
