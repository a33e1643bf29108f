package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"sagann/dataflow/plan"
)

// typed is two layers over authors (type 0) and papers (type 1): papers sum authors and papers, authors sum papers, then papers sum both, and
// back. As dataflow lowers it, a phase has the steps of both types.
func typed() *plan.Spec {
	s := &plan.Spec{}
	value := map[string]int{}
	kind := func(kind plan.ValueKind, t uint16, names ...string) {
		for _, n := range names {
			value[n] = len(s.Values)
			s.Values = append(s.Values, plan.Value{Name: n, Kind: kind, Type: t, RowBytes: 16})
		}
	}
	kind(plan.Input, 0, "xa")
	kind(plan.Input, 1, "xp")
	kind(plan.Stored, 0, "a", "ha", "ga")
	kind(plan.Stored, 1, "p", "q", "hp", "gp", "y")
	kind(plan.Temp, 0, "ta")
	kind(plan.Temp, 1, "tp")
	s.Globals = []plan.Global{{Name: "w", Kind: plan.Param}, {Name: "ww", Kind: plan.Made}, {Name: "gw", Kind: plan.Sum}}
	call := func(list ...string) plan.Call {
		c, write := plan.Call{}, false
		for _, n := range list {
			switch {
			case n == "->":
				write = true
			case n == "w" || n == "ww" || n == "gw":
				c.Operands = append(c.Operands, plan.Operand{Kind: plan.GlobalRef, ID: map[string]int{"w": 0, "ww": 1, "gw": 2}[n], Write: write})
			case n[0] == '@':
				c.Operands = append(c.Operands, plan.Operand{Kind: plan.OtherValue, ID: value[n[1:]]})
			default:
				c.Operands = append(c.Operands, plan.Operand{Kind: plan.OwnValue, ID: value[n], Write: write})
			}
		}
		return c
	}
	step := func(label string, k plan.StepKind, t uint16, list ...string) plan.Step {
		return plan.Step{Label: label, Kind: k, Type: t, Calls: []plan.Call{call(list...)}}
	}
	phase := func(steps ...plan.Step) { s.Phases = append(s.Phases, plan.Phase{Steps: steps}) }
	phase(step("globals", plan.Globals, 0, "w", "->", "ww"), step("a", plan.Rows, 0, "xa", "->", "a"), step("pq", plan.Rows, 1, "xp", "->", "p", "q"))
	phase(step("sum a", plan.Stream, 0, "@q", "->", "ta"), step("ha", plan.Rows, 0, "ta", "xa", "ww", "->", "ha"),
		step("sum p", plan.Stream, 1, "@a", "@p", "->", "tp"), step("hp", plan.Rows, 1, "tp", "xp", "ww", "->", "hp"))
	phase(step("y", plan.Stream, 1, "@ha", "@hp", "->", "y"))
	phase(step("back a", plan.Stream, 0, "@y", "ha", "->", "ga"), step("back p", plan.Stream, 1, "@y", "hp", "->", "gp"))
	phase(step("grad a", plan.Stream, 0, "@gp", "ga", "xa", "->", "gw"), step("grad p", plan.Stream, 1, "@ga", "@gp", "xp", "->", "gw"))
	return s
}

// TestByType: what is made of inputs comes right before it is read, and what reads the same rows of a type is one phase, where nothing reads at
// the far end what it writes. Features of authors come once forward and once backward.
func TestByType(t *testing.T) {
	s := typed()
	o := plan.Options{}
	got, err := o.Prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, ph := range got.Phases {
		var steps []string
		for _, st := range ph.Steps {
			steps = append(steps, st.Label)
		}
		order = append(order, fmt.Sprint(steps))
	}
	want := []string{"[globals]", "[pq]", "[sum a ha a]", "[sum p hp]", "[y]", "[back p]", "[back a grad a]", "[grad p]"}
	if !slices.Equal(order, want) {
		t.Errorf("phases %v, want %v", order, want)
	}
	one := &plan.Spec{Values: s.Values, Globals: s.Globals, Phases: s.Phases[2:3]}
	if got, err := o.Prepare(one); err != nil || got != one {
		t.Errorf("phases of one type became others: %v", err)
	}
}
