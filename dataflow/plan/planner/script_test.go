package planner_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
	"sagann/internal/golden"
)

// The scripts plan small programs and print the plan. A program is a line a
// declaration and a line a step:
//
//	input x 16        values by kind and columns: input, stored, temp; "out" behind it
//	param w 4 4       matrices by kind: param, const, sum, made
//	edges m 4         an edge buffer
//	phase             steps follow
//	rows x w -> h     a call over the rows of an interval: what it reads, what it writes
//	csc h @x -> a     over the cells of an interval; @x is the row at the far end
//	globals w -> g    over matrices
//
// plan p=N v=N (needs=N: rows of the far interval that a cell reads) prints memory, tasks, places in host memory or bytes ("show"); smallest prints the smallest
// budget. windows allows them, first=whole, windows or slots says what memory is given to first.
func TestScripts(t *testing.T) {
	golden.Walk(t, "testdata", ".txt", func(t *testing.T, path string) {
		var s *plan.Spec
		golden.Run(t, path, func(t *testing.T, cmd *golden.Cmd) string {
			if cmd.Input != "" {
				s = parseSpec(t, cmd.Lines())
			}
			c := plantest.FullCells(cmd.Int(t, "v", 12), cmd.Int(t, "p", 3), int64(cmd.Int(t, "edges", 10)), int64(cmd.Int(t, "needs", 0)))
			o := plan.Options{P: c.P, Slots: cmd.Int(t, "slots", 0), Group: cmd.Int(t, "group", 0), Budget: int64(cmd.Int(t, "budget", 0)),
				Schedule: cmd.String(t, "schedule", ""), Stream: cmd.Has("stream"), Serial: cmd.Has("serial"), Straight: cmd.Has("straight"), Diagonal: cmd.Has("diagonal"), Whole: cmd.Has("whole"),
				Windows: cmd.Has("windows")}
			rule := plan.Rule{First: map[string]plan.First{"whole": plan.WholeFirst, "windows": plan.WindowsFirst, "slots": plan.SlotsFirst}[cmd.String(t, "first", "whole")]}
			switch cmd.Name {
			case "plan":
				p, err := planner.NewDecoder(nil).New(s, plantest.Always(c), o, rule)
				if err != nil {
					return err.Error()
				}
				if err := plantest.Check(p, nil); err != nil {
					t.Errorf("%s: %v", cmd.Pos, err)
				}
				return show(p, cmd.String(t, "show", "all"))
			case "smallest":
				o.Budget = 1
				_, err := planner.New(s, plantest.Always(c), o)
				var small *plan.BudgetError
				if !errors.As(err, &small) {
					t.Fatalf("%s: %v", cmd.Pos, err)
				}
				return fmt.Sprint(small.Smallest)
			}
			t.Fatalf("%s: unknown command", cmd.Pos)
			return ""
		})
	})
}

func parseSpec(t *testing.T, lines []string) *plan.Spec {
	s := &plan.Spec{}
	names := map[string]plan.Operand{}
	kernels := 0
	for _, line := range lines {
		f := strings.Fields(line)
		num := func(i int) int {
			n, err := strconv.Atoi(f[i])
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			return n
		}
		kind := map[string]int{"input": int(plan.Input), "stored": int(plan.Stored), "temp": int(plan.Temp),
			"param": int(plan.Param), "const": int(plan.Const), "sum": int(plan.Sum), "made": int(plan.Made),
			"rows": int(plan.Rows), "csc": int(plan.CSC), "csr": int(plan.CSR), "globals": int(plan.Globals)}[f[0]]
		switch f[0] {
		case "input", "stored", "temp":
			names[f[1]] = plan.Operand{Kind: plan.OwnValue, ID: len(s.Values)}
			s.Values = append(s.Values, plan.Value{Name: f[1], Kind: plan.ValueKind(kind), Cols: num(2), RowBytes: int64(4 * num(2)), Output: len(f) > 3})
		case "param", "const", "sum", "made":
			names[f[1]] = plan.Operand{Kind: plan.GlobalRef, ID: len(s.Globals)}
			s.Globals = append(s.Globals, plan.Global{Name: f[1], Kind: plan.GlobalKind(kind), Rows: num(2), Cols: num(3)})
			if f[0] == "sum" {
				s.Results = append(s.Results, len(s.Globals)-1)
			}
		case "edges":
			names[f[1]] = plan.Operand{Kind: plan.EdgeTemp, ID: len(s.EdgeTemps)}
			s.EdgeTemps = append(s.EdgeTemps, int64(4*num(2)))
		case "phase":
			s.Phases = append(s.Phases, plan.Phase{})
		default:
			c := plan.Call{Kernel: kernels}
			kernels++
			write := false
			for _, a := range f[1:] {
				if a == "->" {
					write = true
					continue
				}
				o, ok := names[strings.TrimPrefix(a, "@")]
				if !ok {
					t.Fatalf("%q: unknown operand %s", line, a)
				}
				if strings.HasPrefix(a, "@") {
					o.Kind = plan.OtherValue
				}
				o.Write = write
				c.Operands = append(c.Operands, o)
			}
			st := plan.Step{Kind: plan.Stream, Dir: plan.Dir(kind), Calls: []plan.Call{c}, Label: f[0]}
			if f[0] == "rows" || f[0] == "globals" {
				st.Kind, st.Dir = plan.StepKind(kind), 0
			}
			ph := &s.Phases[len(s.Phases)-1]
			ph.Steps = append(ph.Steps, st)
		}
	}
	return s
}

func show(p *plan.Plan, what string) string {
	var b strings.Builder
	if what == "all" || what == "memory" {
		for _, m := range p.Places.Memory {
			when := "always"
			if m.From >= 0 {
				when = fmt.Sprintf("phase %d", m.From)
			}
			if m.To > m.From {
				when = fmt.Sprintf("phases %d to %d", m.From, m.To)
			}
			fmt.Fprintf(&b, "%6d %6d %s, %s\n", m.At, m.Bytes, m.Name, when)
		}
	}
	if what == "all" || what == "tasks" {
		for i, t := range p.Tasks {
			fmt.Fprintf(&b, "%3d %-7s %s", i, t.Queue, p.DescribeTask(&p.Tasks[i]))
			switch {
			case t.Kind == plan.Load || t.Kind == plan.Save:
				fmt.Fprintf(&b, " at %d", t.Addr)
			case t.Is.First && t.Is.Last:
				b.WriteString(" first last")
			case t.Is.First:
				b.WriteString(" first")
			case t.Is.Last:
				b.WriteString(" last")
			}
			if deps := p.Deps[t.Deps[0]:t.Deps[1]]; len(deps) > 0 {
				fmt.Fprintf(&b, " after %s", strings.Trim(fmt.Sprint(deps), "[]"))
			}
			b.WriteByte('\n')
		}
	}
	for id, v := range p.Spec.Values {
		if what == "host" && v.Kind == plan.Stored && p.OnHost(id) {
			fmt.Fprintf(&b, "%6d %s", p.HostBytesOf(id), v.Name)
			for _, k := range p.HostSharers(id)[1:] {
				fmt.Fprintf(&b, ", then %s", p.Spec.Values[k].Name)
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "peak %d, %d slots; h2d %d, d2h %d a step; %d once\n", p.Peak, p.Slots, p.H2D, p.D2H, p.Once)
	return b.String()
}
